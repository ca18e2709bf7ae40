import { startControlPlane } from '../spec/cluster/control-plane/index.js';
import type { Client } from '../lib/index.js';
import { startMeasuredServer } from './api-server-process.js';
import { ratioOf, rowOf } from './bench-result.js';
import type { BenchResult } from './bench-result.js';
import { clientFromKubeConfig } from './built.js';
import { EmbeddedCluster } from './built-embedded.js';

const rounds = 5;
const writes = 1_000;
const concurrency = 16;
const sides = [
  'embedded, in the process',
  'embedded, over HTTP',
  'kube-apiserver and etcd',
] as const;

/** Measures creates of ConfigMaps per second on the embedded server and on a real one. */
export async function benchServerWrites(): Promise<BenchResult> {
  const cluster = await EmbeddedCluster.start();
  const server = await startMeasuredServer();
  const controlPlane = await startControlPlane({ unthrottled: true });
  const overHttp = await clientFromKubeConfig({ text: server.kubeConfig });
  const real = await clientFromKubeConfig({ path: controlPlane.kubeConfigPath });
  const clients = [cluster.client(), overHttp, real];
  const measured: number[][] = clients.map(() => []);
  try {
    // The first round is the warm-up.
    for (let round = 0; round <= rounds; round++) {
      for (const [side, client] of clients.entries()) {
        const perSecond = await createdPerSecond(client, `writes-${process.pid}-${round}`);
        if (round > 0) measured[side]?.push(perSecond);
      }
    }
  } finally {
    await Promise.all([overHttp.close(), real.close(), cluster.stop()]);
    server.stop();
    await controlPlane.stop();
  }
  const [, http = [], kube = []] = measured;
  return {
    name: 'creations of ConfigMaps, 16 at a time',
    unit: 'writes/s',
    rows: sides.map((label, side) => rowOf(label, measured[side] ?? [])),
    ratio: ratioOf(`${sides[1]} to ${sides[2]}`, http, kube),
  };
}

async function createdPerSecond(client: Client, namespace: string): Promise<number> {
  await client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < writes) {
      const metadata = { name: `c-${next++}`, namespace };
      const data = { text: 'x'.repeat(400) };
      await client.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data });
    }
  };
  const startMs = performance.now();
  await Promise.all(Array.from({ length: concurrency }, worker));
  return writes / ((performance.now() - startMs) / 1_000);
}
