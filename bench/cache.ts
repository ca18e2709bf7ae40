import { ratioOf, rowOf } from './bench-result.js';
import type { BenchResult } from './bench-result.js';
import { startLineProcess } from './line-process.js';
import type { LineProcess } from './line-process.js';

interface Filled {
  readonly perSecond: number;
  readonly cpuSeconds: number;
  readonly bytesPerObject: number;
}

interface Handled {
  readonly handled: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly cpuSeconds: number;
}

type Side = 'ours' | 'theirs';
type Measured<T> = Readonly<Record<Side, T[]>>;

const names: Readonly<Record<Side, string>> = {
  ours: 'operator-builder',
  theirs: 'client-node informer',
};
const rate = 10_000;

/**
 * A cache beside client-node's informer, on one server, each in a process of its own, in turn:
 * filling it with many ConfigMaps (objects/s, heap per object, CPU), and following 10,000 events/s:
 * through cache, queue and four workers to a reconcile here, to a plain handler there. Sizes by
 * `--cache-sizes=10000,100000` and `--cache-events=50000`; the server of `KUBECONFIG`, else embedded.
 */
export async function benchCache(): Promise<readonly BenchResult[]> {
  const sizes = (flag('cache-sizes') ?? '10000,100000').split(',').map(Number);
  const events = Number(flag('cache-events') ?? '50000');
  const feed = startLineProcess('cache-feed.ts');
  try {
    const { kubeConfig } = await feed.next<{ readonly kubeConfig: string }>();
    const results: BenchResult[] = [];
    for (const size of sizes) {
      const namespace = `bench-cache-${size}-${process.pid}`;
      feed.send(JSON.stringify({ do: 'fill', namespace, count: size }));
      await feed.next();
      results.push(...(await benchSize({ feed, kubeConfig, namespace, size, events })));
      feed.send(JSON.stringify({ do: 'clean', namespace, count: 1 }));
      await feed.next();
    }
    return results;
  } finally {
    await feed.end();
  }
}

interface Bench {
  readonly feed: LineProcess;
  readonly kubeConfig: string;
  readonly namespace: string;
  readonly size: number;
  readonly events: number;
}

async function benchSize(bench: Bench): Promise<readonly BenchResult[]> {
  const filled: Measured<Filled> = { ours: [], theirs: [] };
  const handled: Measured<Handled> = { ours: [], theirs: [] };
  const rates: number[] = [];
  for (let round = 0; round < 2; round++) {
    // Who goes first changes, so that a drift hits both alike.
    for (const side of round % 2 === 0
      ? (['ours', 'theirs'] as const)
      : (['theirs', 'ours'] as const)) {
      const env = { BENCH_KUBECONFIG: bench.kubeConfig };
      const args = [side, bench.namespace, String(bench.size)];
      const worker = startLineProcess('cache-worker.ts', args, env);
      filled[side].push(await worker.next<Filled>());
      // The events are the same however much is cached: once is enough.
      if (bench.size <= 10_000) {
        worker.send(`events ${bench.events}`);
        await worker.next();
        const { namespace, events: count, size: objects } = bench;
        bench.feed.send(JSON.stringify({ do: 'churn', namespace, count, objects, rate }));
        rates.push((await bench.feed.next<{ readonly perSecond: number }>()).perSecond);
        handled[side].push(await worker.next<Handled>());
      }
      await worker.end();
    }
  }
  return [...filledResults(filled, bench.size), ...handledResults(handled, rates, bench.events)];
}

function filledResults(filled: Measured<Filled>, size: number): readonly BenchResult[] {
  const of = (unit: string, value: (one: Filled) => number): BenchResult =>
    compared(`cache, ${size} ConfigMaps`, unit, { measured: filled, value });
  return [
    of('objects/s', ({ perSecond }) => perSecond),
    of('bytes of heap per object', ({ bytesPerObject }) => bytesPerObject),
    of('CPU seconds', ({ cpuSeconds }) => cpuSeconds),
  ];
}

function handledResults(
  handled: Measured<Handled>,
  rates: readonly number[],
  events: number,
): readonly BenchResult[] {
  if (rates.length === 0) return [];
  const name = `${events} events, up to ${rate}/s`;
  const of = (unit: string, value: (one: Handled) => number): BenchResult =>
    compared(name, unit, { measured: handled, value });
  return [
    { name, unit: 'written events/s', rows: [rowOf('by the feed', rates)] },
    of('ms to reconcile or handler, p50', ({ p50Ms }) => p50Ms),
    of('ms to reconcile or handler, p99', ({ p99Ms }) => p99Ms),
    of('reconciles or handler calls', ({ handled: calls }) => calls),
    of('CPU seconds', ({ cpuSeconds }) => cpuSeconds),
  ];
}

function compared<T>(
  name: string,
  unit: string,
  { measured, value }: { readonly measured: Measured<T>; readonly value: (one: T) => number },
): BenchResult {
  const [ours, theirs] = [measured.ours.map(value), measured.theirs.map(value)];
  return {
    ...{ name, unit },
    rows: [rowOf(names.ours, ours), rowOf(names.theirs, theirs)],
    ratio: ratioOf(`${names.ours} to ${names.theirs}`, ours, theirs),
  };
}

/** The value of `--name=value`. */
function flag(name: string): string | undefined {
  const prefix = `--${name}=`;
  return process.argv.find((arg) => arg.startsWith(prefix))?.slice(prefix.length);
}
