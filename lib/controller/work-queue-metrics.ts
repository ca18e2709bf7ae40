import type { Counter, Gauge, Histogram, MetricLabels, Metrics } from '../system/metrics.js';

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
    adds: metrics.counter(named('adds_total', 'Keys added, those that waited already left out.')),
    queueDuration: metrics.histogram({
      ...named('queue_duration_seconds', 'How long keys wait for a worker.'),
      buckets,
    }),
    workDuration: metrics.histogram({
      ...named('work_duration_seconds', 'How long keys are worked on.'),
      buckets,
    }),
    unfinishedWork: metrics.gauge(
      named('unfinished_work_seconds', 'The time spent so far on keys that are worked on, in sum.'),
    ),
    longestRunning: metrics.gauge(
      named('longest_running_processor_seconds', 'The longest time spent so far on one key.'),
    ),
    retries: metrics.counter(
      named('retries_total', 'Keys added with a delay: after a failure, or as asked for.'),
    ),
  };
}

// The limit and the label value of controller-runtime.
const maxPriorities = 25;
const otherPriorities = 'exceeded_cardinality_limit';

/** Returns labels with `priority`, up to a maximum number of distinct priorities. */
export class PriorityLabels {
  readonly #known = new Map<number, MetricLabels>();
  readonly #labels: MetricLabels;

  /** @param labels - the other labels */
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
