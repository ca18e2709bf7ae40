import { once } from 'node:events';
import { connect } from 'node:tls';
import { expect } from 'chai';
import { defineResource, s } from '../../../lib/crd/index.js';
import { EmbeddedCluster } from '../../../lib/apiserver/index.js';
import {
  allowed,
  conversionWebhook,
  denied,
  mutated,
  mutatingWebhook,
  validatingWebhook,
} from '../../../lib/manager/webhooks/index.js';
import {
  conversionClientConfig,
  serveLocalWebhooks,
  webhookConfigurations,
} from '../../../lib/manager/webhooks/webhook-configurations.js';
import { ConfigMap, CustomResourceDefinition } from '../../../lib/object/kinds.js';
import type { UnstructuredObject } from '../../../lib/object/kubernetes-object.js';

const text = s.object({ spec: s.object({ title: s.string() }) });
const older = s.object({ spec: s.object({ name: s.string() }) });
const Shop = defineResource({
  ...{ group: 'shops.example', kind: 'Shop' },
  versions: [
    { name: 'v1', storage: true, schema: text },
    { name: 'v1alpha1', schema: older },
  ],
  conversion: {
    hub: 'v1',
    spokes: {
      v1alpha1: {
        toHub: ({ spec: { name }, ...object }) => ({ ...object, spec: { title: name } }),
        fromHub: ({ spec: { title }, ...object }) => ({ ...object, spec: { name: title } }),
      },
    },
  },
});

const key = { name: 'a', namespace: 'default' };
const configMap = (data: Record<string, string>): ConfigMap => ({
  ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: key, data },
});

describe('serveLocalWebhooks', () => {
  let cluster: EmbeddedCluster;

  beforeEach(async () => {
    cluster = await EmbeddedCluster.start({ crds: [Shop] });
  });
  afterEach(() => cluster.stop());

  it('refuses an unknown option', async () => {
    const webhook = validatingWebhook(ConfigMap, () => allowed());
    const error = await serveLocalWebhooks(cluster.client(), [webhook], {
      names: 'a',
    } as never).catch((thrown: unknown) => thrown);
    expect(error)
      .to.have.property('message')
      .that.includes('serveLocalWebhooks: unknown option "names"');
  });

  it('registers webhooks of all types with an API server until it is stopped', async () => {
    const client = cluster.client();
    const served = await serveLocalWebhooks(client, [
      mutatingWebhook(ConfigMap, ({ object }) =>
        object === undefined
          ? allowed()
          : mutated({ ...object, data: { size: 'S', ...object.data } }),
      ),
      validatingWebhook(ConfigMap, ({ object }) =>
        object?.data?.['size'] === 'XXL' ? denied('sold out') : allowed(),
      ),
      conversionWebhook(Shop),
    ]);
    expect(served.url).to.match(/^https:\/\/127\.0\.0\.1:\d+$/);
    const refused: unknown = await client
      .create(configMap({ size: 'XXL' }))
      .catch((error: unknown) => error);
    expect(refused).to.be.an('error').with.property('message').that.includes('sold out');
    expect((await client.create(configMap({}))).data).to.deep.equal({ size: 'S' });
    await client.create(Shop.object({ metadata: key, spec: { title: 'pots' } }));
    const type = { apiVersion: 'shops.example/v1alpha1', kind: 'Shop' };
    const read = await client.get<UnstructuredObject>(type, key);
    expect(read['spec']).to.deep.equal({ name: 'pots' });
    const { spec } = await client.get(CustomResourceDefinition, { name: 'shops.shops.example' });
    const { strategy, webhook } = spec.conversion ?? {};
    expect([strategy, webhook?.conversionReviewVersions]).to.deep.equal(['Webhook', ['v1']]);
    await served.stop();
    const failed: unknown = await client
      .update(configMap({ size: 'M' }))
      .catch((error: unknown) => error);
    expect(failed).to.be.an('error').with.property('message').that.includes('failed calling');
  });

  it('serves a certificate that is valid from one day ago, for clocks that are behind, and for a year', async () => {
    const webhooks = [validatingWebhook(ConfigMap, () => allowed())];
    const served = await serveLocalWebhooks(cluster.client(), webhooks);
    const { hostname: host, port } = new URL(served.url);
    const socket = connect({ host, port: Number(port), rejectUnauthorized: false });
    await once(socket, 'secureConnect');
    const { valid_from: from, valid_to: until } = socket.getPeerCertificate();
    socket.destroy();
    await served.stop();
    const dayMs = 86_400_000;
    const days = (time: string): number => (Date.parse(time) - Date.now()) / dayMs;
    expect([days(from), days(until)].map((each) => Math.round(each * 100) / 100)).to.deep.equal([
      -1, 365,
    ]);
  });

  it('writes its webhook configurations under its own name, and replaces those of an earlier run', async () => {
    const client = cluster.client();
    const webhooks = [
      mutatingWebhook(ConfigMap, () => allowed()),
      validatingWebhook(ConfigMap, () => allowed()),
    ];
    const registered = async (name: string) => {
      const kinds = ['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration'];
      const read = kinds.map((kind) => {
        const type = { apiVersion: 'admissionregistration.k8s.io/v1', kind };
        return client.get<UnstructuredObject>(type, { name });
      });
      return (await Promise.all(read)).map(({ metadata, webhooks: entries }) => ({
        managers: metadata.managedFields?.map(({ manager }) => manager),
        urls: (entries as { clientConfig: { url: string } }[]).map(
          ({ clientConfig }) => new URL(clientConfig.url).origin,
        ),
      }));
    };
    for (const [options, name] of [
      [{}, 'local-webhooks'],
      [{}, 'local-webhooks'],
      [{ name: 'mine' }, 'mine'],
    ] as const) {
      const served = await serveLocalWebhooks(client, webhooks, options);
      const expected = { managers: [name], urls: [served.url] };
      expect(await registered(name)).to.deep.equal([expected, expected]);
      await served.stop();
    }
  });

  it('redirects the webhooks and the conversion of a deployed operator to itself', async () => {
    const client = cluster.client();
    const webhooks = [
      mutatingWebhook(ConfigMap, () => allowed()),
      validatingWebhook(ConfigMap, () => allowed()),
      conversionWebhook(Shop),
    ];
    const address = { service: { namespace: 'shops', name: 'webhooks' } };
    const name = 'shop-operator';
    for (const deployed of webhookConfigurations(webhooks, { name, address })) {
      const object = deployed as unknown as UnstructuredObject;
      await client.apply(object, { fieldManager: 'kubectl' });
    }
    const crd = Shop.crdWithWebhook(conversionClientConfig({ address }));
    await client.apply(crd, { fieldManager: 'kubectl', force: true });
    const served = await serveLocalWebhooks(client, webhooks, { name });
    await client.create(configMap({}));
    await client.create(Shop.object({ metadata: key, spec: { title: 'pots' } }));
    const type = { apiVersion: 'shops.example/v1alpha1', kind: 'Shop' };
    const read = await client.get<UnstructuredObject>(type, key);
    expect(read['spec']).to.deep.equal({ name: 'pots' });
    await served.stop();
  });

  it('rejects if it cannot register a webhook with the API server', async () => {
    const client = cluster.client();
    const other = { group: 'shops.example', kind: 'Other', plural: 'others', versions: ['v1'] };
    const webhook = conversionWebhook({ ...other, convert: (object) => object });
    const error: unknown = await serveLocalWebhooks(client, [webhook]).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).to.have.property('code', 'ApiError');
    expect(error).to.have.property('message').that.includes('others.shops.example');
  });
});
