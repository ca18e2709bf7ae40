import type { KubernetesObject, OwnerReference } from '../../../object/kubernetes-object.js';
import { ownerReferenceTo } from '../../../object/owner-reference.js';
import type { StatefulSet } from '../../../object/kinds.js';

/** Whose claim it is, and whether its pod has gone by scaling down. */
export interface ClaimOwners {
  readonly set: StatefulSet;
  /** The pod that mounts the claim; a pod that does not exist yet owns nothing. */
  readonly pod: KubernetesObject;
  readonly scaledDown: boolean;
}

/** `persistentVolumeClaimRetentionPolicy` with its defaults. */
export interface RetentionPolicy {
  readonly whenDeleted: string;
  readonly whenScaled: string;
}

/** What becomes of the claims of a StatefulSet; both `Retain` by default. */
export function retentionPolicyOf(set: StatefulSet): RetentionPolicy {
  const { whenDeleted = 'Retain', whenScaled = 'Retain' } =
    set.spec?.persistentVolumeClaimRetentionPolicy ?? {};
  return { whenDeleted, whenScaled };
}

/**
 * The owner references that a claim should have so that garbage collection carries out the retention
 * policy: the set (deleted with it), the pod (deleted with it, once it is scaled down), or neither.
 * Claims with a reference to an earlier set or pod of the name are left as they are: garbage
 * collection is about to take them. A foreign controller switches the policy off for its claim.
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

/** Whether a claim belongs to an earlier pod of the name, and so must go before a new pod comes. */
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
