import type { KubernetesObject } from '../object/index.js';
import type { Counter, Histogram, Metrics, OptionNames } from '../system/index.js';
import { isName } from './resource-set.js';
import type { CrudResource } from './crud-resource.js';
import { InvalidConfigError } from './errors.js';
import type { Resource } from './resource-set.js';
import { wrapSteps } from './wrap.js';
import type { Step } from './wrap.js';
import { refuseUnknownOptions } from '../system/index.js';

/** Options of {@link withMetrics}. */
export interface OperationMetricsOptions {
  /** The metrics backend, for example `promMetrics(register)`. */
  readonly metrics: Metrics;
  /** The label `service`: usually the operator's name. */
  readonly service: string;
  /** The first part of the names of metrics. @defaultValue 'operatorkit' */
  readonly prometheusNamespace?: string | undefined;
  /** The second part of the names of metrics. @defaultValue 'framework' */
  readonly prometheusSubsystem?: string | undefined;
}

/**
 * Counts a resource's steps (`<namespace>_<subsystem>_operation_total`) and their failures
 * (`…_operation_error_total`), and measures their duration (the histogram `…_operation`, in seconds). All
 * three have the labels `service`, `resource` and `operation`, which is the step's name.
 *
 * Around `withRetry` it counts a step once, however many attempts it takes; within, each attempt.
 *
 * @throws InvalidConfigError `service` or `metrics` is missing.
 */
export function withMetrics<T extends KubernetesObject, State, Change>(
  resource: CrudResource<T, State, Change>,
  options: OperationMetricsOptions,
): CrudResource<T, State, Change>;
export function withMetrics<T extends KubernetesObject>(
  resource: Resource<T>,
  options: OperationMetricsOptions,
): Resource<T>;
export function withMetrics<T extends KubernetesObject>(
  resource: Resource<T>,
  options: OperationMetricsOptions,
): Resource<T> {
  const { service } = options;
  refuseUnknownOptions('withMetrics', options, optionNames);
  const kept = operationMetrics(options);
  return wrapSteps(resource, (step, run) => measured(step, run, { service, kept }));
}

const optionNames: OptionNames<OperationMetricsOptions> = {
  ...{ metrics: true, service: true, prometheusNamespace: true, prometheusSubsystem: true },
};

interface OperationMetrics {
  readonly total: Counter;
  readonly errors: Counter;
  readonly seconds: Histogram;
}

const labelNames = ['service', 'resource', 'operation'];

const buckets = [0.001, 0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

function operationMetrics(options: OperationMetricsOptions): OperationMetrics {
  const { service, metrics } = options;
  if (!isName(service)) throw new InvalidConfigError('withMetrics: service: want a name');
  if (typeof (metrics as Partial<Metrics> | undefined)?.counter !== 'function') {
    throw new InvalidConfigError('withMetrics: metrics: want Metrics, for example promMetrics()');
  }
  const { prometheusNamespace: namespace = prometheusNamespace } = options;
  const { prometheusSubsystem: subsystem = prometheusSubsystem } = options;
  const name = `${namespace}_${subsystem}_operation`;
  return {
    total: metrics.counter({
      name: `${name}_total`,
      help: 'Number of steps of resources that were run.',
      labelNames,
    }),
    errors: metrics.counter({
      name: `${name}_error_total`,
      help: 'Number of steps of resources that failed.',
      labelNames,
    }),
    seconds: metrics.histogram({
      name,
      help: 'Duration of the steps of resources, in seconds.',
      ...{ labelNames, buckets },
    }),
  };
}

interface Kept {
  readonly service: string;
  readonly kept: OperationMetrics;
}

async function measured<T extends KubernetesObject, R>(
  { context, resource, name }: Step<T>,
  run: () => Promise<R>,
  { service, kept }: Kept,
): Promise<R> {
  const labels = { service, resource, operation: name };
  const startedMs = context.clock.monotonicMs();
  try {
    return await run();
  } catch (error) {
    kept.errors.add(1, labels);
    throw error;
  } finally {
    kept.total.add(1, labels);
    kept.seconds.observe((context.clock.monotonicMs() - startedMs) / 1_000, labels);
  }
}

/** The default first part of the metrics' names. */
export const prometheusNamespace = 'operatorkit';

/** The default second part of the metrics' names. */
export const prometheusSubsystem = 'framework';
