/** The labels of one sample; every sample of a metric has the same label names. */
export type MetricLabels = Readonly<Record<string, string>>;

/** Samples that can be taken out again. */
export interface RemovableSeries {
  /**
   * Takes out all samples that have at least these labels, with these values: of something that is
   * gone for good. They begin anew when they are counted again. Absent where nothing is kept.
   */
  remove?(labels: MetricLabels): void | Promise<void>;
}

/** A value that only grows. */
export interface Counter extends RemovableSeries {
  add(value?: number, labels?: MetricLabels): void;
}

/** A value that goes up and down. */
export interface Gauge extends RemovableSeries {
  set(value: number, labels?: MetricLabels): void;
  add(value: number, labels?: MetricLabels): void;
  /**
   * Calls `update` right before the metric is collected: for values that change by themselves, such
   * as an age. Absent where nothing is collected. @returns what ends it
   */
  onCollect?(update: () => void): () => void;
}

/** A distribution, in seconds where it is a duration. */
export interface Histogram extends RemovableSeries {
  observe(value: number, labels?: MetricLabels): void;
}

/** What describes a metric. Asking twice for one name gives the same metric. */
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

/** Where a part registers its metrics; `promMetrics` puts them into a prom-client registry. */
export interface Metrics {
  counter(options: MetricOptions): Counter;
  gauge(options: MetricOptions): Gauge;
  histogram(options: HistogramOptions): Histogram;
}

/** Drops everything. The default of library parts that were given no metrics. */
export const noMetrics: Metrics = {
  counter: () => ({ add: () => undefined }),
  gauge: () => ({ set: () => undefined, add: () => undefined }),
  histogram: () => ({ observe: () => undefined }),
};
