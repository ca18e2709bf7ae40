import type { Client } from '../../client/index.js';
import type { ControllerBuilder, ControllerOptions, Source } from '../../controller/index.js';
import type { Recorder } from '../../events/index.js';
import type {
  CustomResourceDefinition,
  KubernetesObject,
  TypeReference,
} from '../../object/index.js';
import type { Clock, Logger, Metrics, Random } from '../../system/index.js';
import type { BackOffFactory } from '../with-retry.js';
import type { ResourceRouter } from '../resource-set.js';
import {
  dns1123LabelProblem,
  dns1123SubdomainProblem,
  qualifiedNameProblem,
  apiVersionOf,
  isFoundInvalid,
  describeObject,
} from '../../object/index.js';
import {
  refuseUnknownOptions,
  systemClock,
  sleep,
  silentLogger,
  systemRandom,
  isOperatorError,
} from '../../system/index.js';
import { defaultBackOffFactory, nextWaitMs } from '../with-retry.js';
import { InvalidConfigError } from '../errors.js';
import {
  prometheusNamespace as defaultNamespace,
  prometheusSubsystem as defaultSubsystem,
} from '../with-metrics.js';
import { commonPauseAnnotations, pausedCondition } from '../../status/index.js';
import type { PauseAnnotations } from '../../status/index.js';
import { overlapCondition } from './object-state.js';
import { ensureCrd } from '../../client/index.js';
import type { Runnable } from '../../manager/index.js';

/** Options of `Framework`. `T` is the reconciled object. */
export interface FrameworkOptions<T extends KubernetesObject> {
  /**
   * Names the controller, and is the last part of the finalizer: two frameworks for the same kind need
   * different names. A DNS label.
   */
  readonly name: string;
  /** The kind to reconcile. */
  readonly type: TypeReference<T>;
  /** Selects the resource set that handles an object. */
  readonly resourceRouter: ResourceRouter<T>;
  /** May read from a cache. The framework does not close the client. */
  readonly client: Client;
  /** The CRD to install or update before the start. @defaultValue undefined: the CRD is already installed */
  readonly crd?: CustomResourceDefinition | undefined;
  /** The source of events for the objects. @defaultValue a watch of `type` */
  readonly informer?: Source | undefined;
  /**
   * Adds watches to the controller, for example `(controller) => controller.owns(ConfigMap)`. @defaultValue
   * no watches
   */
  readonly configure?: ((controller: ControllerBuilder) => ControllerBuilder) | undefined;
  /** The retries of installing `crd`. @defaultValue `defaultBackOffFactory()`: 7 retries */
  readonly backOffFactory?: BackOffFactory | undefined;
  /** The first part of the finalizer `<prefix>/<name>`. @defaultValue 'operator-builder.io' */
  readonly finalizerPrefix?: string | undefined;
  /**
   * Annotations that pause an object if one of them has exactly this value, in addition to
   * `operator-builder.io/paused: "true"` and `cluster.x-k8s.io/paused: "true"`. @defaultValue no others
   */
  readonly pauseAnnotations?: Readonly<Record<string, string>> | undefined;
  /**
   * The type of the condition that shows the result of reconciling each object, if its status has conditions.
   * Two frameworks for the same kind need different types. `false` writes no condition, for example because
   * the chain's resources write one. @defaultValue 'Ready'
   */
  readonly readyCondition?: string | false | undefined;
  /**
   * The period after which every object is reconciled again, in milliseconds, ± 10 %. Finds changes that no
   * watch reports. `Infinity` disables it. @defaultValue 300_000
   */
  readonly resyncPeriodMs?: number | undefined;
  /** The delay before a deletion that kept its finalizer is retried, in milliseconds. @defaultValue 5_000 */
  readonly keptFinalizerRetryMs?: number | undefined;
  /**
   * Concurrency, time-out and back-off. @defaultValue four objects at once, else the controller's defaults
   */
  readonly controller?: Omit<ControllerOptions, 'name'> | undefined;
  /** Records the Events of the resources. @defaultValue a recorder made for this framework, on `client` */
  readonly recorder?: Recorder | undefined;
  /** The first part of the names of metrics. @defaultValue 'operatorkit' */
  readonly prometheusNamespace?: string | undefined;
  /** The second part of the names of metrics. @defaultValue 'framework' */
  readonly prometheusSubsystem?: string | undefined;
  /** @defaultValue no metrics */
  readonly metrics?: Metrics | undefined;
  /** @defaultValue the system clock */
  readonly clock?: Clock | undefined;
  /** Spreads retries and resyncs. @defaultValue the system's random source */
  readonly random?: Random | undefined;
  /** @defaultValue logs nothing */
  readonly logger?: Logger | undefined;
}

type Given<T extends KubernetesObject> = FrameworkOptions<T>;
type Optional = 'crd' | 'informer' | 'configure' | 'recorder' | 'metrics';
type Defaulted =
  | ('backOffFactory' | 'finalizerPrefix' | 'resyncPeriodMs' | 'keptFinalizerRetryMs')
  | 'readyCondition'
  | ('controller' | 'prometheusNamespace' | 'prometheusSubsystem' | 'clock' | 'random' | 'logger');

/** {@link FrameworkOptions} with defaults applied. */
export type ResolvedFrameworkOptions<T extends KubernetesObject> = Pick<
  Given<T>,
  'name' | 'type' | 'resourceRouter' | 'client' | Optional
> & {
  readonly [Name in Defaulted]-?: NonNullable<Given<T>[Name]>;
} & {
  /** All annotations that pause an object, the common ones first. */
  readonly pauseAnnotations: PauseAnnotations;
  /** `<prefix>/<name>`. */
  readonly finalizer: string;
};

/**
 * Fills in the defaults.
 * @throws InvalidConfigError an option is missing, out of its range, or contradicts another.
 */
export function resolveFrameworkOptions<T extends KubernetesObject>(
  options: FrameworkOptions<T>,
): ResolvedFrameworkOptions<T> {
  const { name, type, resourceRouter, client, crd, informer, configure, recorder } = options;
  const { backOffFactory = defaultBackOffFactory(), finalizerPrefix = 'operator-builder.io' } =
    options;
  const { pauseAnnotations = {}, resyncPeriodMs = 300_000 } = options;
  const { keptFinalizerRetryMs = 5_000, readyCondition = 'Ready', metrics } = options;
  const { maxConcurrentReconciles = 4, ...others } = options.controller ?? {};
  const controller = { maxConcurrentReconciles, ...others };
  const { prometheusNamespace = defaultNamespace, prometheusSubsystem = defaultSubsystem } =
    options;
  const { clock = systemClock, random = systemRandom, logger = silentLogger } = options;
  checkNeeded(options);
  checkFunctions(options);
  checkCrd(options);
  checkNames({ name, finalizerPrefix, prometheusNamespace, prometheusSubsystem });
  checkPause(name, pauseAnnotations);
  checkReadyCondition(name, readyCondition);
  if (!(resyncPeriodMs > 0)) refuse(name, `resyncPeriodMs ${resyncPeriodMs}: want more than 0`);
  if (!(keptFinalizerRetryMs > 0 && keptFinalizerRetryMs < Infinity)) {
    refuse(name, `keptFinalizerRetryMs ${keptFinalizerRetryMs}: want a finite number above 0`);
  }
  const given = {
    ...{ name, type, resourceRouter, client, crd, informer, configure, recorder, metrics },
    ...{ backOffFactory, finalizerPrefix, resyncPeriodMs, keptFinalizerRetryMs, controller },
    ...{ prometheusNamespace, prometheusSubsystem, clock, random, logger, readyCondition },
  };
  const names = { ...given, pauseAnnotations };
  refuseUnknownOptions<FrameworkOptions<T>>(`Framework ${name}`, options, names);
  return {
    ...given,
    pauseAnnotations: { ...commonPauseAnnotations, ...sorted(pauseAnnotations) },
    finalizer: `${finalizerPrefix}/${name}`,
  };
}

/** Plain JavaScript can omit required options. */
function checkNeeded<T extends KubernetesObject>(options: Partial<Given<T>>): void {
  const { name, type, resourceRouter, client } = options;
  if (typeof name !== 'string') throw new InvalidConfigError('Framework: its name is missing');
  if (typeof (type as Partial<TypeReference> | undefined)?.kind !== 'string') {
    refuse(name, 'type: want a ResourceType, or { apiVersion, kind }');
  }
  if (!hasMethod(resourceRouter, 'resourceSetsOf')) {
    refuse(name, 'resourceRouter: want a ResourceRouter');
  }
  if (!hasMethod(client, 'patch')) refuse(name, 'client: want a Client');
}

function checkFunctions<T extends KubernetesObject>(options: Given<T>): void {
  const { name, informer, configure, backOffFactory, recorder } = options;
  const functions = { configure, backOffFactory };
  for (const [what, given] of Object.entries(functions)) {
    if (given !== undefined && typeof given !== 'function')
      refuse(name, `${what}: want a function`);
  }
  if (informer !== undefined && !hasMethod(informer, 'start')) {
    refuse(name, 'informer: want a Source');
  }
  if (recorder !== undefined && !hasMethod(recorder, 'record')) {
    refuse(name, 'recorder: want a Recorder');
  }
}

function hasMethod(value: unknown, method: string): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return typeof (value as Record<string, unknown>)[method] === 'function';
}

/** If the CRD defines another kind, the framework would wait forever for objects of its own kind. */
function checkCrd<T extends KubernetesObject>({ name, crd, type }: Given<T>): void {
  if (crd === undefined) return;
  const { group, names, versions } = crd.spec;
  const served = versions.map((version) => `${group}/${version.name} ${names.kind}`);
  const wanted = `${apiVersionOf(type)} ${type.kind}`;
  if (served.includes(wanted)) return;
  refuse(
    name,
    `crd: it defines ${served.join(', ')}, but type is ${wanted}; pass the CRD of the type`,
  );
}

type Names = Pick<
  ResolvedFrameworkOptions<never>,
  'name' | 'finalizerPrefix' | 'prometheusNamespace' | 'prometheusSubsystem'
>;

const metricName = /^[A-Za-z_][A-Za-z0-9_]*$/;

function checkNames({ name, finalizerPrefix, ...metricNames }: Names): void {
  const problem = dns1123LabelProblem(name);
  if (problem !== undefined) refuse(name, `name: ${problem}`);
  const ofPrefix = dns1123SubdomainProblem(finalizerPrefix);
  if (ofPrefix !== undefined) refuse(name, `finalizerPrefix: ${ofPrefix}`);
  for (const [option, value] of Object.entries(metricNames)) {
    if (!metricName.test(value)) refuse(name, `${option} ${value}: want letters, digits and '_'`);
  }
}

function checkPause(name: string, annotations: PauseAnnotations): void {
  for (const [key, value] of Object.entries(annotations) as [string, unknown][]) {
    const problem = qualifiedNameProblem(key.toLowerCase());
    if (problem !== undefined) refuse(name, `pauseAnnotations ${key}: ${problem}`);
    if (typeof value !== 'string') refuse(name, `pauseAnnotations ${key}: want a string`);
    const common = Object.hasOwn(commonPauseAnnotations, key) ? commonPauseAnnotations[key] : value;
    if (value !== common)
      refuse(
        name,
        `pauseAnnotations ${key}: the value that pauses is ${common} and cannot be changed`,
      );
  }
}

function checkReadyCondition(name: string, type: string | boolean): void {
  if (type === false) return;
  const problem = typeof type === 'string' ? qualifiedNameProblem(type) : 'want a string, or false';
  if (problem !== undefined) refuse(name, `readyCondition ${String(type)}: ${problem}`);
  if (type === pausedCondition || type === overlapCondition) {
    refuse(
      name,
      `readyCondition ${type}: the framework writes this condition for another purpose; choose another type`,
    );
  }
}

function sorted(annotations: PauseAnnotations): PauseAnnotations {
  const entries = Object.entries(annotations);
  return Object.fromEntries(entries.sort(([one], [other]) => (one < other ? -1 : 1)));
}

function refuse(name: string, what: string): never {
  throw new InvalidConfigError(`Framework ${name}: ${what}`);
}

/**
 * Installs or updates the CRD before caches are filled, with retries after the back-off's delays. When the
 * back-off ends, or the error is permanent, the manager fails with the last error.
 */
export function crdInstaller<T extends KubernetesObject>(
  crd: CustomResourceDefinition,
  options: ResolvedFrameworkOptions<T>,
): Runnable {
  const { name, client, clock, random, backOffFactory } = options;
  return {
    name: `${name}: ${describeObject(crd)}`,
    phase: 'webhook',
    run: async ({ signal, logger }) => {
      const backOff = backOffFactory(random);
      for (;;) {
        try {
          await ensureCrd(client, crd, { clock, signal, fieldManager: name });
          return;
        } catch (error) {
          signal.throwIfAborted();
          const delayMs = isHopeless(error) ? undefined : nextWaitMs(backOff, error);
          if (delayMs === undefined) throw error;
          const inMs = Math.round(delayMs);
          logger.warn(`the CRD is not installed yet; tried again in ${inMs} ms`, { error });
          await sleep(clock, delayMs, signal);
        }
      }
    },
  };
}

/** Retries cannot fix an invalid definition or a name conflict. */
function isHopeless(error: unknown): boolean {
  return isFoundInvalid(error) || isOperatorError(error, 'InvalidObject');
}
