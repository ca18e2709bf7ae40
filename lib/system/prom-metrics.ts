import { Counter, Gauge, Histogram } from 'prom-client';
import type { Metric, Registry } from 'prom-client';
import type { Metrics } from './metrics.js';

/** {@link Metrics} in `registry`, for Prometheus to scrape. No global registry is touched. */
export function promMetrics(registry: Registry): Metrics {
  const existing = (name: string): Metric | undefined => registry.getSingleMetric(name);
  const shared = { registers: [registry] };
  return {
    counter: ({ name, help, labelNames = [] }) => {
      const metric =
        (existing(name) as Counter | undefined) ??
        new Counter({ name, help, labelNames: [...labelNames], ...shared });
      return { add: (value = 1, labels = {}) => metric.inc(labels, value) };
    },
    gauge: ({ name, help, labelNames = [] }) => {
      const metric =
        (existing(name) as Gauge | undefined) ??
        new Gauge({ name, help, labelNames: [...labelNames], ...shared });
      return {
        set: (value, labels = {}) => metric.set(labels, value),
        add: (value, labels = {}) => metric.inc(labels, value),
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
