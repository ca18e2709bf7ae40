import {
  appliedFields,
  describeObject,
  AlreadyOwnedError,
  controllerOf,
  fieldPath,
  labelValueOf,
  ownerUidLabel,
  groupOf,
} from '../object/index.js';
import type { KubernetesObject, OwnerReference } from '../object/index.js';
import { OperatorError } from '../system/index.js';

/** Annotation with the hash of the object that the operator last applied. */
export const appliedHashAnnotation = 'operator-builder.io/applied-hash';

/** The path of {@link appliedHashAnnotation}. */
export const appliedHashPath = fieldPath('metadata', 'annotations', appliedHashAnnotation);

/**
 * Annotation that controls pruning. `false`: never prune the object. `true`: prune it even if it is a claim,
 * a Namespace or a CustomResourceDefinition.
 */
export const pruneAnnotation = 'operator-builder.io/prune';

/** Annotation of an owner: the `metadata.generation` for which `maxDeletions` does not limit pruning. */
export const allowDeletionsAnnotation = 'operator-builder.io/allow-deletions';

/** Prefix of the owner's annotations that record which Jobs have run; see `desireOfRun`. */
export const ranAnnotationPrefix = 'operator-builder.io/ran-';

/** Label that names the part of the owner's objects that a chain manages; see `scope` of the builder's options. */
export const scopeLabel = 'operator-builder.io/scope';

/** Annotation of an object that outlives its owner: the owner's kind and group, as `Kind.group`. */
export const ownerKindAnnotation = 'operator-builder.io/owner-kind';

/** Annotation of an object that outlives its owner: the owner's name. */
export const ownerNameAnnotation = 'operator-builder.io/owner-name';

/** Label with the tool that manages the object: the `controllerName`. */
export const managedByLabel = 'app.kubernetes.io/managed-by';

/** A controller, and the `scope` of its chain. */
interface Applier {
  readonly controllerName: string;
  readonly scope: string | undefined;
}

/**
 * Returns true if this controller applied the object. Other code may create objects with the same owner as their
 * controller, so labels identify the objects of a controller. If a user removed the labels, `managedFields` still
 * shows whether this controller applied the hash last: a controller that takes the object over sets another hash.
 */
export function isAppliedBy(object: KubernetesObject, { controllerName, scope }: Applier): boolean {
  const { labels = {} } = object.metadata;
  if (labels[scopeLabel] !== scope) return false;
  if (labels[managedByLabel] === labelValueOf(controllerName)) return true;
  return appliedFields(object, controllerName)?.has(appliedHashPath) === true;
}

/** Whether a user deletes an owner with `--cascade=orphan`: the garbage collector releases its objects. */
export function isDeletedAlone({ metadata: { finalizers = [] } }: KubernetesObject): boolean {
  return finalizers.includes('orphan');
}

/** Ownership of a live object, from the view of one owner. */
export type Ownership =
  | { readonly state: 'ours' }
  /** An earlier owner of this kind and name was deleted and left the object; the owner may take it over. */
  | { readonly state: 'retained' }
  /** An earlier owner of this kind and name controls it; garbage collection will delete it. */
  | { readonly state: 'earlier' }
  | { readonly state: 'nobody' }
  | { readonly state: 'foreign'; readonly controller: OwnerReference };

/** Returns the ownership of `live`. UIDs identify the owner, because names can be reused. */
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

/** Returns `Kind.group`, or `Kind` for the core group. */
export function ownerKindOf(owner: KubernetesObject): string {
  const group = groupOf(owner.apiVersion);
  return group === '' ? owner.kind : `${owner.kind}.${group}`;
}

/** Returns the reason why an object that is being deleted still exists; it names the finalizers. */
export function reasonOfLeaving(object: KubernetesObject): string {
  return `is being deleted${heldBy(object)}`;
}

/**
 * Names the finalizers of an object that is being deleted, to add to a message. Returns an empty text if no finalizer
 * is left to name: it leaves out `foregroundDeletion`, which ends with the deletion of the object's dependents.
 */
export function heldBy({ metadata: { finalizers = [] } }: KubernetesObject): string {
  const held = finalizers.filter((name) => name !== 'foregroundDeletion');
  return held.length === 0 ? '' : `, held by finalizers ${held.join(', ')}`;
}

/** Returns the reason why an existing object can't be written yet; undefined if ownership allows it. */
export function reasonToWait(live: KubernetesObject, owner?: KubernetesObject): string | undefined {
  if (live.metadata.deletionTimestamp !== undefined) return reasonOfLeaving(live);
  if (owner === undefined || ownershipOf(live, owner).state !== 'earlier') return undefined;
  return `belongs to an earlier ${describeObject(owner)}, garbage collection will delete it`;
}

/**
 * Throws if `live` must not be overwritten.
 * @throws AlreadyOwnedError `AlreadyOwned`: another controller owns it.
 * @throws OperatorError `NotOurs`: it has no controller, and `adopt` is not set.
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
  const message = `${describeObject(live)} can't be applied: it exists without a controller; set adopt to take it over, or choose another name`;
  throw new OperatorError('NotOurs', message);
}

/**
 * Throws if a writer of whole objects must not take over `live`, which it has not written before: the object belongs to
 * a controller that `desired` does not name.
 * @throws OperatorError `AlreadyOwned`
 */
export function checkTakeover(live: KubernetesObject, desired: KubernetesObject): void {
  const controller = controllerOf(live);
  if (controller === undefined || controller.uid === controllerOf(desired)?.uid) return;
  const problem = `${describeObject(live)}: not taken over, its controller is ${controller.kind} ${controller.name}`;
  const remedy =
    'choose another name, write single fields with a Patcher, or remove that owner reference';
  throw new OperatorError('AlreadyOwned', `${problem}; ${remedy}`);
}
