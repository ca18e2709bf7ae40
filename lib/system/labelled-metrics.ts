import type { Gauge, MetricLabels, MetricOptions, Metrics, RemovableSeries } from './metrics.js';

/**
 * Wraps `metrics` so that all samples have additional constant labels. Parts that count the same metric can
 * thus be distinguished, and removed separately.
 */
export function withMetricLabels(metrics: Metrics, labels: MetricLabels): Metrics {
  const names = Object.keys(labels);
  const labelled = <T extends MetricOptions>(options: T): T => ({
    ...options,
    labelNames: [...(options.labelNames ?? []), ...names],
  });
  const all = (own: MetricLabels | undefined): MetricLabels => ({ ...own, ...labels });
  return {
    counter: (options) => {
      const counter = metrics.counter(labelled(options));
      return {
        add: (value, own) => counter.add(value, all(own)),
        ...removal(counter, all),
      };
    },
    gauge: (options) => {
      const gauge = metrics.gauge(labelled(options));
      return {
        set: (value, own) => gauge.set(value, all(own)),
        add: (value, own) => gauge.add(value, all(own)),
        ...removal(gauge, all),
        ...collection(gauge),
      };
    },
    histogram: (options) => {
      const histogram = metrics.histogram(labelled(options));
      return {
        observe: (value, own) => histogram.observe(value, all(own)),
        ...removal(histogram, all),
      };
    },
  };
}

/** Absent if the gauge itself has no `onCollect`. */
function collection(gauge: Gauge): Pick<Gauge, 'onCollect'> {
  const { onCollect: collect } = gauge as { readonly onCollect?: Collect };
  if (collect === undefined) return {};
  return { onCollect: (update) => collect.call(gauge, update) };
}

type Collect = (this: Gauge, update: () => void) => () => void;

/** Absent if the metric itself has no `remove`. */
function removal(
  metric: RemovableSeries,
  all: (own: MetricLabels) => MetricLabels,
): Pick<RemovableSeries, 'remove'> {
  if (metric.remove === undefined) return {};
  return { remove: (labels) => metric.remove?.(all(labels)) };
}
