import { deepEqual } from '../../../object/deep-equal.js';
import type { Deployment, ReplicaSet } from '../../../object/kinds.js';
import type { ObjectMeta } from '../../../object/kubernetes-object.js';
import { ownerReferenceTo } from '../../../object/owner-reference.js';
import { safeHash } from '../safe-hash.js';

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

/** Returns true if a ReplicaSet has the Deployment's template. */
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
export const desiredReplicasAnnotation = 'deployment.kubernetes.io/desired-replicas';
/** `spec.replicas` plus surge of the Deployment when the ReplicaSet was last scaled. */
export const maxReplicasAnnotation = 'deployment.kubernetes.io/max-replicas';
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

/** Annotations of an object. */
type Annotations = Record<string, string>;

/** Returns the revision of a ReplicaSet, or 0 without a valid one. */
export function revisionOf(set: ReplicaSet): number {
  const revision = Number(set.metadata.annotations?.[revisionAnnotation] ?? 0);
  return Number.isInteger(revision) ? revision : 0;
}

/**
 * Returns the annotations for the newest ReplicaSet: `current`, those of the Deployment, and a revision of at
 * least `revision`.
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
export function numberAnnotation(set: ReplicaSet, name: string): number | undefined {
  const text = set.metadata.annotations?.[name];
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined;
}

function longerHistory(annotations: Annotations, revision: string): string {
  const known = (annotations[revisionHistoryAnnotation] ?? '').split(',').filter(Boolean);
  const history = [...known, revision];
  while (history.join(',').length > longestHistory) history.shift();
  return history.join(',');
}

// A limit of this many means no limit.
const noLimit = 2 ** 31 - 1;

/** Returns the old ReplicaSets beyond `revisionHistoryLimit`, oldest revisions first; never one with pods. */
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
