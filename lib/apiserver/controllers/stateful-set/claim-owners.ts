import type { KubernetesObject, OwnerReference } from '../../../object/kubernetes-object.js';
import { ownerReferenceTo } from '../../../object/owner-reference.js';
import type { StatefulSet } from '../../../object/kinds.js';

/** The possible owners of a claim. `scaledDown` is true if the set no longer wants the pod's ordinal. */
export interface ClaimOwners {
  readonly set: StatefulSet;
  /** The pod that mounts the claim. A pod that does not exist yet owns nothing. */
  readonly pod: KubernetesObject;
  readonly scaledDown: boolean;
}

/** `persistentVolumeClaimRetentionPolicy` with its defaults. */
export interface RetentionPolicy {
  readonly whenDeleted: string;
  readonly whenScaled: string;
}

/** Returns the retention policy for the claims of a StatefulSet; both fields are `Retain` by default. */
export function retentionPolicyOf(set: StatefulSet): RetentionPolicy {
  const { whenDeleted = 'Retain', whenScaled = 'Retain' } =
    set.spec?.persistentVolumeClaimRetentionPolicy ?? {};
  return { whenDeleted, whenScaled };
}

/**
 * Returns the owner references with which garbage collection carries out the retention policy: the set, the
 * scaled-down pod, or neither. A claim with a reference to an earlier set or pod of the same name stays
 * unchanged, because garbage collection is about to delete it. Another controller of the claim disables the
 * policy.
 */
export function claimOwnerReferences(
  references: readonly OwnerReference[],
  owners: ClaimOwners,
): readonly OwnerReference[] {
  const { set, pod, scaledDown } = owners;
  if (isStale(references, set) || isStale(references, pod)) return references;
  const policy = retentionPolicyOf(set);
  const others = references.filter((reference) => !names(reference, set) && !names(reference, pod));
  const guarded = policy.whenDeleted === 'Delete' || policy.whenScaled === 'Delete';
  if (guarded && others.some(({ controller }) => controller === true)) return others;
  const bySet = policy.whenDeleted === 'Delete' && !(policy.whenScaled === 'Delete' && scaledDown);
  const byPod = policy.whenScaled === 'Delete' && scaledDown;
  const as = { controller: true, blockOwnerDeletion: true };
  return [
    ...others,
    ...(bySet ? [ownerReferenceTo(set, as)] : []),
    ...(byPod ? [ownerReferenceTo(pod, as)] : []),
  ];
}

/**
 * Returns true if a reference names an earlier object with the owner's name. A new pod must wait until such a
 * claim is deleted.
 */
export function isStale(references: readonly OwnerReference[], owner: KubernetesObject): boolean {
  return references.some(
    (reference) => names(reference, owner) && reference.uid !== owner.metadata.uid,
  );
}

function names(
  reference: OwnerReference,
  { apiVersion, kind, metadata }: KubernetesObject,
): boolean {
  const sameKind = reference.apiVersion === apiVersion && reference.kind === kind;
  return sameKind && reference.name === metadata.name;
}
