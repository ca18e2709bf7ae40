import { rowOf } from './bench-result.js';
import type { BenchResult } from './bench-result.js';
import { startMeasuredServer } from './api-server-process.js';
import { startLineProcess } from './line-process.js';
import { flag } from './sides.js';

const rounds = 5;

/**
 * The CPU time of a reconcile that has nothing to do, by the number of owners with four objects each and
 * by the number of objects of one owner. `--no-op=100x4,1x800`: owners and objects of each.
 */
export async function benchNoOp(): Promise<readonly BenchResult[]> {
  const sizes = (flag('no-op') ?? '100x4,1000x4,10000x4,10x100,10x800').split(',');
  const results: BenchResult[] = [];
  for (const size of sizes) {
    const [owners = '', objects = ''] = size.split('x');
    const server = await startMeasuredServer();
    const env = { BENCH_KUBECONFIG: server.kubeConfig };
    const worker = startLineProcess('no-op-worker.ts', [owners, objects], env);
    try {
      const measured: number[] = [];
      for (let round = 0; round < rounds; round++) {
        measured.push((await worker.next<{ readonly cpuMs: number }>()).cpuMs);
      }
      results.push({
        name: `no-op reconcile, ${objects} objects, ${owners} owners`,
        unit: 'ms of CPU',
        rows: [rowOf('operator-builder', measured)],
      });
    } finally {
      await worker.end();
      server.stop();
    }
  }
  return results;
}
