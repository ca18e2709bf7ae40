import { describeObject } from '../object/describe-object.js';
import type { KubernetesObject, OwnerReference } from '../object/kubernetes-object.js';
import { AlreadyOwnedError, controllerOf, ownerUidLabel } from '../object/owner-reference.js';
import { groupOf } from '../object/resource-type.js';
import { OperatorError } from '../system/operator-error.js';
import { ownerKindAnnotation, ownerNameAnnotation } from './marks.js';

/** Whose a live object is, seen from an owner. */
export type Ownership =
  | { readonly state: 'ours' }
  /** Kept when an earlier owner of this kind and name was deleted; ours to take over. */
  | { readonly state: 'retained' }
  /** An earlier owner of this kind and name controls it: garbage collection is about to take it. */
  | { readonly state: 'earlier' }
  | { readonly state: 'nobody' }
  | { readonly state: 'foreign'; readonly controller: OwnerReference };

/** Says whose `live` is. Identity is the owner's UID: names come back, UIDs do not. */
export function ownershipOf(live: KubernetesObject, owner: KubernetesObject): Ownership {
  const controller = controllerOf(live);
  if (controller === undefined) return ownershipByMarks(live, owner);
  if (controller.uid === owner.metadata.uid) return { state: 'ours' };
  const sameName =
    controller.name === owner.metadata.name &&
    controller.kind === owner.kind &&
    groupOf(controller.apiVersion) === groupOf(owner.apiVersion);
  return sameName ? { state: 'earlier' } : { state: 'foreign', controller };
}

function ownershipByMarks(live: KubernetesObject, owner: KubernetesObject): Ownership {
  const { labels = {}, annotations = {} } = live.metadata;
  const uid = labels[ownerUidLabel];
  if (uid === undefined) return { state: 'nobody' };
  if (uid === owner.metadata.uid) return { state: 'ours' };
  const sameName =
    annotations[ownerKindAnnotation] === ownerKindOf(owner) &&
    annotations[ownerNameAnnotation] === owner.metadata.name;
  return sameName ? { state: 'retained' } : { state: 'nobody' };
}

/** `Kind.group`, or `Kind` for the core group. */
export function ownerKindOf(owner: KubernetesObject): string {
  const group = groupOf(owner.apiVersion);
  return group === '' ? owner.kind : `${owner.kind}.${group}`;
}

/** Why an object that exists can't be written yet; undefined: it can, as far as this goes. */
export function reasonToWait(live: KubernetesObject, owner: KubernetesObject): string | undefined {
  const { deletionTimestamp, finalizers = [] } = live.metadata;
  if (deletionTimestamp !== undefined) {
    return `is being deleted${finalizers.length === 0 ? '' : ` (finalizers: ${finalizers.join(', ')})`}`;
  }
  if (ownershipOf(live, owner).state !== 'earlier') return undefined;
  return `belongs to an earlier ${describeObject(owner)}, garbage collection will take it`;
}

/**
 * Refuses to write over what is not ours.
 * @throws AlreadyOwnedError `AlreadyOwned`: another controller has it.
 * @throws OperatorError `NotOurs`: nobody has it, and `adopt` is not set.
 */
export function checkOwnership(
  live: KubernetesObject,
  owner: KubernetesObject,
  adopt: boolean,
): void {
  const ownership = ownershipOf(live, owner);
  if (ownership.state === 'foreign') {
    throw new AlreadyOwnedError(live, owner, ownership.controller);
  }
  if (ownership.state !== 'nobody' || adopt) return;
  const message = `${describeObject(live)} can't be applied: it exists and nobody controls it; set adopt to take it over, or choose another name`;
  throw new OperatorError('NotOurs', message);
}
