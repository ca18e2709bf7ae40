import type { MetricLabels, Metrics } from '../../lib/system/metrics.js';

/** Metrics that record their values. */
export class RecordedMetrics implements Metrics {
  readonly #values = new Map<string, number>();

  value(name: string, labels: MetricLabels = {}): number | undefined {
    return this.#values.get(name + JSON.stringify(labels));
  }

  counter: Metrics['counter'] = ({ name }) => ({
    add: (value = 1, labels = {}) =>
      this.#set(name, labels, (this.value(name, labels) ?? 0) + value),
  });

  gauge: Metrics['gauge'] = ({ name }) => ({
    set: (value, labels = {}) => this.#set(name, labels, value),
    add: (value, labels = {}) => this.#set(name, labels, (this.value(name, labels) ?? 0) + value),
  });

  histogram: Metrics['histogram'] = () => ({ observe: () => undefined });

  #set(name: string, labels: MetricLabels, value: number): void {
    this.#values.set(name + JSON.stringify(labels), value);
  }
}
