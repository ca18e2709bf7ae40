import { Counter, Gauge, Histogram } from 'prom-client';
import type { GaugeConfiguration, Registry } from 'prom-client';
import { checkedMetrics, refuseOtherMetric } from '../system/index.js';
import type { KnownMetric, MetricLabels, Metrics } from '../system/index.js';

/**
 * Returns {@link Metrics} that use `registry`, for Prometheus to scrape. Does not use the global registry. Its methods
 * throw an `OperatorError` `InvalidOption` if the registry has another type of metric of the same name, or one without
 * all of the labels, and for an invalid description or sample.
 */
export function promMetrics(registry: Registry): Metrics {
  return checkedMetrics(registeredIn(registry));
}

function registeredIn(registry: Registry): Metrics {
  const shared = { registers: [registry] };
  return {
    counter: ({ name, help, labelNames = [] }) => {
      const metric =
        (existing(registry, 'counter', { name, labelNames }) as Counter | undefined) ??
        new Counter({ name, help, labelNames: [...labelNames], ...shared });
      return {
        add: (value = 1, labels = {}) => metric.inc(labels, value),
        remove: (labels) => removeSeries(metric, labels),
      };
    },
    gauge: ({ name, help, labelNames = [] }) => {
      const settings = { name, help, labelNames: [...labelNames], ...shared };
      const metric =
        (existing(registry, 'gauge', settings) as Gauge | undefined) ?? collectable(settings);
      return {
        set: (value, labels = {}) => metric.set(labels, value),
        add: (value, labels = {}) => metric.inc(labels, value),
        remove: (labels) => removeSeries(metric, labels),
        onCollect: (update) => {
          const updates = collectors.get(metric);
          updates?.add(update);
          return () => updates?.delete(update);
        },
      };
    },
    histogram: ({ name, help, labelNames = [], buckets }) => {
      const settings = { name, help, labelNames: [...labelNames], buckets: [...buckets] };
      const metric =
        (existing(registry, 'histogram', settings) as Histogram | undefined) ??
        new Histogram({ ...settings, ...shared });
      return {
        observe: (value, labels = {}) => metric.observe(labels, value),
        remove: (labels) => removeSeries(metric, labels),
      };
    },
  };
}

/** Returns the metric of this name. One of another type or without the labels is refused. */
function existing(
  registry: Registry,
  type: 'counter' | 'gauge' | 'histogram',
  { name, labelNames = [] }: Pick<Parameters<Metrics['counter']>[0], 'name' | 'labelNames'>,
): unknown {
  // The types of prom-client lack these properties. Metrics of another copy of prom-client have them too.
  const found = registry.getSingleMetric(name) as KnownMetric | undefined;
  if (found === undefined) return undefined;
  refuseOtherMetric({ name, type, labelNames }, found, 'the registry');
  return found;
}

/** The functions that each gauge calls before it is collected; several parts may share a gauge. */
const collectors = new WeakMap<Gauge, Set<() => void>>();

function collectable(settings: GaugeConfiguration<string>): Gauge {
  const updates = new Set<() => void>();
  const collect = (): void => {
    for (const update of updates) update();
  };
  const gauge = new Gauge({ ...settings, collect });
  collectors.set(gauge, updates);
  return gauge;
}

/** Removes the samples that have at least `labels`; prom-client needs all labels of each. */
async function removeSeries(
  metric: Counter | Gauge | Histogram,
  labels: MetricLabels,
): Promise<void> {
  const wanted = Object.entries(labels);
  const { values } = await metric.get();
  for (const { labels: shown } of values) {
    // `le` belongs to the buckets of a histogram, not to the sample's labels.
    const own = Object.entries(shown).filter(([name]) => name !== 'le');
    const isMeant = wanted.every(([name, value]) => Object.fromEntries(own)[name] === value);
    if (isMeant) metric.remove(Object.fromEntries(own));
  }
}
