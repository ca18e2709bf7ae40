import type { Meter, MeterProvider } from '@opentelemetry/api';
import { noMetrics } from './metrics.js';
import type { Gauge, MetricLabels, MetricOptions, Metrics, RemovableSeries } from './metrics.js';
import { isRegistered } from './tracer.js';

/**
 * Returns metrics for the meter provider that an OpenTelemetry SDK registered with `@opentelemetry/api`;
 * without an SDK, `noMetrics`. Names and attributes are the names and labels of the Prometheus metrics.
 */
export async function registeredMetrics(): Promise<Metrics> {
  if (!isRegistered('metrics')) return noMetrics;
  const { metrics: api } = await import('@opentelemetry/api');
  const provider = api.getMeterProvider();
  const metrics = known.get(provider) ?? meterMetrics(provider.getMeter('operator-builder'));
  known.set(provider, metrics);
  return metrics;
}

/** Metrics by their provider: the same gauge must not be registered twice. */
const known = new WeakMap<MeterProvider, Metrics>();

/** OpenTelemetry keeps the samples of counters and histograms, so those cannot be removed. */
function meterMetrics(meter: Meter): Metrics {
  const gauges = new Map<string, Gauge>();
  return {
    counter: ({ name, help }) => {
      const counter = meter.createCounter(name, { description: help });
      return { add: (value = 1, labels = {}) => counter.add(value, labels) };
    },
    gauge: (options) => {
      const gauge = gauges.get(options.name) ?? meterGauge(meter, options);
      gauges.set(options.name, gauge);
      return gauge;
    },
    histogram: ({ name, help, buckets }) => {
      const advice = { explicitBucketBoundaries: [...buckets] };
      const histogram = meter.createHistogram(name, { description: help, advice });
      return { observe: (value, labels = {}) => histogram.record(value, labels) };
    },
  };
}

interface Sample {
  readonly labels: MetricLabels;
  value: number;
}

/** Creates a gauge that keeps its samples, because OpenTelemetry reads them when it collects. */
function meterGauge(meter: Meter, { name, help }: MetricOptions): Gauge {
  const samples = new Map<string, Sample>();
  const updates = new Set<() => void>();
  const sampleOf = (labels: MetricLabels): Sample => {
    const key = JSON.stringify(Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1)));
    const sample = samples.get(key) ?? { labels, value: 0 };
    samples.set(key, sample);
    return sample;
  };
  meter.createObservableGauge(name, { description: help }).addCallback((result) => {
    for (const update of updates) update();
    for (const { value, labels } of samples.values()) result.observe(value, labels);
  });
  return {
    set: (value, labels = {}) => void (sampleOf(labels).value = value),
    add: (value, labels = {}) => void (sampleOf(labels).value += value),
    remove: (wanted) => {
      for (const [key, { labels }] of samples) {
        if (Object.entries(wanted).every(([label, value]) => labels[label] === value)) {
          samples.delete(key);
        }
      }
    },
    onCollect: (update) => {
      updates.add(update);
      return () => updates.delete(update);
    },
  };
}

/** Returns metrics that send every sample to `first` and to `second`. */
export function bothMetrics(first: Metrics, second: Metrics): Metrics {
  if (first === noMetrics) return second;
  if (second === noMetrics) return first;
  return {
    counter: (options) => {
      const [one, other] = [first.counter(options), second.counter(options)];
      return {
        add: (value, labels) => {
          one.add(value, labels);
          other.add(value, labels);
        },
        remove: (labels) => removeFrom(one, other, labels),
      };
    },
    gauge: (options) => bothGauges(first.gauge(options), second.gauge(options)),
    histogram: (options) => {
      const [one, other] = [first.histogram(options), second.histogram(options)];
      return {
        observe: (value, labels) => {
          one.observe(value, labels);
          other.observe(value, labels);
        },
        remove: (labels) => removeFrom(one, other, labels),
      };
    },
  };
}

function bothGauges(one: Gauge, other: Gauge): Gauge {
  return {
    set: (value, labels) => {
      one.set(value, labels);
      other.set(value, labels);
    },
    add: (value, labels) => {
      one.add(value, labels);
      other.add(value, labels);
    },
    remove: (labels) => removeFrom(one, other, labels),
    onCollect: (update) => {
      const ends = [one.onCollect?.(update), other.onCollect?.(update)];
      return () => {
        for (const end of ends) end?.();
      };
    },
  };
}

async function removeFrom(
  one: RemovableSeries,
  other: RemovableSeries,
  labels: MetricLabels,
): Promise<void> {
  await Promise.all([one.remove?.(labels), other.remove?.(labels)]);
}
