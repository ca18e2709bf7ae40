import type { Counter, Gauge, Metrics } from '../system/metrics.js';

/** What a cache counts; all by `kind`. */
export interface CacheMetrics {
  readonly objects: Gauge;
  readonly relists: Counter;
  readonly watchErrors: Counter;
  readonly watchEvents: Counter;
  readonly duplicateEvents: Counter;
  readonly handlerErrors: Counter;
}

/** Registers the metrics of a cache. */
export function newCacheMetrics(metrics: Metrics): CacheMetrics {
  const counter = (name: string, help: string, labelNames: readonly string[]): Counter =>
    metrics.counter({ name: `operator_builder_cache_${name}`, help, labelNames });
  return {
    objects: metrics.gauge({
      name: 'operator_builder_cache_objects',
      help: 'Objects in the cache.',
      labelNames: ['kind'],
    }),
    relists: counter('relists_total', 'Lists of whole collections, the first one included.', [
      'kind',
    ]),
    watchErrors: counter('watch_errors_total', 'Lists and watches that failed, by error code.', [
      'kind',
      'code',
    ]),
    watchEvents: counter('watch_events_total', 'Events received from watches.', ['kind', 'type']),
    duplicateEvents: counter(
      'dropped_events_total',
      'Watch events that showed nothing new and were dropped.',
      ['kind'],
    ),
    handlerErrors: counter(
      'handler_errors_total',
      'Exceptions of event handlers, transforms and indexers.',
      ['kind'],
    ),
  };
}
