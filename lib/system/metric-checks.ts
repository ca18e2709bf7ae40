import { nearestName, refuseNonList, refuseUnknownOptions } from './known-options.js';
import type { HistogramOptions, MetricLabels, MetricOptions, Metrics } from './metrics.js';
import { OperatorError } from './operator-error.js';

/** A metric that exists already. */
export interface KnownMetric {
  readonly type: string;
  readonly labelNames: readonly string[];
}

/**
 * Refuses the metric `found` if it has another type than `type`, or lacks some of `labelNames`: it would throw at each
 * sample.
 * @param where - the owner of `found`. The metrics of `the manager` are the operator's own, so their author can change
 * both.
 * @throws OperatorError `InvalidOption`
 */
export function refuseOtherMetric(
  { name, type, labelNames }: KnownMetric & { readonly name: string },
  found: KnownMetric,
  where: 'the manager' | 'the registry',
): void {
  const missing = labelNames.filter((label) => !found.labelNames.includes(label));
  if (found.type === type && missing.length === 0) return;
  const problem =
    found.type === type ? `without the labels ${missing.join(', ')}` : `that is a ${found.type}`;
  const remedy =
    where === 'the registry'
      ? 'rename it, or use another registry'
      : 'rename it, or give both the same labelNames';
  throw invalid(name, `${where} has a metric of this name ${problem}; ${remedy}`);
}

/**
 * Returns `metrics` that refuse invalid descriptions and samples (`InvalidOption`), as a registry of Prometheus would,
 * but with the name of the metric. They do so even if `metrics` discard all samples, so that an invalid metric fails
 * already in an operator without a registry.
 */
export function checkedMetrics(metrics: Metrics): Metrics {
  return {
    counter: (options) => {
      refuseInvalid(options, { buckets: false });
      const [refuse, counter] = [sampleCheck(options), metrics.counter(options)];
      return {
        ...counter,
        add: (value = 1, labels = {}) => {
          refuse(value, labels);
          if (!(value >= 0 && value < Infinity)) {
            const remedy = 'use a gauge for a value that decreases';
            throw invalid(
              options.name,
              `a counter adds numbers from 0 on, got ${value}; ${remedy}`,
            );
          }
          counter.add(value, labels);
        },
      };
    },
    gauge: (options) => {
      refuseInvalid(options, { buckets: false });
      const [refuse, gauge] = [sampleCheck(options), metrics.gauge(options)];
      return {
        ...gauge,
        set: (value, labels = {}) => {
          refuse(value, labels);
          gauge.set(value, labels);
        },
        add: (value, labels = {}) => {
          refuse(value, labels);
          gauge.add(value, labels);
        },
      };
    },
    histogram: (options) => {
      refuseInvalid(options, { buckets: true });
      refuseBuckets(options);
      const [refuse, histogram] = [sampleCheck(options), metrics.histogram(options)];
      return {
        ...histogram,
        observe: (value, labels = {}) => {
          refuse(value, labels);
          if (!Number.isFinite(value))
            throw invalid(options.name, `cannot observe ${value}; want a finite number`);
          histogram.observe(value, labels);
        },
      };
    },
  };
}

function invalid(name: string, problem: string): OperatorError {
  return new OperatorError('InvalidOption', `metric ${name}: ${problem}`);
}

const metricName = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const labelName = /^[a-zA-Z_][a-zA-Z0-9_]*$/;

function refuseInvalid(
  options: MetricOptions | undefined,
  { buckets }: { readonly buckets: boolean },
): void {
  const given: Partial<MetricOptions> = options ?? {};
  const { name = '', help, labelNames = [] } = given;
  if (typeof name !== 'string' || !metricName.test(name)) {
    throw invalid(JSON.stringify(name), 'name: want letters, digits, "_" and ":", no digit first');
  }
  const names = { name, help, labelNames, ...(buckets ? { buckets } : {}) };
  refuseUnknownOptions<object>(`metric ${name}`, given, names);
  if (typeof help !== 'string' || help === '') {
    throw invalid(name, 'no help; give a text that says what it measures');
  }
  refuseNonList(`metric ${name}: labelNames`, labelNames);
  for (const label of labelNames) {
    if (typeof label === 'string' && labelName.test(label) && !(buckets && label === 'le'))
      continue;
    const want = `want letters, digits and "_", no digit first${buckets ? ', and not "le"' : ''}`;
    throw invalid(name, `labelNames: ${want}, got ${JSON.stringify(label)}`);
  }
}

function refuseBuckets({ name, buckets }: HistogramOptions): void {
  const bounds = buckets as readonly number[] | undefined;
  const isAscending = (bound: number, n: number): boolean => {
    return typeof bound === 'number' && (n === 0 || bound > (bounds?.[n - 1] ?? NaN));
  };
  if (Array.isArray(bounds) && bounds.every(isAscending)) return;
  throw invalid(name, `buckets: want a list of ascending numbers, got ${JSON.stringify(bounds)}`);
}

/** Returns a function that refuses an invalid value or invalid labels of a sample. */
function sampleCheck({
  name,
  labelNames = [],
}: MetricOptions): (value: number, labels: MetricLabels) => void {
  return (value, labels) => {
    if (typeof value !== 'number') {
      throw invalid(name, `want a number, then the labels, got ${JSON.stringify(value)}`);
    }
    for (const label in labels)
      if (!labelNames.includes(label)) refuseLabel(label, labelNames, name);
  };
}

function refuseLabel(label: string, labelNames: readonly string[], name: string): never {
  const nearest = nearestName(label, labelNames);
  const known = labelNames.length === 0 ? 'it has none' : `known: ${labelNames.join(', ')}`;
  const remedy =
    nearest === undefined ? `${known}; add it to labelNames` : `did you mean "${nearest}"?`;
  throw invalid(name, `unknown label ${JSON.stringify(label)}; ${remedy}`);
}
