import type {
  Counter,
  Gauge,
  Histogram,
  MetricLabels,
  Metrics,
  RemovableSeries,
} from '../system/index.js';

/** The metrics of a controller, each labelled with `controller`. */
export interface ControllerMetrics {
  /** Also labelled with `result`: `success`, `requeue_after`, `requeue` (a conflict) or `error`. */
  readonly reconciles: Counter;
  readonly errors: Counter;
  readonly terminalErrors: Counter;
  readonly bugs: Counter;
  readonly timeouts: Counter;
  readonly durations: Histogram;
  readonly maxConcurrent: Gauge;
  readonly activeWorkers: Gauge;
  readonly conflicts: Counter;
  readonly hotLoops: Counter;
  readonly heldKeys: Gauge;
  /** Also labelled with `source`. */
  readonly sourceErrors: Counter;
}

// The buckets of controller-runtime.
const buckets = [
  ...[0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8],
  ...[
    0.9, 1, 1.25, 1.5, 1.75, 2, 2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60,
  ],
];

/** Registers the metrics of controllers. A metric that controller-runtime has too has the same name. */
export function newControllerMetrics(metrics: Metrics): ControllerMetrics {
  return { ...theirMetrics(metrics), ...ourMetrics(metrics) };
}

type OurMetrics = Pick<ControllerMetrics, 'conflicts' | 'hotLoops' | 'heldKeys' | 'sourceErrors'>;

/** Registers the metrics that controller-runtime has too. */
function theirMetrics(metrics: Metrics): Omit<ControllerMetrics, keyof OurMetrics> {
  const labelNames = ['controller'];
  const named = (name: string, help: string) => ({
    ...{ name: `controller_runtime_${name}`, help, labelNames },
  });
  const counter = (name: string, help: string): Counter => metrics.counter(named(name, help));
  return {
    reconciles: metrics.counter({
      ...named('reconcile_total', 'Reconciles, by their result.'),
      labelNames: [...labelNames, 'result'],
    }),
    errors: counter('reconcile_errors_total', 'Reconciles that failed.'),
    terminalErrors: counter(
      'terminal_reconcile_errors_total',
      'Reconciles that failed with a terminal error.',
    ),
    bugs: counter(
      'reconcile_panics_total',
      'Reconciles that failed because of a bug (a TypeError, for example).',
    ),
    timeouts: counter('reconcile_timeouts_total', 'Reconciles that timed out.'),
    durations: metrics.histogram({
      ...named('reconcile_time_seconds', 'Duration of reconciles, in seconds.'),
      buckets,
    }),
    maxConcurrent: metrics.gauge(
      named('max_concurrent_reconciles', 'Maximum number of concurrent reconciles.'),
    ),
    activeWorkers: metrics.gauge(named('active_workers', 'Number of running reconciles.')),
  };
}

function ourMetrics(metrics: Metrics): OurMetrics {
  const labelNames = ['controller'];
  const named = (name: string, help: string) => ({
    ...{ name: `operator_builder_${name}`, help, labelNames },
  });
  return {
    conflicts: metrics.counter(
      named('reconcile_conflicts_total', 'Reconciles that ended in a conflict.'),
    ),
    hotLoops: metrics.counter(
      named('hot_loops_total', 'Keys whose reconciles were found to write one object repeatedly.'),
    ),
    heldKeys: metrics.gauge(
      named(
        'held_keys',
        'Keys whose reconcile timed out and has not ended; they are not reconciled.',
      ),
    ),
    sourceErrors: metrics.counter({
      ...named('source_errors_total', 'Exceptions of predicates, mappers and streams.'),
      labelNames: [...labelNames, 'source'],
    }),
  };
}

/** The metrics of a work queue, with the names of controller-runtime's dashboards. */
export interface WorkQueueMetrics {
  readonly depth: Gauge;
  readonly adds: Counter;
  readonly queueDuration: Histogram;
  readonly workDuration: Histogram;
  readonly unfinishedWork: Gauge;
  readonly longestRunning: Gauge;
  readonly retries: Counter;
}

/** Registers the metrics of work queues. */
export function newWorkQueueMetrics(metrics: Metrics): WorkQueueMetrics {
  const labelNames = ['name', 'controller'];
  const named = (name: string, help: string) => ({ name: `workqueue_${name}`, help, labelNames });
  // 10 ns to 1,000 s, as in controller-runtime.
  const buckets = Array.from({ length: 12 }, (_, n) => 10 ** (n - 8));
  return {
    depth: metrics.gauge({
      ...named('depth', 'Keys that wait for a worker.'),
      labelNames: [...labelNames, 'priority'],
    }),
    adds: metrics.counter(named('adds_total', 'Keys added to the queue, without duplicates.')),
    queueDuration: metrics.histogram({
      ...named('queue_duration_seconds', 'Waiting time of a key in the queue, in seconds.'),
      buckets,
    }),
    workDuration: metrics.histogram({
      ...named('work_duration_seconds', 'Processing time of a key, in seconds.'),
      buckets,
    }),
    unfinishedWork: metrics.gauge(
      named(
        'unfinished_work_seconds',
        'Total processing time so far of the keys in progress, in seconds.',
      ),
    ),
    longestRunning: metrics.gauge(
      named(
        'longest_running_processor_seconds',
        'Longest processing time so far of a key in progress, in seconds.',
      ),
    ),
    retries: metrics.counter(
      named('retries_total', 'Keys added with a delay, after a failure or on request.'),
    ),
  };
}

// controller-runtime's limit of distinct priorities, and its label value for all further ones.
const maxPriorities = 25;
const otherPriorities = 'exceeded_cardinality_limit';

/** Returns labels with `priority`, up to a maximum number of distinct priorities. */
export class PriorityLabels {
  readonly #known = new Map<number, MetricLabels>();
  readonly #labels: MetricLabels;

  /** @param labels - the labels other than `priority` */
  constructor(labels: MetricLabels) {
    this.#labels = labels;
  }

  of(priority: number): MetricLabels {
    const known = this.#known.get(priority);
    if (known !== undefined) return known;
    const isLast = this.#known.size >= maxPriorities;
    const labels = { ...this.#labels, priority: isLast ? otherPriorities : String(priority) };
    if (!isLast) this.#known.set(priority, labels);
    return labels;
  }
}

/** Removes the metric series of the controller called `controller`, which no longer exists. */
export async function forgetMetrics(metrics: Metrics, controller: string): Promise<void> {
  const all = { ...newControllerMetrics(metrics), ...newWorkQueueMetrics(metrics) };
  const series = Object.values<RemovableSeries>(all);
  await Promise.all(series.map(async (metric) => metric.remove?.({ controller })));
}
