import type { KubernetesObject, OwnerReference } from '../../../object/kubernetes-object.js';

/** Waits until its dependents are deleted. */
export const foregroundFinalizer = 'foregroundDeletion';
/** Waits until its dependents have let go of it. */
export const orphanFinalizer = 'orphan';

/** How an owner stands to the object that names it. */
export type OwnerState =
  /** It exists (with that UID, where the object can be owned from). */
  | 'solid'
  /** It does not exist: never did, or not any more, or only under another UID or elsewhere. */
  | 'dangling'
  /** It is being deleted in the foreground. */
  | 'waiting';

/** What garbage collection does with an object. */
export type CollectionVerdict =
  | { readonly type: 'keep' }
  /** Some owners are gone, others are there: only the references go. */
  | { readonly type: 'dropReferences'; readonly uids: readonly string[] }
  | {
      readonly type: 'delete';
      readonly propagationPolicy: 'Background' | 'Foreground' | 'Orphan';
      /** Its dependents wait for themselves in a circle: its references must not block first. */
      readonly unblock: boolean;
    };

/** What {@link collectionVerdict} goes by. */
export interface CollectionCase {
  readonly object: KubernetesObject;
  readonly stateOf: (reference: OwnerReference) => OwnerState;
  readonly dependents: readonly KubernetesObject[];
}

/** Whether an object that is not being deleted may stay, going by its owners. */
export function collectionVerdict({
  object,
  stateOf,
  dependents,
}: CollectionCase): CollectionVerdict {
  const references = object.metadata.ownerReferences ?? [];
  if (references.length === 0) return { type: 'keep' };
  const states = references.map((reference) => ({ reference, state: stateOf(reference) }));
  const gone = states.filter(({ state }) => state !== 'solid');
  if (gone.length === 0) return { type: 'keep' };
  if (gone.length < states.length) {
    // Waiting owners too: they would otherwise wait for an object that stays.
    return { type: 'dropReferences', uids: gone.map(({ reference }) => reference.uid) };
  }
  const waited = states.some(({ state }) => state === 'waiting');
  if (waited && dependents.length > 0) {
    const unblock = dependents.some(isDeletingDependents);
    return { type: 'delete', propagationPolicy: 'Foreground', unblock };
  }
  return { type: 'delete', propagationPolicy: policyOf(object), unblock: false };
}

/** Whether the object is being deleted and waits for its dependents to be deleted. */
export function isDeletingDependents({ metadata }: KubernetesObject): boolean {
  return metadata.deletionTimestamp !== undefined && hasFinalizer(metadata, foregroundFinalizer);
}

/** Whether the object is being deleted and its dependents are to stay. */
export function isOrphaningDependents({ metadata }: KubernetesObject): boolean {
  return metadata.deletionTimestamp !== undefined && hasFinalizer(metadata, orphanFinalizer);
}

/** A finalizer that the object has already says how its dependents are treated. */
function policyOf({ metadata }: KubernetesObject): 'Background' | 'Foreground' | 'Orphan' {
  if (hasFinalizer(metadata, orphanFinalizer)) return 'Orphan';
  return hasFinalizer(metadata, foregroundFinalizer) ? 'Foreground' : 'Background';
}

function hasFinalizer(metadata: KubernetesObject['metadata'], finalizer: string): boolean {
  return metadata.finalizers?.includes(finalizer) === true;
}
