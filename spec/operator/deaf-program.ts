import { ConfigMap, Operator, silentLogger } from '../../lib/index.js';
import { EmbeddedCluster } from '../../lib/apiserver/index.js';

// An operator whose reconcile ignores its signal, and keeps the process alive by a timer.
const cluster = await EmbeddedCluster.start();
const client = cluster.client();
const metadata = { name: 'held', namespace: 'default' };
await client.create<ConfigMap>({ apiVersion: 'v1', kind: 'ConfigMap', metadata });
const operator = new Operator('deaf');
operator.for(ConfigMap).reconciles(async () => {
  setInterval(() => undefined, 60_000);
  process.stdout.write('reconciles\n');
  await new Promise(() => undefined);
});
await operator.main([], { client, gracefulShutdownMs: 0, logger: silentLogger });
