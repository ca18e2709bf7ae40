import { isIP } from 'node:net';
import type {
  V1Affinity,
  V1Container,
  V1NodeSelectorTerm,
  V1Pod,
  V1PodSpec,
} from '@kubernetes/client-node';
import type { FieldErrors } from '../../crd/internal.js';
import { deepEqual, withoutMembers, qualifiedNameProblems, quoted } from '../../object/index.js';
import type { Wire } from '../../object/index.js';
import { validateIp } from './field-values.js';
import type { KindRules } from './kind-rules.js';
import { resizeRules } from './pod-resizes.js';

type Pod = Wire<V1Pod>;
type PodSpec = Wire<V1PodSpec>;

const updatable =
  'pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)';

/**
 * Checks the changes of a pod's spec: images, a nearer deadline, more tolerations, fewer scheduling gates.
 * While a pod has gates, its node selector and node affinity may become narrower.
 */
export function validatePodUpdate({ spec }: Pod, { spec: old }: Pod, errors: FieldErrors): void {
  if (spec === undefined || old === undefined) return;
  const isSameLength = (list: 'containers' | 'initContainers'): boolean => {
    // The decoder sets a missing list to null, as Go does.
    const length = (spec[list] as readonly unknown[] | null | undefined)?.length ?? 0;
    if (length === (old[list] ?? []).length) return true;
    errors.forbidden(`spec.${list}`, 'pod updates may not add or remove containers');
    return false;
  };
  if (!isSameLength('containers') || !isSameLength('initContainers')) return;
  if (!validateDeadline(spec, old, errors)) return;
  const kept = (old.tolerations ?? []).every((toleration) =>
    (spec.tolerations ?? []).some((one) =>
      deepEqual({ ...toleration, tolerationSeconds: one.tolerationSeconds }, { ...one }),
    ),
  );
  if (!kept) {
    const why = 'existing toleration can not be modified except its tolerationSeconds';
    errors.forbidden('spec.tolerations', why);
  }
  validateGates(spec, old, errors);
  const isGated = (old.schedulingGates ?? []).length > 0;
  if (isGated) {
    validateNodeSelector(spec, old, errors);
    validateNodeAffinity(spec, old, errors);
  }
  const { terminationGracePeriodSeconds: grace = 0 } = old;
  const wasNegative = grace < 0 && spec.terminationGracePeriodSeconds === 1;
  const compared = {
    ...withoutUpdatable(spec),
    ...(wasNegative && { terminationGracePeriodSeconds: grace }),
    ...(isGated && { nodeSelector: old.nodeSelector, affinity: withNodeAffinityOf(old, spec) }),
  };
  if (!deepEqual(compared, withoutUpdatable(old))) errors.forbidden('spec', updatable);
}

/** Checks that a deadline only comes nearer. @returns false if the real server stops at the problem */
function validateDeadline(
  { activeDeadlineSeconds: value }: PodSpec,
  { activeDeadlineSeconds: old }: PodSpec,
  errors: FieldErrors,
): boolean {
  const field = 'spec.activeDeadlineSeconds';
  if (value === undefined) {
    const why = 'must not update from a positive integer to nil value';
    if (old !== undefined) errors.invalid(field, undefined, why);
    return true;
  }
  if (old === undefined || value <= old) return true;
  errors.invalid(field, value, 'must be less than or equal to previous value');
  return false;
}

/** Checks that no scheduling gate is new. */
function validateGates(
  { schedulingGates = [] }: PodSpec,
  { schedulingGates: old = [] }: PodSpec,
  errors: FieldErrors,
): void {
  errors.each('spec.schedulingGates', schedulingGates, ({ name }, errors) => {
    if (old.some((gate) => gate.name === name)) return;
    errors.forbidden('name', `only deletion is allowed, but found new scheduling gate '${name}'`);
  });
}

function validateNodeSelector(
  { nodeSelector }: PodSpec,
  { nodeSelector: old = {} }: PodSpec,
  errors: FieldErrors,
): void {
  if (Object.entries(old).every(([label, value]) => nodeSelector?.[label] === value)) return;
  const why = 'only additions to spec.nodeSelector are allowed (no mutations or deletions)';
  errors.invalid('spec.nodeSelector', nodeSelector, why);
}

const required = 'requiredDuringSchedulingIgnoredDuringExecution';

/** Checks that the required node affinity, if there was one, only becomes narrower. */
function validateNodeAffinity(
  { affinity }: PodSpec,
  { affinity: old }: PodSpec,
  errors: FieldErrors,
): void {
  const before = old?.nodeAffinity?.[required]?.nodeSelectorTerms ?? [];
  const { nodeSelectorTerms: terms } = affinity?.nodeAffinity?.[required] ?? {};
  const field = `spec.affinity.nodeAffinity.${required}.nodeSelectorTerms`;
  if (before.length > 0 && before.length !== terms?.length) {
    const why = 'no additions/deletions to non-empty NodeSelectorTerms list are allowed';
    errors.invalid(field, terms, why);
    return;
  }
  for (const [index, term] of before.entries()) {
    const after = terms?.[index] ?? {};
    if (extendsTerm(after, term)) continue;
    const why = 'only additions are allowed (no mutations or deletions)';
    errors.invalid(`${field}[${index}]`, after, why);
  }
}

type Term = Wire<V1NodeSelectorTerm>;

/** Returns whether a term is `old`, or `old` and more requirements. An empty term selects no node. */
function extendsTerm(term: Term, old: Term): boolean {
  const lists = (['matchExpressions', 'matchFields'] as const).map((list) => ({
    requirements: term[list] ?? [],
    before: old[list] ?? [],
  }));
  if (lists.every(({ before }) => before.length === 0)) {
    return lists.every(({ requirements }) => requirements.length === 0);
  }
  return lists.every(({ requirements, before }) =>
    deepEqual(requirements.slice(0, before.length), before),
  );
}

/** Returns the affinity of `spec` with the node affinity of `old`, absent where `old` has none. */
function withNodeAffinityOf(
  { affinity: old }: PodSpec,
  { affinity }: PodSpec,
): Wire<V1Affinity> | undefined {
  const { nodeAffinity } = old ?? {};
  if (deepEqual(affinity?.nodeAffinity, nodeAffinity)) return affinity;
  const rest = withoutMembers(affinity ?? {}, 'nodeAffinity');
  if (nodeAffinity !== undefined) return { ...rest, nodeAffinity };
  return old === undefined && Object.keys(rest).length === 0 ? undefined : rest;
}

function withoutUpdatable(spec: PodSpec): object {
  const rest = withoutMembers(spec, 'activeDeadlineSeconds', 'tolerations', 'schedulingGates');
  const withoutImage = (container: Wire<V1Container>): unknown =>
    withoutMembers(container, 'image');
  return {
    ...rest,
    containers: spec.containers.map(withoutImage),
    initContainers: (spec.initContainers ?? []).map(withoutImage),
  };
}

function ephemeralSpec({ spec }: Pod, { spec: old }: Pod): unknown {
  const { ephemeralContainers } = spec ?? {};
  const kept = withoutMembers(old ?? {}, 'ephemeralContainers');
  return ephemeralContainers === undefined ? kept : { ...kept, ephemeralContainers };
}

/** Checks that ephemeral containers are only added. */
function validateEphemeralUpdate({ spec }: Pod, { spec: old }: Pod, errors: FieldErrors): void {
  for (const container of old?.ephemeralContainers ?? []) {
    const next = spec?.ephemeralContainers?.find(({ name }) => name === container.name);
    if (deepEqual(next, container)) continue;
    const why = `may not be ${next === undefined ? 'removed' : 'changed'}`;
    const shown = `existing ephemeral containers ${quoted(container.name)} ${why}\n`;
    errors.forbidden('spec.ephemeralContainers', shown);
  }
}

/** The rules of subresources that write parts of a pod's spec. */
export const podPartRules: NonNullable<KindRules['partRules']> = {
  ephemeralcontainers: {
    written: (object, old) => ({ spec: ephemeralSpec(object, old) }),
    validateUpdate: validateEphemeralUpdate,
  },
  resize: resizeRules,
};

/** Conditions whose names are not qualified. */
const systemConditions = ['PodScheduled', 'Ready', 'Initialized'];

/** Checks a written status of a pod: its conditions and addresses. */
export function validatePodStatus({ status = {} }: Pod, old: Pod, errors: FieldErrors): void {
  errors.each('status.conditions', status.conditions, ({ type }, errors) => {
    if (systemConditions.includes(type)) return;
    errors.invalidEach('Type', type, qualifiedNameProblems(type));
  });
  errors.immutable('status.qosClass', status.qosClass, old.status?.qosClass);
  validateAddresses(
    { field: 'status.podIPs', list: status.podIPs, old: old.status?.podIPs },
    errors,
  );
  const { hostIP = '', hostIPs = [] } = status;
  const [first] = hostIPs;
  if (first !== undefined && ipOf(first) !== hostIP) {
    errors.invalid('status.hostIPs[0].ip', ipOf(first), 'must be equal to `hostIP`');
  }
  validateAddresses({ field: 'status.hostIPs', list: hostIPs, old: old.status?.hostIPs }, errors);
}

type Address = Readonly<Partial<Record<'ip', string>>>;

interface Addresses {
  readonly field: string;
  readonly list: readonly Address[] | undefined;
  /** The addresses before the update: they may stay, even if they are invalid. */
  readonly old: readonly Address[] | undefined;
}

function ipOf({ ip = '' }: Address): string {
  return ip;
}

/** Checks that addresses are valid, at most one of each family. */
function validateAddresses({ field, list = [], old = [] }: Addresses, errors: FieldErrors): void {
  const [ips, before] = [list.map(ipOf), old.map(ipOf)];
  errors.each(field, ips, (ip, errors) => {
    if (!before.includes(ip)) validateIp(ip, errors);
  });
  if (ips.length < 2) return;
  const wrong = ips.findIndex((ip) => isIP(ip) === 0);
  if (wrong >= 0) {
    const why = `invalid IP[${wrong}]: ${ips[wrong] ?? ''}`;
    errors.internal(field, `failed to check for dual stack with error:${why}`);
  }
  if (wrong >= 0 || ips.length > 2 || new Set(ips.map(isIP)).size < 2) {
    errors.invalid(field, list, 'may specify no more than one IP for each IP family');
  }
}
