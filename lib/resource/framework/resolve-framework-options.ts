import type { KubernetesObject } from '../../object/kubernetes-object.js';
import {
  dns1123LabelProblem,
  dns1123SubdomainProblem,
  qualifiedNameProblem,
} from '../../object/names.js';
import { apiVersionOf } from '../../object/resource-type.js';
import type { TypeReference } from '../../object/resource-type.js';
import { refuseUnknownOptions } from '../../system/known-options.js';
import { systemClock } from '../../system/clock.js';
import { silentLogger } from '../../system/logger.js';
import { systemRandom } from '../../system/random.js';
import { defaultBackOffFactory } from '../default-back-off-factory.js';
import { InvalidConfigError } from '../invalid-config-error.js';
import {
  prometheusNamespace as defaultNamespace,
  prometheusSubsystem as defaultSubsystem,
} from '../prometheus-names.js';
import type { FrameworkOptions } from './framework-options.js';
import { commonPauseAnnotations, pausedCondition } from '../../status/index.js';
import type { PauseAnnotations } from '../../status/index.js';
import { overlapCondition } from './object-state.js';

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
    refuse(name, `keptFinalizerRetryMs ${keptFinalizerRetryMs}: want more than 0, and an end`);
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
  refuse(name, `crd: it defines ${served.join(', ')}, but type is ${wanted}`);
}

interface Names {
  readonly name: string;
  readonly finalizerPrefix: string;
  readonly prometheusNamespace: string;
  readonly prometheusSubsystem: string;
}

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
    if (typeof value !== 'string') refuse(name, `pauseAnnotations ${key}: want a text`);
    const common = Object.hasOwn(commonPauseAnnotations, key) ? commonPauseAnnotations[key] : value;
    if (value !== common) refuse(name, `pauseAnnotations ${key}: ${common} pauses, it stays so`);
  }
}

function checkReadyCondition(name: string, type: string | boolean): void {
  if (type === false) return;
  const problem = typeof type === 'string' ? qualifiedNameProblem(type) : 'want a text, or false';
  if (problem !== undefined) refuse(name, `readyCondition ${String(type)}: ${problem}`);
  if (type === pausedCondition || type === overlapCondition) {
    refuse(name, `readyCondition ${type}: the framework writes it for something else`);
  }
}

function sorted(annotations: PauseAnnotations): PauseAnnotations {
  const entries = Object.entries(annotations);
  return Object.fromEntries(entries.sort(([one], [other]) => (one < other ? -1 : 1)));
}

function refuse(name: string, what: string): never {
  throw new InvalidConfigError(`Framework ${name}: ${what}`);
}
