/** The labels of one sample; every sample of a metric has the same label names. */
export type MetricLabels = Readonly<Record<string, string>>;

/** Samples that can be removed. */
export interface RemovableSeries {
  /**
   * Removes all samples with at least these labels and values, for an object that no longer exists. A later
   * sample starts from zero. Absent if the metrics keep no samples.
   */
  remove?(labels: MetricLabels): void | Promise<void>;
}

/** A value that only increases. */
export interface Counter extends RemovableSeries {
  add(value?: number, labels?: MetricLabels): void;
}

/** A value that increases and decreases. */
export interface Gauge extends RemovableSeries {
  set(value: number, labels?: MetricLabels): void;
  add(value: number, labels?: MetricLabels): void;
  /**
   * Calls `update` right before the metric is collected, for values that change by themselves, such as an
   * age. Absent if the metrics are never collected. @returns a function that removes the callback
   */
  onCollect?(update: () => void): () => void;
}

/** A distribution; durations are in seconds. */
export interface Histogram extends RemovableSeries {
  observe(value: number, labels?: MetricLabels): void;
}

/** The description of a metric. The same name always gives the same metric. */
export interface MetricOptions {
  readonly name: string;
  readonly help: string;
  readonly labelNames?: readonly string[];
}

/** Options of a {@link Histogram}. */
export interface HistogramOptions extends MetricOptions {
  /** Upper bounds of the buckets, ascending. */
  readonly buckets: readonly number[];
}

/** A registry of metrics; `promMetrics` uses a prom-client registry. */
export interface Metrics {
  counter(options: MetricOptions): Counter;
  gauge(options: MetricOptions): Gauge;
  histogram(options: HistogramOptions): Histogram;
}

/** Discards all samples. The default of library parts without metrics. */
export const noMetrics: Metrics = {
  counter: () => ({ add: () => undefined }),
  gauge: () => ({ set: () => undefined, add: () => undefined }),
  histogram: () => ({ observe: () => undefined }),
};

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

/** Returns the gauge's `onCollect`, if it has one. */
function collection(gauge: Gauge): Pick<Gauge, 'onCollect'> {
  const { onCollect: collect } = gauge as { readonly onCollect?: Collect };
  if (collect === undefined) return {};
  return { onCollect: (update) => collect.call(gauge, update) };
}

type Collect = (this: Gauge, update: () => void) => () => void;

/** Returns the metric's `remove` with labels completed by `all`, if it has one. */
function removal(
  metric: RemovableSeries,
  all: (own: MetricLabels) => MetricLabels,
): Pick<RemovableSeries, 'remove'> {
  if (metric.remove === undefined) return {};
  return { remove: (labels) => metric.remove?.(all(labels)) };
}
