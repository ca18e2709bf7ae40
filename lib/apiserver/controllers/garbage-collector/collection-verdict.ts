import type { KubernetesObject, OwnerReference } from '../../../object/kubernetes-object.js';

/** The finalizer of an owner that waits until its dependents are deleted. */
export const foregroundFinalizer = 'foregroundDeletion';
/** The finalizer of an owner that waits until its dependents no longer reference it. */
export const orphanFinalizer = 'orphan';

/** The state of an owner, as seen from the object that references it. */
export type OwnerState =
  /** The owner exists with this UID, in a place from which it can own the object. */
  | 'solid'
  /** The owner does not exist: never, no longer, or only with another UID or in another namespace. */
  | 'dangling'
  /** The owner is being deleted in the foreground. */
  | 'waiting';

/** Decision of the garbage collector about an object. */
export type CollectionVerdict =
  | { readonly type: 'keep' }
  /** Some owners are gone and others exist: only the references to the former are removed. */
  | { readonly type: 'dropReferences'; readonly uids: readonly string[] }
  | {
      readonly type: 'delete';
      readonly propagationPolicy: 'Background' | 'Foreground' | 'Orphan';
      /**
       * True if dependents may wait for each other in a circle. The object's own references must first stop
       * blocking their owners.
       */
      readonly unblock: boolean;
    };

/** Input of {@link collectionVerdict}. */
export interface CollectionCase {
  readonly object: KubernetesObject;
  readonly stateOf: (reference: OwnerReference) => OwnerState;
  readonly dependents: readonly KubernetesObject[];
}

/** Decides by its owners whether an object that is not being deleted may stay. */
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
    // Includes waiting owners, which would otherwise wait for an object that stays.
    return { type: 'dropReferences', uids: gone.map(({ reference }) => reference.uid) };
  }
  const waited = states.some(({ state }) => state === 'waiting');
  if (waited && dependents.length > 0) {
    const unblock = dependents.some(isDeletingDependents);
    return { type: 'delete', propagationPolicy: 'Foreground', unblock };
  }
  return { type: 'delete', propagationPolicy: policyOf(object), unblock: false };
}

/** Returns true if the object is being deleted and waits for its dependents to be deleted. */
export function isDeletingDependents({ metadata }: KubernetesObject): boolean {
  return metadata.deletionTimestamp !== undefined && hasFinalizer(metadata, foregroundFinalizer);
}

/** Returns true if the object is being deleted and its dependents stay. */
export function isOrphaningDependents({ metadata }: KubernetesObject): boolean {
  return metadata.deletionTimestamp !== undefined && hasFinalizer(metadata, orphanFinalizer);
}

/** Returns the policy of the object's finalizers, by default `Background`. */
function policyOf({ metadata }: KubernetesObject): 'Background' | 'Foreground' | 'Orphan' {
  if (hasFinalizer(metadata, orphanFinalizer)) return 'Orphan';
  return hasFinalizer(metadata, foregroundFinalizer) ? 'Foreground' : 'Background';
}

function hasFinalizer(metadata: KubernetesObject['metadata'], finalizer: string): boolean {
  return metadata.finalizers?.includes(finalizer) === true;
}
