import type {
  Counter,
  Gauge,
  Histogram,
  MetricLabels,
  Metrics,
  RemovableSeries,
} from '../system/index.js';
import { withMetricLabels } from '../system/index.js';

/** The metrics of a cache, each labelled with `kind` and the labels that its `metrics` add. */
export interface CacheMetrics {
  readonly objects: Gauge;
  readonly bytes: Gauge;
  readonly quarantined: Gauge;
  readonly watchSilence: Gauge;
  readonly watchLag: Histogram;
  readonly relists: Counter;
  readonly watchErrors: Counter;
  readonly watchEvents: Counter;
  readonly droppedEvents: Counter;
  readonly handlerErrors: Counter;
}

const lagBuckets = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

export function newCacheMetrics(metrics: Metrics): CacheMetrics {
  const of = (name: string, help: string, more: readonly string[] = []) => ({
    name: `operator_builder_cache_${name}`,
    help,
    labelNames: ['kind', ...more],
  });
  return {
    objects: metrics.gauge(of('objects', 'Objects in the cache.')),
    bytes: metrics.gauge(
      of(
        'bytes',
        'Memory of the objects in the cache, estimated from a sample at each collection.',
      ),
    ),
    quarantined: metrics.gauge(
      of('quarantined_objects', 'Objects in quarantine, which the cache cannot serve.'),
    ),
    watchSilence: metrics.gauge(
      of('watch_silence_seconds', 'Time since the last response or watch event of the kind.'),
    ),
    watchLag: metrics.histogram({
      ...of('watch_lag_seconds', 'Time from the response to a write until its watch event.'),
      buckets: lagBuckets,
    }),
    relists: metrics.counter(
      of('relists_total', 'Lists of whole collections, including the first list.'),
    ),
    watchErrors: metrics.counter(
      of('watch_errors_total', 'Lists and watches that failed, by error code.', ['code']),
    ),
    watchEvents: metrics.counter(
      of('watch_events_total', 'Events received from watches.', ['type']),
    ),
    droppedEvents: metrics.counter(
      of('dropped_events_total', 'Watch events that showed nothing new and were dropped.'),
    ),
    handlerErrors: metrics.counter(of('handler_errors_total', 'Exceptions of event handlers.')),
  };
}

/** Removes the series of the caches that had these labels and have stopped. See `withMetricLabels`. */
export async function forgetCacheMetrics(metrics: Metrics, labels: MetricLabels): Promise<void> {
  const labelled = withMetricLabels(metrics, labels);
  const series = Object.values<RemovableSeries>({ ...newCacheMetrics(labelled) });
  await Promise.all(series.map(async (metric) => metric.remove?.({})));
}
