// The operator of a project that also uses client-node: its client comes from a KubeConfig, and its pods from models.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { AppsV1Api, KubeConfig } from '@kubernetes/client-node';
import { V1Container, V1PodSpec, V1ServicePort, V1ServiceSpec } from '@kubernetes/client-node';
import { clientFromKubeConfig, ConfigMap, Deployment, Operator, Service } from 'operator-builder';
import { EmbeddedCluster } from 'operator-builder/apiserver';
import { eventually } from 'operator-builder/testing';

const image = 'registry.example/web:1';
const container: V1Container = Object.assign(new V1Container(), { name: 'web', image });
const podSpec: V1PodSpec = Object.assign(new V1PodSpec(), { containers: [container] });
const port: V1ServicePort = Object.assign(new V1ServicePort(), { port: 80 });
const serviceSpec: V1ServiceSpec = Object.assign(new V1ServiceSpec(), { ports: [port] });

async function reconcileOnce(): Promise<void> {
  const cluster = await EmbeddedCluster.start({ port: 0, tls: true });
  const config = new KubeConfig();
  config.loadFromString(cluster.kubeConfig());
  const client = await clientFromKubeConfig({ text: config.exportConfig() });
  const api = config.makeApiClient(AppsV1Api);

  const operator = new Operator('web');
  operator
    .for(ConfigMap)
    .owns(Service, Deployment)
    .builds(({ builder }) =>
      builder.service({ name: 'web', spec: serviceSpec }).deployment({ name: 'web', podSpec }),
    );
  const stop = new AbortController();
  const running = operator.run({ client, signal: stop.signal });
  const metadata = { name: 'settings', namespace: 'default' };
  await client.create<ConfigMap>({ apiVersion: 'v1', kind: 'ConfigMap', metadata });
  await eventually(async () => {
    const { spec } = await api.readNamespacedDeployment({ name: 'web', namespace: 'default' });
    assert.equal(spec?.template.spec?.containers[0]?.image, image);
  });
  stop.abort();
  await running;
  await client.close();
  await cluster.stop();
}

/** Authenticates by OIDC, for which the package loads client-node. */
async function authenticateByOidc(): Promise<void> {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const token = [part({}), part({ exp: 4_000_000_000 }), 'signature'].join('.');
  const received: (string | undefined)[] = [];
  const server = createServer(({ headers }, response) => {
    received.push(headers.authorization);
    response.setHeader('content-type', 'application/json').end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const config = new KubeConfig();
  config.loadFromClusterAndUser(
    { name: 'web', server: `http://127.0.0.1:${port}`, skipTLSVerify: false },
    { name: 'web', authProvider: { name: 'oidc', config: { 'id-token': token } } },
  );
  const client = await clientFromKubeConfig({ text: config.exportConfig() });
  await client.get(ConfigMap, { name: 'settings', namespace: 'default' });
  assert.deepEqual(received, [`Bearer ${token}`]);
  await client.close();
  server.close();
}

await reconcileOnce();
await authenticateByOidc();
console.log('an operator reconciles with a KubeConfig and models of client-node');
