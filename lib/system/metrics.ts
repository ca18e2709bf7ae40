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
