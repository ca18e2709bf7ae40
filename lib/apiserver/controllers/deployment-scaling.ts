import { deepEqual, ownerReferenceTo } from '../../object/index.js';
import type { Deployment, ReplicaSet, ObjectMeta } from '../../object/index.js';
import { intOrPercent, timestampMs } from './pod-state.js';
import { safeHash } from './controller-revisions.js';

/** A Deployment and its ReplicaSets; `old` starts with the oldest. */
export interface Rollout {
  readonly deployment: Deployment;
  readonly current: ReplicaSet | undefined;
  readonly old: readonly ReplicaSet[];
}

/** Returns true if `spec.replicas` of the Deployment changed since its ReplicaSets were scaled. */
export function isScalingEvent({ deployment, current, old }: Rollout): boolean {
  return active(current === undefined ? old : [...old, current]).some((set) => {
    const desired = numberAnnotation(set, desiredReplicasAnnotation);
    return desired !== undefined && desired !== desiredReplicas(deployment);
  });
}

/** Returns the steps for a Deployment that is paused or resized. Its rollout does not proceed meanwhile. */
export function scalingSteps(rollout: Rollout): ScaleStep[] {
  const { deployment, current, old } = rollout;
  const desired = desiredReplicas(deployment);
  const sets = active(current === undefined ? old : [...old, current]);
  if (sets.length <= 1) {
    const only = sets[0] ?? current ?? old.at(-1);
    return only === undefined ? [] : [{ name: nameOf(only), replicas: desired }];
  }
  if (current !== undefined && isSaturated(current, desired)) {
    return active(old).map((set) => ({ name: nameOf(set), replicas: 0 }));
  }
  if (deployment.spec?.strategy?.type === 'Recreate') return [];
  return proportionalSteps({
    desired,
    maxSurge: rolloutLimits(deployment).maxSurge,
    statusReplicas: deployment.status?.replicas ?? 0,
    active: sets.map((set) => ({
      name: nameOf(set),
      replicas: replicasOf(set),
      maxReplicas: numberAnnotation(set, maxReplicasAnnotation),
      createdMs: timestampMs(set.metadata.creationTimestamp),
    })),
  });
}

export function rollingUpdateOf(rollout: Rollout, current: ReplicaSet): RollingUpdate {
  const { deployment, old } = rollout;
  return {
    ...rolloutLimits(deployment),
    desired: desiredReplicas(deployment),
    current: sizeOf(current),
    old: active(old).map(sizeOf),
  };
}

/** Returns `spec.replicas` of a Deployment, by default 1. */
export function desiredReplicas(deployment: Deployment): number {
  return deployment.spec?.replicas ?? 1;
}

/** Returns `spec.replicas` of a ReplicaSet, by default 1. */
export function replicasOf(set: ReplicaSet): number {
  return set.spec?.replicas ?? 1;
}

function active(sets: readonly ReplicaSet[]): ReplicaSet[] {
  return sets.filter((set) => replicasOf(set) > 0);
}

function sizeOf(set: ReplicaSet): ReplicaSetSize {
  const available = set.status?.availableReplicas ?? 0;
  return { name: nameOf(set), replicas: replicasOf(set), available };
}

function isSaturated(set: ReplicaSet, desired: number): boolean {
  return (
    replicasOf(set) === desired &&
    numberAnnotation(set, desiredReplicasAnnotation) === desired &&
    (set.status?.availableReplicas ?? 0) === desired
  );
}

function nameOf(set: ReplicaSet): string {
  return set.metadata.name ?? '';
}

/** The size of a ReplicaSet during a rolling update. */
export interface ReplicaSetSize {
  readonly name: string;
  /** `spec.replicas`. */
  readonly replicas: number;
  /** `status.availableReplicas`. */
  readonly available: number;
}

/** The state of a rolling update; `old` starts with the oldest ReplicaSet. */
export interface RollingUpdate extends RolloutLimits {
  readonly desired: number;
  readonly current: ReplicaSetSize;
  readonly old: readonly ReplicaSetSize[];
}

/** A ReplicaSet to scale. */
export interface ScaleStep {
  readonly name: string;
  readonly replicas: number;
}

/**
 * Returns the next steps of a rolling update; an empty list means to wait. The new ReplicaSet grows as far as
 * `maxSurge` allows. If it cannot grow, old ReplicaSets shrink as far as `maxUnavailable` allows, their
 * unavailable pods first.
 */
export function rollingUpdateSteps(update: RollingUpdate): ScaleStep[] {
  const { current } = update;
  const replicas = newReplicaSetSize(update);
  if (replicas !== current.replicas) return [{ name: current.name, replicas }];
  return oldReplicaSetSteps(update);
}

/** Returns the number of replicas that the new ReplicaSet may have now. */
export function newReplicaSetSize(update: RollingUpdate): number {
  const { desired, maxSurge, current, old } = update;
  if (current.replicas >= desired) return desired;
  const room = desired + maxSurge - (total(old) + current.replicas);
  return Math.min(desired, current.replicas + Math.max(0, room));
}

function oldReplicaSetSteps(update: RollingUpdate): ScaleStep[] {
  const { desired, maxUnavailable, current, old } = update;
  if (total(old) === 0) return [];
  const minAvailable = desired - maxUnavailable;
  const newUnavailable = current.replicas - current.available;
  const maxScaledDown = total(old) + current.replicas - minAvailable - newUnavailable;
  if (maxScaledDown <= 0) return [];
  const healthy = withoutUnavailable(old, maxScaledDown);
  const available = [...healthy, current].reduce((sum, set) => sum + set.available, 0);
  const shrunk = shrinkOldestFirst(healthy, available - minAvailable);
  return shrunk
    .filter((set, index) => set.replicas !== old[index]?.replicas)
    .map(({ name, replicas }) => ({ name, replicas }));
}

/** Removes unavailable pods first. Otherwise a new rollout could never replace a broken rollout. */
function withoutUnavailable(old: readonly ReplicaSetSize[], limit: number): ReplicaSetSize[] {
  let left = limit;
  return old.map((set) => {
    const taken = Math.max(0, Math.min(left, set.replicas - set.available));
    left -= taken;
    return { ...set, replicas: set.replicas - taken };
  });
}

function shrinkOldestFirst(old: readonly ReplicaSetSize[], limit: number): ReplicaSetSize[] {
  let left = Math.max(0, limit);
  return old.map((set) => {
    const taken = Math.min(left, set.replicas);
    left -= taken;
    return { ...set, replicas: set.replicas - taken };
  });
}

function total(sets: readonly ReplicaSetSize[]): number {
  return sets.reduce((sum, { replicas }) => sum + replicas, 0);
}

/** A ReplicaSet with pods, as {@link proportionalSteps} reads it. */
interface ScalableReplicaSet {
  readonly name: string;
  readonly replicas: number;
  /** The annotation `max-replicas`: replicas plus surge of the Deployment when the ReplicaSet was last scaled. */
  readonly maxReplicas: number | undefined;
  readonly createdMs: number;
}

/** A Deployment that is scaled while several of its ReplicaSets have pods. */
interface ProportionalScaling {
  readonly desired: number;
  readonly maxSurge: number;
  /** `status.replicas` of the Deployment. */
  readonly statusReplicas: number;
  /** The ReplicaSets with pods. */
  readonly active: readonly ScalableReplicaSet[];
}

/**
 * Distributes the replicas that a Deployment gains or loses among its ReplicaSets in proportion to their
 * sizes. That limits the risk, because neither the old nor the new version takes the whole change. When many
 * small ReplicaSets shrink, rounding may keep up to one replica too many in each. As in Kubernetes, the
 * rollout removes those.
 */
export function proportionalSteps(scaling: ProportionalScaling): ScaleStep[] {
  const { desired, maxSurge, active } = scaling;
  const allowed = desired > 0 ? desired + maxSurge : 0;
  const missing = allowed - active.reduce((sum, { replicas }) => sum + replicas, 0);
  const bySize = active.toSorted((a, b) => compareSize(a, b, missing));
  let shared = 0;
  const sizes = bySize.map((set) => {
    const part = proportion(set, scaling, { missing, shared });
    shared += part;
    return { name: set.name, replicas: set.replicas + part };
  });
  // The largest ReplicaSet takes the remainder of the rounding, down to 0 replicas.
  return sizes.map(({ name, replicas }, index) => ({
    name,
    replicas: index === 0 ? Math.max(0, replicas + missing - shared) : replicas,
  }));
}

/** Sorts larger ReplicaSets first. Of equal sizes, the newer one grows first and the older one shrinks first. */
function compareSize(a: ScalableReplicaSet, b: ScalableReplicaSet, missing: number): number {
  if (a.replicas !== b.replicas) return b.replicas - a.replicas;
  return missing > 0 ? b.createdMs - a.createdMs : a.createdMs - b.createdMs;
}

function proportion(
  set: ScalableReplicaSet,
  scaling: ProportionalScaling,
  { missing, shared }: { readonly missing: number; readonly shared: number },
): number {
  if (set.replicas === 0 || missing === shared) return 0;
  const fraction = fractionOf(set, scaling);
  const left = missing - shared;
  return missing > 0 ? Math.min(fraction, left) : Math.max(fraction, left);
}

function fractionOf(set: ScalableReplicaSet, scaling: ProportionalScaling): number {
  const { desired, maxSurge, statusReplicas } = scaling;
  if (desired === 0) return -set.replicas;
  const before =
    set.maxReplicas === undefined || set.maxReplicas === 0 ? statusReplicas : set.maxReplicas;
  if (before === 0) return 0;
  return Math.round((set.replicas * (desired + maxSurge)) / before) - set.replicas;
}

/** The limits within which a rollout may deviate from the desired number of pods. */
interface RolloutLimits {
  /** The maximum number of pods above the desired number. */
  readonly maxSurge: number;
  /** The maximum number of pods below the desired number that may be unavailable. */
  readonly maxUnavailable: number;
}

/** Returns the limits of a Deployment's strategy with percentages resolved; both are 0 for `Recreate`. */
export function rolloutLimits(deployment: Deployment): RolloutLimits {
  const { strategy, replicas = 1 } = deployment.spec ?? {};
  if (strategy?.type === 'Recreate') return { maxSurge: 0, maxUnavailable: 0 };
  const { maxSurge = '25%', maxUnavailable = '25%' } = strategy?.rollingUpdate ?? {};
  const surge = intOrPercent(maxSurge, replicas, 'up');
  const unavailable = intOrPercent(maxUnavailable, replicas, 'down');
  // Both limits may round to 0. One pod may then be unavailable, or the rollout could not proceed.
  const resolved = surge === 0 && unavailable === 0 ? 1 : unavailable;
  return { maxSurge: surge, maxUnavailable: Math.min(resolved, replicas) };
}

/** The label that distinguishes the pods of a Deployment's ReplicaSets. */
const podTemplateHashLabel = 'pod-template-hash';

const longestName = 253;

/** Revision and size of a ReplicaSet of {@link newReplicaSet}. */
interface NewReplicaSetSize {
  readonly revision: number;
  readonly replicas: number;
  readonly maxSurge: number;
}

/** Returns the ReplicaSet for the Deployment's current template. */
export function newReplicaSet(deployment: Deployment, size: NewReplicaSetSize): ReplicaSet {
  const { metadata, spec, status } = deployment;
  const { template, selector, minReadySeconds, replicas: desired = 1 } = spec ?? {};
  const hash = safeHash(template, status?.collisionCount ?? 0);
  const labels = { ...template?.metadata?.labels, [podTemplateHashLabel]: hash };
  const copied = newReplicaSetAnnotations(deployment, {}, size.revision);
  const replicaSetMetadata: ObjectMeta = {
    name: `${(metadata.name ?? '').slice(0, longestName - hash.length - 1)}-${hash}`,
    namespace: metadata.namespace ?? '',
    labels,
    annotations: { ...copied, ...sizeAnnotations(desired, size.maxSurge) },
    ownerReferences: [ownerReferenceTo(deployment, { controller: true, blockOwnerDeletion: true })],
  };
  const matchLabels = { ...selector?.matchLabels, [podTemplateHashLabel]: hash };
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: replicaSetMetadata,
    spec: {
      replicas: size.replicas,
      ...(minReadySeconds !== undefined && { minReadySeconds }),
      selector: { ...selector, matchLabels },
      template: { ...template, metadata: { ...template?.metadata, labels } },
    },
  };
}

export function hasTemplateOf(set: ReplicaSet, deployment: Deployment): boolean {
  return deepEqual(withoutHash(set.spec?.template), withoutHash(deployment.spec?.template));
}

type Template = NonNullable<ReplicaSet['spec']>['template'];

function withoutHash(template: Template): Template {
  const labels = Object.entries(template?.metadata?.labels ?? {});
  const kept = Object.fromEntries(labels.filter(([key]) => key !== podTemplateHashLabel));
  return { ...template, metadata: { ...template?.metadata, labels: kept } };
}

/** The version number of a Deployment's template, on the Deployment and its ReplicaSets. */
export const revisionAnnotation = 'deployment.kubernetes.io/revision';
/** `spec.replicas` of the Deployment when the ReplicaSet was last scaled. */
const desiredReplicasAnnotation = 'deployment.kubernetes.io/desired-replicas';
/** `spec.replicas` plus surge of the Deployment when the ReplicaSet was last scaled. */
const maxReplicasAnnotation = 'deployment.kubernetes.io/max-replicas';
const revisionHistoryAnnotation = 'deployment.kubernetes.io/revision-history';

const longestHistory = 2000;
const notCopied = new Set([
  'kubectl.kubernetes.io/last-applied-configuration',
  'deprecated.deployment.rollback.to',
  revisionAnnotation,
  revisionHistoryAnnotation,
  desiredReplicasAnnotation,
  maxReplicasAnnotation,
]);

type Annotations = Record<string, string>;

/** Returns the revision of a ReplicaSet, or 0 without a valid one. */
export function revisionOf(set: ReplicaSet): number {
  const revision = Number(set.metadata.annotations?.[revisionAnnotation] ?? 0);
  return Number.isInteger(revision) ? revision : 0;
}

/**
 * Returns the annotations for the newest ReplicaSet: `current`, the Deployment's annotations, and a revision
 * of at least `revision`.
 */
export function newReplicaSetAnnotations(
  deployment: Deployment,
  current: Annotations,
  revision: number,
): Annotations {
  const copied = Object.entries(deployment.metadata.annotations ?? {}).filter(
    ([key]) => !notCopied.has(key),
  );
  const annotations = { ...current, ...Object.fromEntries(copied) };
  const had = annotations[revisionAnnotation];
  if (Number(had ?? 0) >= revision) return annotations;
  const history = had === undefined ? undefined : longerHistory(annotations, had);
  return {
    ...annotations,
    ...(history !== undefined && { [revisionHistoryAnnotation]: history }),
    [revisionAnnotation]: String(revision),
  };
}

/** Returns the annotations that record the size of the Deployment when a ReplicaSet is scaled. */
export function sizeAnnotations(desired: number, maxSurge: number): Annotations {
  return {
    [desiredReplicasAnnotation]: String(desired),
    [maxReplicasAnnotation]: String(desired + maxSurge),
  };
}

/** Returns the non-negative integer in an annotation, or undefined. */
function numberAnnotation(set: ReplicaSet, name: string): number | undefined {
  const text = set.metadata.annotations?.[name];
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined;
}

function longerHistory(annotations: Annotations, revision: string): string {
  const known = (annotations[revisionHistoryAnnotation] ?? '').split(',').filter(Boolean);
  const history = [...known, revision];
  while (history.join(',').length > longestHistory) history.shift();
  return history.join(',');
}

// A `revisionHistoryLimit` of this number means no limit.
const noLimit = 2 ** 31 - 1;

/** Returns the old ReplicaSets beyond `revisionHistoryLimit`, oldest revisions first; never a ReplicaSet with pods. */
export function replicaSetsToPrune(
  deployment: Deployment,
  old: readonly ReplicaSet[],
): ReplicaSet[] {
  const limit = deployment.spec?.revisionHistoryLimit ?? noLimit;
  if (limit === noLimit) return [];
  const alive = old.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const surplus = Math.max(0, alive.length - limit);
  const oldestFirst = alive.toSorted((a, b) => revisionOf(a) - revisionOf(b));
  return oldestFirst.slice(0, surplus).filter(isEmpty);
}

function isEmpty({ metadata, spec, status }: ReplicaSet): boolean {
  const observed = (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0);
  return observed && (status?.replicas ?? 0) === 0 && spec?.replicas === 0;
}
