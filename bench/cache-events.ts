import { rowOf } from './bench-result.js';
import type { BenchResult } from './bench-result.js';
import { asked } from './cache.js';
import { startLineProcess } from './line-process.js';
import type { LineProcess } from './line-process.js';
import { compared, flag, inTurn } from './sides.js';
import type { Measured, Side } from './sides.js';

interface Followed {
  readonly events: number;
  readonly handled: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly cpuSeconds: number;
}

const objects = 1_000;

/**
 * Measures throughput, latency and CPU time of watch events, beside client-node's informer.
 *
 * - Changes of 1,000 small ConfigMaps, 10,000 per second, to an informer's handler on both sides.
 * - The same to a reconcile on our side, through the queue and four workers; to a handler on the other side.
 * - Changes of 1,000 Pods, 2,500 per second, to an informer's handler on both sides.
 *
 * The events come over TCP from `event-feed.ts`, as other servers are too slow. With `KUBECONFIG`, those of
 * ConfigMaps come from that server, which may not reach the rate, and Pods are not measured. The first fifth of
 * the events is the warm-up. Each round measures one side right after the other: compare the medians of the ratios.
 *
 * Options: `--cache-events=50000`, the number of events; `--cache-rate=10000`, events per second;
 * `--cache-rounds=5`, the number of rounds. A busy machine needs a lower rate and more rounds.
 */
export async function benchCacheEvents(): Promise<readonly BenchResult[]> {
  const count = Number(flag('cache-events') ?? '50000');
  const rate = Number(flag('cache-rate') ?? '10000');
  const rounds = Number(flag('cache-rounds') ?? '5');
  const namespace = `bench-events-${process.pid}`;
  const configMaps = { kind: 'ConfigMap', namespace, count, rate };
  const results = await withFeed(configMaps, async (follow, offered) => {
    const toHandler = await inTurn(rounds, (side) => follow(side, 'handler'));
    const toReconcile = await inTurn(rounds, (side) => follow(side, 'reconcile'));
    return [
      offeredOf(configMaps, offered),
      ...resultsOf(`${count} events of ConfigMaps to a handler`, toHandler),
      ...resultsOf(`${count} events of ConfigMaps to a reconcile, to a handler there`, toReconcile),
    ];
  });
  // A Pod is eight times as large as a ConfigMap here.
  const pods = { kind: 'Pod', namespace, count: count / 2, rate: rate / 4 };
  if (isReal()) return results;
  const ofPods = await withFeed(pods, async (follow, offered) => {
    const toHandler = await inTurn(rounds, (side) => follow(side, 'handler'));
    return [
      offeredOf(pods, offered),
      ...resultsOf(`${pods.count} events of Pods to a handler`, toHandler),
    ];
  });
  return [...results, ...ofPods];
}

interface Offer {
  readonly kind: string;
  readonly namespace: string;
  readonly count: number;
  /** Events per second. */
  readonly rate: number;
}

type Follow = (side: Side, end: 'handler' | 'reconcile') => Promise<Followed>;

function isReal(): boolean {
  return (process.env['KUBECONFIG'] ?? '') !== '';
}

/** Starts a feed, and calls `run`. `offered` has the events per second that each call of `follow` sent. */
async function withFeed<R>(
  { kind, namespace, count, rate }: Offer,
  run: (follow: Follow, offered: readonly number[]) => Promise<R>,
): Promise<R> {
  const feed = isReal()
    ? startLineProcess('cache-feed.ts')
    : startLineProcess('event-feed.ts', [namespace, String(objects), kind]);
  try {
    const { kubeConfig } = await feed.next<{ readonly kubeConfig: string }>();
    if (isReal()) await asked(feed, { do: 'fill', namespace, count: objects });
    const offered: number[] = [];
    const follow: Follow = async (side, end) => {
      const args = [side, namespace, String(objects), end, String(count / 5), kind];
      const worker = startLineProcess('cache-worker.ts', args, { BENCH_KUBECONFIG: kubeConfig });
      offered.push(await offer(feed, worker, { do: 'churn', namespace, count, objects, rate }));
      const followed = await worker.next<Followed>();
      await worker.end();
      return followed;
    };
    const result = await run(follow, offered);
    if (isReal()) await asked(feed, { do: 'clean', namespace, count: 1 });
    return result;
  } finally {
    await feed.end();
  }
}

/** Makes the feed send events once the worker has synced and is ready. @returns events sent per second */
async function offer(feed: LineProcess, worker: LineProcess, churn: object): Promise<number> {
  await worker.next();
  worker.send('events');
  await worker.next();
  return (await asked<{ readonly perSecond: number }>(feed, churn)).perSecond;
}

function offeredOf({ kind, count, rate }: Offer, offered: readonly number[]): BenchResult {
  // A feed that is up to 3% slower than requested has not limited the result.
  const reached = Math.min(...offered) >= rate * 0.97;
  const limits = reached ? '' : ' (NOT REACHED: the feed is what limits)';
  const name = `${count} events of ${kind}s offered at ${rate}/s`;
  return { name, unit: `offered events/s${limits}`, rows: [rowOf('by the feed', offered)] };
}

function resultsOf(name: string, measured: Measured<Followed>): readonly BenchResult[] {
  const of = (unit: string, value: (one: Followed) => number): BenchResult =>
    compared(name, unit, { measured, value });
  return [
    of('events taken in per second', ({ perSecond }) => perSecond),
    of('events taken in', ({ events }) => events),
    of('reconciles or handler calls', ({ handled }) => handled),
    of('ms from sent to reconcile or handler, p50', ({ p50Ms }) => p50Ms),
    of('ms from sent to reconcile or handler, p99', ({ p99Ms }) => p99Ms),
    of('CPU µs per event', ({ cpuSeconds, events }) => (cpuSeconds / events) * 1e6),
  ];
}
