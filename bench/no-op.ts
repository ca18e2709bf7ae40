import { rowOf } from './bench-result.js';
import type { BenchResult } from './bench-result.js';
import { startMeasuredServer } from './api-server-process.js';
import { startLineProcess } from './line-process.js';
import { flag } from './sides.js';

const rounds = 5;

/**
 * Measures the CPU time of a reconcile without changes, for several numbers of owners and of objects per owner.
 * Option: `--no-op=100x4,1x800`, each size as owners x objects per owner.
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
