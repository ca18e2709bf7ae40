import { describeObject } from '../object/describe-object.js';
import type { KubernetesObject, OwnerReference } from '../object/kubernetes-object.js';
import { AlreadyOwnedError, controllerOf, ownerUidLabel } from '../object/owner-reference.js';
import { groupOf } from '../object/resource-type.js';
import { OperatorError } from '../system/operator-error.js';

/** The hash of the object as we last applied it. */
export const appliedHashAnnotation = 'operator-builder.io/applied-hash';

/**
 * `false`: never prune the object. `true`, on a claim, a Namespace or a CustomResourceDefinition: do.
 */
export const pruneAnnotation = 'operator-builder.io/prune';

/**
 * On an owner: the `metadata.generation` at which more objects may be pruned than `maxDeletions` allows.
 */
export const allowDeletionsAnnotation = 'operator-builder.io/allow-deletions';

/** On an owner: what the annotations begin with that say which Jobs have run; see `desireOfRun`. */
export const ranAnnotationPrefix = 'operator-builder.io/ran-';

/** The part of the owner's objects that a chain is; see `scope` of the builder's options. */
export const scopeLabel = 'operator-builder.io/scope';

/** On what outlives its owner: the owner's kind and group, as `Kind.group`. */
export const ownerKindAnnotation = 'operator-builder.io/owner-kind';

/** On what outlives its owner: the owner's name. */
export const ownerNameAnnotation = 'operator-builder.io/owner-name';

/** Whose tool manages the object: our `controllerName`. */
export const managedByLabel = 'app.kubernetes.io/managed-by';

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
