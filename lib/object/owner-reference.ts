import { OperatorError, refuseUnknownOptions } from '../system/index.js';
import { describeObject } from './describe-object.js';
import type { KubernetesObject, OwnerReference } from './kubernetes-object.js';
import { groupOf } from './resource-type.js';

/** The label with the owner's UID on objects that outlive their owner and so have no owner reference. */
export const ownerUidLabel = 'operator-builder.io/owner-uid';

/** Options of {@link ownerReferenceTo}. */
export interface OwnerReferenceOptions {
  /** The owner manages the object. @defaultValue false */
  readonly controller?: boolean;
  /** Foreground deletion of the owner waits for the object. @defaultValue false */
  readonly blockOwnerDeletion?: boolean;
}

/** The scopes of owner and object, which decide whether the reference is allowed. */
export interface OwnershipScopes {
  /** Whether the owner's kind is namespaced. */
  readonly ownerNamespaced: boolean;
  /** Whether the object's kind is namespaced. */
  readonly objectNamespaced: boolean;
}

/** The object already has another controller; an object has at most one. */
export class AlreadyOwnedError extends OperatorError {
  /** The object's current controller. */
  readonly controller: OwnerReference;

  constructor(object: KubernetesObject, owner: KubernetesObject, controller: OwnerReference) {
    const wanted = describeObject(owner);
    const has = `${controller.kind} ${controller.name}`;
    const earlier =
      controller.kind === owner.kind && controller.name === owner.metadata.name
        ? ' of an earlier object with that name (another UID): wait until garbage collection has deleted the object'
        : '; choose another name, or remove that owner reference';
    const message = `${describeObject(object)}: can't be controlled by ${wanted}, its controller is ${has}`;
    super('AlreadyOwned', message + earlier);
    this.controller = controller;
  }
}

/** Returns the reference to the object's controller, or undefined. */
export function controllerOf(object: KubernetesObject): OwnerReference | undefined {
  return object.metadata.ownerReferences?.find((reference) => reference.controller === true);
}

/** Whether `owner`, identified by its UID, is the controller of `object`. */
export function isControlledBy(object: KubernetesObject, owner: KubernetesObject): boolean {
  const { uid } = owner.metadata;
  return uid !== undefined && uid !== '' && controllerOf(object)?.uid === uid;
}

/**
 * Returns an owner reference to `owner`. By default, it serves garbage collection only. For `owns`, an object needs its
 * owner as its controller: use `setControllerReference`.
 * @throws OperatorError `InvalidOwner`: it has no name or UID, so it is not a live object.
 */
export function ownerReferenceTo(
  owner: KubernetesObject,
  options: OwnerReferenceOptions = {},
): OwnerReference {
  const { controller = false, blockOwnerDeletion = false } = options;
  const names = { controller, blockOwnerDeletion };
  refuseUnknownOptions<OwnerReferenceOptions>('ownerReferenceTo', options, names);
  const { apiVersion, kind, metadata } = owner;
  const { name = '', uid = '' } = metadata;
  if (name === '' || uid === '') {
    const missing = name === '' ? 'name' : 'UID';
    throw new OperatorError(
      'InvalidOwner',
      `${describeObject(owner)} has no ${missing}: only an object read from the server can own`,
    );
  }
  const reference: OwnerReference = { apiVersion, kind, name, uid };
  if (controller) reference.controller = true;
  if (blockOwnerDeletion) reference.blockOwnerDeletion = true;
  return reference;
}

/**
 * Returns a copy of `object` with `owner` as its controller and `blockOwnerDeletion` set; `object` itself if
 * it already has both. Other owners stay. The rules are those of "Owners and Dependents" in the Kubernetes
 * documentation: owner and object are in one namespace, or the owner is cluster-scoped.
 * @throws AlreadyOwnedError `AlreadyOwned`: the controller is another object, or an earlier object of the
 * owner's name.
 * @throws OperatorError `InvalidOwner`: the reference is not allowed, or `owner` is not live.
 */
export function withControllerReference<T extends KubernetesObject>(
  object: T,
  owner: KubernetesObject,
  scopes: OwnershipScopes,
): T {
  checkScopes(object, owner, scopes);
  const wanted = ownerReferenceTo(owner, { controller: true, blockOwnerDeletion: true });
  const current = controllerOf(object);
  if (current !== undefined && current.uid !== wanted.uid) {
    throw new AlreadyOwnedError(object, owner, current);
  }
  const references = object.metadata.ownerReferences ?? [];
  const at = references.findIndex((reference) => reference.uid === wanted.uid);
  if (at >= 0 && sameReference(references[at], wanted)) return object;
  const ownerReferences =
    at < 0
      ? [...references, wanted]
      : references.map((has, index) => (index === at ? wanted : has));
  return { ...object, metadata: { ...object.metadata, ownerReferences } };
}

function checkScopes(
  object: KubernetesObject,
  owner: KubernetesObject,
  { ownerNamespaced, objectNamespaced }: OwnershipScopes,
): void {
  if (!ownerNamespaced) return;
  const refuse = (why: string): never => {
    const message = `${describeObject(owner)} can't own ${describeObject(object)}: ${why}`;
    throw new OperatorError('InvalidOwner', message);
  };
  if (!objectNamespaced) refuse('the owner is namespaced, the object is cluster-scoped');
  const { namespace = '' } = object.metadata;
  if (namespace === '')
    refuse("the object has no namespace; set metadata.namespace to the owner's");
  if (namespace !== owner.metadata.namespace) refuse('an owner must be in the same namespace');
}

function sameReference(has: OwnerReference | undefined, wanted: OwnerReference): boolean {
  return (
    has?.kind === wanted.kind &&
    has.name === wanted.name &&
    has.controller === wanted.controller &&
    has.blockOwnerDeletion === wanted.blockOwnerDeletion &&
    // Another version of the owner's group names the same owner, so no write is needed.
    groupOf(has.apiVersion) === groupOf(wanted.apiVersion)
  );
}
