import type { Counter, Gauge, Histogram, Metrics } from '../system/metrics.js';

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

/** Registers the metrics of controllers, with controller-runtime's names if it has them. */
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
    terminalErrors: counter('terminal_reconcile_errors_total', 'Reconciles that failed for good.'),
    bugs: counter(
      'reconcile_panics_total',
      'Reconciles that failed by a mistake in their code (a TypeError, for example).',
    ),
    timeouts: counter('reconcile_timeouts_total', 'Reconciles that took too long.'),
    durations: metrics.histogram({
      ...named('reconcile_time_seconds', 'How long reconciles take.'),
      buckets,
    }),
    maxConcurrent: metrics.gauge(
      named('max_concurrent_reconciles', 'How many reconciles may run at once.'),
    ),
    activeWorkers: metrics.gauge(named('active_workers', 'How many reconciles run.')),
  };
}

function ourMetrics(metrics: Metrics): OurMetrics {
  const labelNames = ['controller'];
  const named = (name: string, help: string) => ({
    ...{ name: `operator_builder_${name}`, help, labelNames },
  });
  return {
    conflicts: metrics.counter(
      named('reconcile_conflicts_total', 'Reconciles that met an outdated object.'),
    ),
    hotLoops: metrics.counter(named('hot_loops_total', 'Keys found to keep writing one object.')),
    heldKeys: metrics.gauge(
      named(
        'held_keys',
        'Keys whose reconcile timed out and has not ended: they are not reconciled.',
      ),
    ),
    sourceErrors: metrics.counter({
      ...named('source_errors_total', 'Exceptions of predicates, mappers and streams.'),
      labelNames: [...labelNames, 'source'],
    }),
  };
}
