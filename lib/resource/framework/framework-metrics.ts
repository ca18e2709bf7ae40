import type { CacheEvent, Informer } from '../../cache/index.js';
import type { Source } from '../../controller/index.js';
import type { KubernetesObject, TypeReference } from '../../object/index.js';
import type { Counter, Gauge, Metrics, Clock, Logger } from '../../system/index.js';
import { isOperatorError, waited } from '../../system/index.js';
import type { EventRecorder, ObjectEvent, Recorder } from '../../events/index.js';

/** The prefixes of the names of a framework's metrics. */
export interface MetricNames {
  /** The first part of the names, for example `operatorkit`. */
  readonly prometheusNamespace: string;
  /** The second part of the names, for example `framework`. */
  readonly prometheusSubsystem: string;
}

/** The metrics of a framework. */
export interface FrameworkMetrics {
  /** Label `event`: `create` (a new object), `update`, `delete`, `error`. */
  readonly events: Counter;
  /** Label `controller`: the framework's name. */
  readonly cacheSize: Gauge;
  /** Label `kind`: `added`, `updated`, `deleted`. */
  readonly watchEvents: Counter;
  /** Creation times in seconds since 1970; labels `kind`, `namespace` and `name`. */
  readonly creations: Gauge;
  readonly deletions: Gauge;
}

export function newFrameworkMetrics(
  metrics: Metrics,
  { prometheusNamespace: first, prometheusSubsystem: second }: MetricNames,
): FrameworkMetrics {
  const labelNames = ['kind', 'namespace', 'name'];
  return {
    events: metrics.counter({
      name: `${first}_${second}_event`,
      help: 'Reconciles by result, and errors of the informer.',
      labelNames: ['event'],
    }),
    cacheSize: metrics.gauge({
      name: `${first}_informer_cache_size`,
      help: 'Cached objects of the reconciled kind.',
      labelNames: ['controller'],
    }),
    watchEvents: metrics.counter({
      name: `${first}_informer_watch_event_total`,
      help: 'Watch events of the objects that are reconciled.',
      labelNames: ['kind'],
    }),
    creations: metrics.gauge({
      name: `${first}_controller_creation_timestamp`,
      help: 'When each object that is reconciled was created, in seconds since 1970.',
      labelNames,
    }),
    deletions: metrics.gauge({
      name: `${first}_controller_deletion_timestamp`,
      help: 'When the deletion of each object that is being deleted began, in seconds since 1970.',
      labelNames,
    }),
  };
}

/** Reports the metrics of the reconciled objects from their existing watch. Enqueues no reconciles. */
export function metricsSource<T extends KubernetesObject>(
  { name, type }: { readonly name: string; readonly type: TypeReference<T> },
  metrics: () => FrameworkMetrics,
): Source {
  // One informer for each cluster.
  const informers = new Set<Informer<T>>();
  const recordSize = (): void => {
    const sizes = [...informers].map((informer) => informer.status().objects);
    const all = sizes.reduce((sum, size) => sum + size, 0);
    metrics().cacheSize.set(all, { controller: name });
  };
  return {
    name: `${type.kind} metrics`,
    start: ({ cache }) => {
      const informer = cache.informer(type);
      informers.add(informer);
      informer.addHandler((event) => {
        recordSize();
        metrics().watchEvents.add(1, { kind: event.type });
        recordTimes(metrics(), event, type.kind);
      });
      const stop = (): void => {
        informer.release();
        informers.delete(informer);
        recordSize();
      };
      return { stop };
    },
  };
}

function recordTimes(
  { creations, deletions }: FrameworkMetrics,
  event: CacheEvent,
  kind: string,
): void {
  const { metadata } = event.object;
  const { namespace = '', name = '', creationTimestamp, deletionTimestamp } = metadata;
  const labels = { kind, namespace, name };
  if (event.type === 'deleted') {
    for (const gauge of [creations, deletions]) void gauge.remove?.(labels);
    return;
  }
  for (const [gauge, time] of [
    [creations, creationTimestamp],
    [deletions, deletionTimestamp],
  ] as const) {
    if (time !== undefined) gauge.set(Date.parse(time) / 1_000, labels);
  }
}

export interface StuckWatch {
  /** The signal of the reconcile: aborted with `Timeout` when its time is over. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** The time-out of a reconcile, in milliseconds; `Infinity` for no limit. */
  readonly timeoutMs: number;
  /** Called once, with the milliseconds that the work has taken so far. */
  readonly report: (lastedMs: number) => void;
  /** Returns the signal that ends all calls of `show`, for example when the controller stops. */
  readonly untilStopped: () => AbortSignal;
  /**
   * Shows that the work goes on after its time-out. Gets the same milliseconds as `report`.
   * @returns milliseconds until the text may be written; undefined if nothing is pending
   */
  readonly show: (lastedMs: number, signal: AbortSignal) => Promise<number | undefined>;
  readonly logger: Logger;
}

/** Without a time-out, a reconcile is reported after this many milliseconds. */
const longPassMs = 60_000;

/** If work ends within this many milliseconds after its time-out, the next reconcile shows the time-out. */
const unwindMs = 1_000;

/**
 * Waits for `work`, and reports if it is still running after its time-out: otherwise nothing would show where a
 * reconcile hangs.
 */
export async function reportWhenStuck<R>(watch: StuckWatch, work: () => Promise<R>): Promise<R> {
  const { signal, clock, timeoutMs, report } = watch;
  const startedMs = clock.monotonicMs();
  const lastedMs = (): number => clock.monotonicMs() - startedMs;
  const over = new AbortController();
  let shown: Promise<void> | undefined;
  const onAbort = (): void => {
    if (!isOperatorError(signal.reason, 'Timeout')) return;
    const afterMs = lastedMs();
    report(afterMs);
    shown = showWhileStuck(watch, afterMs, over.signal);
  };
  signal.addEventListener('abort', onAbort, { once: true });
  const reportNow = (): void => report(lastedMs());
  const timer = timeoutMs === Infinity ? clock.setTimer(reportNow, longPassMs) : undefined;
  try {
    return await work();
  } finally {
    timer?.cancel();
    signal.removeEventListener('abort', onAbort);
    over.abort();
    await shown;
  }
}

/**
 * Shows the time-out if the work goes on for a second after it. Writes at most twice, and ends early once `over` is
 * aborted. It logs errors: while the work hangs, its caller does not wait for it.
 */
async function showWhileStuck(
  { clock, untilStopped, show, logger }: StuckWatch,
  lastedMs: number,
  over: AbortSignal,
): Promise<void> {
  try {
    const signal = AbortSignal.any([over, untilStopped()]);
    if (!(await waited(clock, unwindMs, signal))) return;
    const waitMs = await show(lastedMs, signal);
    if (waitMs !== undefined && (await waited(clock, waitMs, signal))) await show(lastedMs, signal);
  } catch (error) {
    logger.error('the time-out is not shown in the condition', { error });
  }
}

/**
 * The built-in recorder of a framework without a `recorder` option. It may be stopped between two runs of the
 * framework; it then holds no timer, and the next event starts it again.
 */
export class OwnRecorder implements Recorder {
  readonly #make: () => EventRecorder;
  #current: EventRecorder | undefined;

  constructor(make: () => EventRecorder) {
    this.#make = make;
  }

  record(event: ObjectEvent): void {
    this.#current ??= this.#make();
    this.#current.record(event);
  }

  /** Resolves when all recorded events are written or discarded. */
  async flush(): Promise<void> {
    await this.#current?.flush();
  }

  /** Discards unwritten events. The next event starts a new recorder. */
  async stop(): Promise<void> {
    const current = this.#current;
    this.#current = undefined;
    await current?.stop();
  }
}
