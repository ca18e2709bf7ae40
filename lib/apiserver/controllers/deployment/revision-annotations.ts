import type { Deployment, ReplicaSet } from '../../../object/kinds.js';

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
export type Annotations = Record<string, string>;

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
