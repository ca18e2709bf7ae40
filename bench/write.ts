import { ratioOf, rowOf } from './bench-result.js';
import type { BenchResult } from './bench-result.js';
import { startMeasuredServer } from './api-server-process.js';
import { startLineProcess } from './line-process.js';
import { flag } from './sides.js';

const rounds = 5;
const sides = {
  ours: 'operator-builder',
  theirs: 'client-node',
  http: 'undici and JSON alone',
} as const;

/** Measures the CPU time of a server-side apply: by our client, by client-node, and by plain HTTP requests. */
export async function benchApply(): Promise<BenchResult> {
  const applies = flag('applies') ?? '1000';
  const server = await startMeasuredServer();
  const env = { BENCH_KUBECONFIG: server.kubeConfig };
  const workers = Object.keys(sides).map((side) => {
    return { side, worker: startLineProcess('write-worker.ts', [side, applies], env) };
  });
  const measured: Record<string, number[]> = {};
  try {
    for (let round = 0; round < rounds; round++) {
      for (const { side, worker } of workers) {
        worker.send('');
        (measured[side] ??= []).push((await worker.next<{ readonly cpuUs: number }>()).cpuUs);
      }
    }
  } finally {
    for (const { worker } of workers) await worker.end();
    server.stop();
  }
  const { ours = [], http = [] } = measured;
  return {
    name: `server-side apply of a ConfigMap, ${server.description}`,
    unit: 'microseconds of CPU',
    rows: Object.entries(sides).map(([side, label]) => rowOf(label, measured[side] ?? [])),
    ratio: ratioOf(`${sides.ours} to ${sides.http}`, ours, http),
  };
}
