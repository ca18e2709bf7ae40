import { Counter, Gauge, Histogram } from 'prom-client';
import type { GaugeConfiguration, Registry } from 'prom-client';
import type { MetricLabels, Metrics } from '../system/index.js';

/**
 * Returns {@link Metrics} that use `registry`, for Prometheus to scrape. Does not use the global registry.
 */
export function promMetrics(registry: Registry): Metrics {
  // Each name is registered as one type of metric only, so the casts below hold.
  const existing = (name: string): unknown => registry.getSingleMetric(name);
  const shared = { registers: [registry] };
  return {
    counter: ({ name, help, labelNames = [] }) => {
      const metric =
        (existing(name) as Counter | undefined) ??
        new Counter({ name, help, labelNames: [...labelNames], ...shared });
      return {
        add: (value = 1, labels = {}) => metric.inc(labels, value),
        remove: (labels) => removeSeries(metric, labels),
      };
    },
    gauge: ({ name, help, labelNames = [] }) => {
      const settings = { name, help, labelNames: [...labelNames], ...shared };
      const metric = (existing(name) as Gauge | undefined) ?? collectable(settings);
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
        (existing(name) as Histogram | undefined) ?? new Histogram({ ...settings, ...shared });
      return {
        observe: (value, labels = {}) => metric.observe(labels, value),
        remove: (labels) => removeSeries(metric, labels),
      };
    },
  };
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
