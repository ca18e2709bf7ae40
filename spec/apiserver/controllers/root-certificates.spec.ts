import { X509Certificate } from 'node:crypto';
import { expect } from 'chai';
import { EmbeddedCluster } from '../../../lib/apiserver/index.js';
import type { EmbeddedClusterOptions } from '../../../lib/apiserver/index.js';
import { ConfigMap, Namespace } from '../../../lib/object/kinds.js';

const name = 'kube-root-ca.crt';
const key = { name, namespace: 'default' };

describe('the root certificate in each namespace', () => {
  let cluster: EmbeddedCluster;

  const start = async (options: EmbeddedClusterOptions = {}) => {
    cluster = await EmbeddedCluster.start({ simulateWorkloads: true, ...options });
    await cluster.settled();
    return cluster.client();
  };

  afterEach(() => cluster.stop());

  it('is the certificate of the HTTPS server', async () => {
    const client = await start({ tls: true, port: 0 });
    const { data, metadata } = await client.get(ConfigMap, key);
    expect(data).to.deep.equal({ 'ca.crt': cluster.certificateAuthority });
    expect(new X509Certificate(data!['ca.crt']!).ca).to.equal(true);
    expect(metadata.annotations!['kubernetes.io/description']).to.match(/^Contains a CA bundle/);
  });

  it('is a valid certificate without HTTPS as well, and the same in all namespaces', async () => {
    const client = await start();
    await client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } });
    await cluster.settled();
    const { items } = await client.list(ConfigMap);
    const found = items.filter(({ metadata }) => metadata.name === name);
    expect(found.map(({ metadata }) => metadata.namespace)).to.include.members(['default', 'shop']);
    const [text = '', ...others] = new Set(found.map(({ data }) => data!['ca.crt']));
    expect(others).to.be.empty;
    expect(new X509Certificate(text).ca).to.equal(true);
  });

  it('is restored after it was deleted or changed', async () => {
    const client = await start();
    const before = await client.get(ConfigMap, key);
    await client.delete(ConfigMap, key);
    await cluster.settled();
    expect((await client.get(ConfigMap, key)).data).to.deep.equal(before.data);
    const body = { data: { other: 'x' }, metadata: { labels: { kept: 'yes' } } };
    await client.patch(ConfigMap, key, { type: 'merge', body });
    await cluster.settled();
    const { data, metadata } = await client.get(ConfigMap, key);
    expect(data).to.deep.equal(before.data);
    expect(metadata.labels).to.deep.equal({ kept: 'yes' });
  });

  it('disappears with its namespace', async () => {
    const client = await start();
    await client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } });
    await cluster.settled();
    await client.delete(Namespace, { name: 'shop' });
    await cluster.settled();
    const names = (await client.list(Namespace)).items.map(({ metadata }) => metadata.name);
    expect(names).to.not.include('shop');
  });

  for (const options of [
    { controllers: { rootCertificates: false } },
    { simulateWorkloads: false },
  ]) {
    it(`is missing with ${JSON.stringify(options)}`, async () => {
      const client = await start(options);
      expect((await client.list(ConfigMap)).items).to.be.empty;
    });
  }
});
