import { Counter, Gauge, Histogram } from 'prom-client';
import type { GaugeConfiguration, Registry } from 'prom-client';
import type { Metrics } from './metrics.js';

/** {@link Metrics} in `registry`, for Prometheus to scrape. No global registry is touched. */
export function promMetrics(registry: Registry): Metrics {
  // Each name is registered as one kind of metric only: the casts below hold.
  const existing = (name: string): unknown => registry.getSingleMetric(name);
  const shared = { registers: [registry] };
  return {
    counter: ({ name, help, labelNames = [] }) => {
      const metric =
        (existing(name) as Counter | undefined) ??
        new Counter({ name, help, labelNames: [...labelNames], ...shared });
      return { add: (value = 1, labels = {}) => metric.inc(labels, value) };
    },
    gauge: ({ name, help, labelNames = [] }) => {
      const settings = { name, help, labelNames: [...labelNames], ...shared };
      const metric = (existing(name) as Gauge | undefined) ?? collectable(settings);
      return {
        set: (value, labels = {}) => metric.set(labels, value),
        add: (value, labels = {}) => metric.inc(labels, value),
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
      return { observe: (value, labels = {}) => metric.observe(labels, value) };
    },
  };
}

/** What each gauge calls before it is collected; several parts may share one. */
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
