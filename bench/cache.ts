import type { BenchResult } from './bench-result.js';
import { startLineProcess } from './line-process.js';
import type { LineProcess } from './line-process.js';
import { compared, flag, inTurn } from './sides.js';

interface Filled {
  readonly perSecond: number;
  readonly cpuSeconds: number;
  readonly bytesPerObject: number;
}

/**
 * Measures the initial list of many ConfigMaps: objects per second, heap per object and CPU time. Compares our
 * cache with client-node's informer, in separate processes, alternately, on one server. That is the server of
 * `KUBECONFIG`, or an embedded one. Option: `--cache-sizes=10000,100000`, the numbers of objects.
 */
export async function benchCache(): Promise<readonly BenchResult[]> {
  const sizes = (flag('cache-sizes') ?? '10000,100000').split(',').map(Number);
  const feed = startLineProcess('cache-feed.ts');
  try {
    const { kubeConfig } = await feed.next<{ readonly kubeConfig: string }>();
    const results: BenchResult[] = [];
    for (const size of sizes) {
      const namespace = `bench-cache-${size}-${process.pid}`;
      await asked(feed, { do: 'fill', namespace, count: size });
      results.push(...(await benchSize({ kubeConfig, namespace, size })));
      await asked(feed, { do: 'clean', namespace, count: 1 });
    }
    return results;
  } finally {
    await feed.end();
  }
}

/** Sends a command to a feed, and returns its answer. */
export async function asked<T>(feed: LineProcess, command: object): Promise<T> {
  feed.send(JSON.stringify(command));
  return feed.next<T>();
}

interface Fill {
  readonly kubeConfig: string;
  readonly namespace: string;
  readonly size: number;
}

async function benchSize({ kubeConfig, namespace, size }: Fill): Promise<readonly BenchResult[]> {
  const measured = await inTurn(size <= 20_000 ? 5 : 2, async (side) => {
    const args = [side, namespace, String(size)];
    const worker = startLineProcess('cache-worker.ts', args, { BENCH_KUBECONFIG: kubeConfig });
    const filled = await worker.next<Filled>();
    await worker.end();
    return filled;
  });
  const of = (unit: string, value: (one: Filled) => number): BenchResult =>
    compared(`cache, ${size} ConfigMaps`, unit, { measured, value });
  return [
    of('objects/s, the server being another process', ({ perSecond }) => perSecond),
    of('bytes of heap per object', ({ bytesPerObject }) => bytesPerObject),
    of('CPU seconds to fill', ({ cpuSeconds }) => cpuSeconds),
  ];
}
