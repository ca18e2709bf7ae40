import { CoreV1Api, KubeConfig } from '@kubernetes/client-node';
import { clientFromKubeConfig } from '../lib/client/index.js';
import { ConfigMap, Namespace } from '../lib/object/kinds.js';
import { startMeasuredServer } from './api-server-process.js';
import { ratioOf, rowOf } from './bench-result.js';
import type { BenchResult } from './bench-result.js';

const rounds = 9;
const namespace = 'bench-client';
const objects = 500;

/** Requests that both clients send. */
interface Workload {
  readonly label: string;
  /** Requests of one round. */
  readonly requests: number;
  readonly concurrency: number;
  readonly ours: () => Promise<unknown>;
  readonly theirs: () => Promise<unknown>;
}

/**
 * Measures requests per second of our client and of client-node's `CoreV1Api`, in alternating order. Uses
 * the real server of `KUBECONFIG`, or an embedded one if it is not set.
 */
export async function benchClient(): Promise<BenchResult> {
  const server = await startMeasuredServer();
  try {
    return await measure(server);
  } finally {
    server.stop();
  }
}

async function measure({
  kubeConfig: text,
  description,
}: {
  readonly kubeConfig: string;
  readonly description: string;
}): Promise<BenchResult> {
  const client = await clientFromKubeConfig({ text });
  const kubeConfig = new KubeConfig();
  kubeConfig.loadFromString(text);
  const api = kubeConfig.makeApiClient(CoreV1Api);
  await client.apply(
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
    { fieldManager: 'bench' },
  );
  for (let n = 0; n < objects; n++) {
    const metadata = { name: `c-${n}`, namespace };
    const data = { key: 'x'.repeat(1_000) };
    await client.apply(
      { apiVersion: 'v1', kind: 'ConfigMap', metadata, data },
      { fieldManager: 'b' },
    );
  }
  const key = { namespace, name: 'c-7' };
  const get = {
    ours: () => client.get(ConfigMap, key),
    theirs: () => api.readNamespacedConfigMap(key),
  };
  const list = {
    ours: () => client.list(ConfigMap, { namespace }),
    theirs: () => api.listNamespacedConfigMap({ namespace }),
  };
  const results = [
    await compare({ label: 'get, one at a time', requests: 300, concurrency: 1, ...get }),
    await compare({ label: 'get, 16 at a time', requests: 800, concurrency: 16, ...get }),
    await compare({ label: `list of ${objects}`, requests: 20, concurrency: 1, ...list }),
  ];
  await client.delete(Namespace, { name: namespace });
  await client.close();
  const [first] = results;
  return {
    name: `client against ${description}`,
    unit: 'requests/s',
    rows: results.flatMap(({ label, ours, theirs }) => [
      rowOf(`${label}: operator-builder`, ours),
      rowOf(`${label}: client-node`, theirs),
    ]),
    ratio: ratioOf(
      'get, one at a time: operator-builder to client-node',
      first?.ours ?? [],
      first?.theirs ?? [],
    ),
  };
}

async function compare(workload: Workload): Promise<{
  readonly label: string;
  readonly ours: readonly number[];
  readonly theirs: readonly number[];
}> {
  const ours: number[] = [];
  const theirs: number[] = [];
  for (let round = 0; round <= rounds; round++) {
    const measureOurs = async () => void ours.push(await perSecond(workload, workload.ours));
    const measureTheirs = async () => void theirs.push(await perSecond(workload, workload.theirs));
    // The order alternates, so that a change in the machine's speed affects both alike.
    const order = round % 2 === 0 ? [measureOurs, measureTheirs] : [measureTheirs, measureOurs];
    for (const step of order) await step();
  }
  // The first round is the warm-up.
  return { label: workload.label, ours: ours.slice(1), theirs: theirs.slice(1) };
}

async function perSecond(
  { requests, concurrency }: Workload,
  request: () => Promise<unknown>,
): Promise<number> {
  const startMs = performance.now();
  const worker = async (): Promise<void> => {
    for (let n = 0; n < requests / concurrency; n++) await request();
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  return requests / ((performance.now() - startMs) / 1_000);
}
