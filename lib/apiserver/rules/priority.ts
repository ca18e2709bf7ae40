import type { V1Pod, V1PriorityClass } from '@kubernetes/client-node';
import type { Wire } from '../../object/index.js';
import { forbidden } from '../status-error.js';
import { validatePreemption } from './field-values.js';
import { typedRules } from './kind-rules.js';
import type { KindRules, ServerView } from './kind-rules.js';

type Pod = Wire<V1Pod>;
type PriorityClass = Wire<V1PriorityClass>;

const collection = 'scheduling.k8s.io/priorityclasses';
const highestUserPriority = 1_000_000_000;

/** The PriorityClasses that every cluster has. They cannot be deleted. */
export const systemPriorityClasses: readonly Readonly<Record<string, unknown>>[] = [
  {
    metadata: { name: 'system-node-critical' },
    value: 2 * highestUserPriority + 1000,
    description: 'Used for system critical pods that must not be moved from their current node.',
  },
  {
    metadata: { name: 'system-cluster-critical' },
    value: 2 * highestUserPriority,
    description:
      'Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.',
  },
].map((object) => ({ apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', ...object }));

interface Admitted {
  readonly metadata: Pod['metadata'];
  readonly spec: NonNullable<Pod['spec']>;
}

/**
 * Sets priority and preemption policy of a pod from its class.
 * @throws StatusError 403: the class is unknown, or the pod has other values.
 */
export function admitPriority({ metadata, spec }: Admitted, server: ServerView): void {
  const { priorityClassName = '' } = spec;
  const found =
    priorityClassName === ''
      ? defaultClass(server)
      : (server.find(collection, priorityClassName) as unknown as PriorityClass | undefined);
  if (found === undefined && priorityClassName !== '') {
    throw podRefused(metadata, `no PriorityClass with name ${priorityClassName} was found`);
  }
  if (found !== undefined) spec.priorityClassName = found.metadata?.name ?? '';
  const { value: priority = 0, preemptionPolicy: policy = 'PreemptLowerPriority' } = found ?? {};
  const computed = (what: string): string =>
    `must not be provided in pod spec; priority admission controller computed ${what} from the given PriorityClass name`;
  if (spec.priority !== undefined && spec.priority !== priority) {
    const why = `the integer value of priority (${spec.priority}) ${computed(String(priority))}`;
    throw podRefused(metadata, why);
  }
  if (spec.preemptionPolicy !== undefined && spec.preemptionPolicy !== policy) {
    const given = `the string value of PreemptionPolicy (${spec.preemptionPolicy})`;
    throw podRefused(metadata, `${given} ${computed(policy)}`);
  }
  spec.priority = priority;
  spec.preemptionPolicy = policy;
}

/**
 * Returns the error with which admission refuses a pod. The pod may have no name yet: admission runs before the server
 * generates names.
 */
export function podRefused(metadata: Pod['metadata'], why: string): Error {
  const name = metadata?.name || metadata?.generateName || 'Unknown';
  return forbidden({ group: '', plural: 'pods', name }, why);
}

/**
 * Returns the default class of pods without a class. Of several default classes, the one with the lowest value counts.
 */
function defaultClass(server: ServerView): PriorityClass | undefined {
  const classes = [...server.all(collection)] as unknown as PriorityClass[];
  const [lowest] = classes
    .filter(({ globalDefault }) => globalDefault === true)
    .sort((a, b) => a.value - b.value);
  return lowest;
}

function refuseSecondDefault({ metadata, globalDefault }: PriorityClass, server: ServerView): void {
  const name = metadata?.name ?? '';
  const other = globalDefault === true ? defaultClass(server)?.metadata?.name : undefined;
  if (other === undefined || other === name) return;
  const why = `PriorityClass ${other} is already marked as default. Only one default can exist`;
  throw forbidden({ group: 'scheduling.k8s.io', plural: 'priorityclasses', name }, why);
}

/** Returns the reason why a class must not have the prefix `system-`, if it has. */
function reservedNameProblem({
  metadata,
  value,
  globalDefault,
}: PriorityClass): string | undefined {
  const { name = '' } = metadata ?? {};
  if (!name.startsWith('system-')) return undefined;
  const known = systemPriorityClasses.find((one) => nameOf(one) === name);
  const problem =
    known === undefined
      ? `${name} is not a known system priority class`
      : value !== known['value']
        ? `value of ${name} PriorityClass must be ${String(known['value'])}`
        : globalDefault === true
          ? `globalDefault of ${name} PriorityClass must be false`
          : undefined;
  if (problem === undefined) return undefined;
  return `priority class names with 'system-' prefix are reserved for system use only. error: ${problem}`;
}

function nameOf(object: Readonly<Record<string, unknown>>): string | undefined {
  return (object as PriorityClass).metadata?.name;
}

const priorityClass = typedRules<PriorityClass>({
  defaults: (object) => {
    object.preemptionPolicy ??= 'PreemptLowerPriority';
  },
  validateCreate: (object, errors) => {
    const { metadata, value, preemptionPolicy = '' } = object;
    const reserved = reservedNameProblem(object);
    if (reserved !== undefined) errors.forbidden('metadata.name', reserved);
    else if (metadata.name?.startsWith('system-') !== true && value > highestUserPriority) {
      const why = `maximum allowed value of a user defined priority is ${highestUserPriority}`;
      errors.forbidden('value', why);
    }
    validatePreemption(preemptionPolicy, errors.at('preemptionPolicy'));
  },
  validateUpdate: ({ value, preemptionPolicy }, old, errors) => {
    if (value !== old.value) errors.forbidden('value', 'may not be changed in an update.');
    errors.immutable('preemptionPolicy', preemptionPolicy, old.preemptionPolicy);
  },
  admitUpdate: (object, _old, server) => refuseSecondDefault(object, server),
  specChanged: () => false,
  admitCreate: refuseSecondDefault,
  beforeDelete: ({ metadata: { name = '' } }) => {
    if (!systemPriorityClasses.some((one) => nameOf(one) === name)) return;
    const why = 'this is a system priority class and cannot be deleted';
    throw forbidden({ group: 'scheduling.k8s.io', plural: 'priorityclasses', name }, why);
  },
});

export const priorityRules: Readonly<Record<string, KindRules>> = {
  'scheduling.k8s.io/v1/PriorityClass': priorityClass,
};
