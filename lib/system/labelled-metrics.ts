import type { Gauge, MetricLabels, MetricOptions, Metrics, RemovableSeries } from './metrics.js';

/**
 * `metrics` whose samples have some labels more, the same ones always: several parts that count the
 * same can be told apart, and taken out one by one.
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

/** Absent where nothing is collected, as that of the gauge itself. */
function collection(gauge: Gauge): Pick<Gauge, 'onCollect'> {
  const { onCollect: collect } = gauge as { readonly onCollect?: Collect };
  if (collect === undefined) return {};
  return { onCollect: (update) => collect.call(gauge, update) };
}

type Collect = (this: Gauge, update: () => void) => () => void;

/** Absent where nothing is kept, as that of the metric itself. */
function removal(
  metric: RemovableSeries,
  all: (own: MetricLabels) => MetricLabels,
): Pick<RemovableSeries, 'remove'> {
  if (metric.remove === undefined) return {};
  return { remove: (labels) => metric.remove?.(all(labels)) };
}
