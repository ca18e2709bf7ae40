import type { Counter, Gauge, Histogram, Metrics } from '../system/metrics.js';

/** What a controller counts; all by `controller`. */
export interface ControllerMetrics {
  /** Also by `result`: `success`, `requeue_after`, `requeue` (a conflict) or `error`. */
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
  /** Also by `source`. */
  readonly sourceErrors: Counter;
}

// controller-runtime's own.
const buckets = [
  ...[0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8],
  ...[
    0.9, 1, 1.25, 1.5, 1.75, 2, 2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60,
  ],
];

/** Registers the metrics of controllers, under controller-runtime's names where it has them. */
export function newControllerMetrics(metrics: Metrics): ControllerMetrics {
  const counter = (name: string, help: string, ...more: readonly string[]): Counter =>
    metrics.counter({ name, help, labelNames: ['controller', ...more] });
  const gauge = (name: string, help: string): Gauge =>
    metrics.gauge({ name, help, labelNames: ['controller'] });
  const [theirs, ours] = ['controller_runtime', 'operator_builder'];
  return {
    reconciles: counter(`${theirs}_reconcile_total`, 'Reconciles, by their result.', 'result'),
    errors: counter(`${theirs}_reconcile_errors_total`, 'Reconciles that failed.'),
    terminalErrors: counter(
      `${theirs}_terminal_reconcile_errors_total`,
      'Reconciles that failed for good.',
    ),
    bugs: counter(
      `${theirs}_reconcile_panics_total`,
      'Reconciles that failed by a mistake in their code (a TypeError, for example).',
    ),
    timeouts: counter(`${theirs}_reconcile_timeouts_total`, 'Reconciles that took too long.'),
    durations: metrics.histogram({
      name: `${theirs}_reconcile_time_seconds`,
      help: 'How long reconciles take.',
      labelNames: ['controller'],
      buckets,
    }),
    maxConcurrent: gauge(
      `${theirs}_max_concurrent_reconciles`,
      'How many reconciles may run at once.',
    ),
    activeWorkers: gauge(`${theirs}_active_workers`, 'How many reconciles run.'),
    conflicts: counter(
      `${ours}_reconcile_conflicts_total`,
      'Reconciles that met an outdated object.',
    ),
    hotLoops: counter(`${ours}_hot_loops_total`, 'Keys found to keep writing one object.'),
    heldKeys: gauge(
      `${ours}_held_keys`,
      'Keys whose reconcile timed out and has not ended: they are not reconciled.',
    ),
    sourceErrors: counter(
      `${ours}_source_errors_total`,
      'Exceptions of predicates, mappers and streams.',
      'source',
    ),
  };
}
