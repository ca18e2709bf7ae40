import type {
  KubernetesObject,
  ResourceType,
  TypeReference,
  UnstructuredObject,
} from '../../object/index.js';
import type { Awaitable, PatchPart } from '../crud-resource.js';
import type { ResourceContext } from '../resource-context.js';
import type { OptionNames } from '../../system/index.js';
import { CrudResource } from '../crud-resource.js';
import { KeptObjects } from './kept-objects.js';
import { refuseUnknownOptions } from '../../system/index.js';
import { ConfigMap, Secret, Service, withoutMember } from '../../object/index.js';

/**
 * Options of a resource that keeps Kubernetes objects. `T` is the reconciled object, `K` the type of the kept
 * objects.
 */
export interface KeptObjectsOptions<T extends KubernetesObject, K extends KubernetesObject> {
  /**
   * Identifies the resource; not empty. A label on each object has this name, so a new name orphans existing objects.
   */
  readonly name: string;
  /**
   * Returns all desired objects; existing objects that are not among them are deleted, claims, Namespaces and
   * CustomResourceDefinitions only if annotated. Not called while the owner is being deleted, so that an invalid spec
   * cannot block its deletion.
   */
  readonly getDesiredState: (context: ResourceContext, object: T) => Awaitable<readonly K[]>;
  /**
   * Labels that others may set on the objects: a value that another manager has set stays, whatever the
   * desired state says. @defaultValue only labels that no desired state has ever set belong to others
   */
  readonly allowedLabels?: readonly string[] | undefined;
  /**
   * Holds the resources after this one until its workloads have rolled out and its Jobs have succeeded: at
   * creation, during a rollout, and while pods are missing.
   * @defaultValue false: resources are applied in order, without waiting
   */
  readonly waitUntilReady?: boolean | undefined;
  /** Adopts existing objects without a controlling owner. @defaultValue false: throws a `NotOurs` error */
  readonly adopt?: boolean | undefined;
  /**
   * The field manager of the applied fields in `metadata.managedFields`, and the value of
   * `app.kubernetes.io/managed-by`; 1 to 128 printable characters. Changing it leaves behind the fields that
   * were applied under the old name, and the objects that are no longer desired then. @defaultValue the framework's
   * name, which all its resources share, so that objects can move between them; `name` without a framework
   */
  readonly fieldManager?: string | undefined;
  /** The order in which changes are applied. @defaultValue create, delete, update */
  readonly order?: readonly PatchPart[] | undefined;
}

/** The object type of a kind; any object if the reference is only an apiVersion and a kind. */
export type ObjectOfType<R extends TypeReference<KubernetesObject>> =
  R extends ResourceType<infer K> ? K : KubernetesObject | UnstructuredObject;

declare const hint: unique symbol;

/**
 * A type without values. In a union with `ObjectOfType` it makes the compiler keep the literals of an inline object:
 * `apiVersion: 'apps/v1'` would otherwise widen to a string before the kinds are inferred.
 */
export interface LiteralHint<L extends string> {
  readonly apiVersion: L;
  readonly kind: L;
  readonly [hint]: never;
}

/** Options of `objectsResource`. `R` is the type of the kinds. */
export interface ObjectsResourceOptions<
  T extends KubernetesObject,
  R extends TypeReference<KubernetesObject>,
  L extends string = string,
> extends Omit<KeptObjectsOptions<T, ObjectOfType<R>>, 'getDesiredState'> {
  /** Every kind that `getDesiredState` may return, for example `[Deployment, Service]`. */
  readonly types: readonly R[];
  /** Returns the desired objects; see {@link KeptObjectsOptions}. */
  readonly getDesiredState: (
    context: ResourceContext,
    object: T,
  ) => Awaitable<readonly (ObjectOfType<R> | LiteralHint<L>)[]>;
}

const objectsResourceOptionNames: OptionNames<
  ObjectsResourceOptions<KubernetesObject, TypeReference<KubernetesObject>>
> = {
  ...{ types: true, name: true, getDesiredState: true, allowedLabels: true, adopt: true },
  ...{ fieldManager: true, order: true, waitUntilReady: true },
};

/**
 * Makes a resource that keeps objects of any kinds for the reconciled object: creates missing objects,
 * updates changed ones, and deletes superfluous ones. All are deleted with the owner.
 *
 * ## Guarantees
 * - Uses server-side apply: defaults are not drift, a field that another manager changed is restored, and
 *   fields that the desired state does not set stay with their managers.
 * - Writes only where something differs; with a cached client it makes no read requests either.
 * - Never writes or deletes an object that the owner does not control, unless `adopt` takes over an object
 *   without a controlling owner. Never deletes an object that another controller applied for the same owner.
 * - Validates the whole list before the first write.
 *
 * ## Caveats
 * - The reconciled object is the controlling owner. A namespaced owner can have objects only in its own
 *   namespace; a cluster-scoped one in any.
 * - An object that moves to another resource of the chain keeps its UID only if that resource comes first.
 *   Fields that are dropped later are removed only if both have the same `fieldManager`, as in a framework.
 * - The resource does not delete an object with the annotation `operator-builder.io/prune: "false"`; garbage
 *   collection deletes it with its owner. Superfluous claims, Namespaces and CustomResourceDefinitions are deleted
 *   only if the annotation is `"true"`, since they hold data that no desired state contains.
 * - When the owner is deleted, the chain waits until every object is gone, with its dependents, such as the
 *   pods of a Deployment. If the owner is deleted alone (`--cascade=orphan`), the objects stay.
 * - The chain does not wait for superfluous objects of a live owner. A desired object that is still being deleted
 *   cancels the chain, without an error, until it is gone.
 * @throws InvalidConfigError an option is missing or invalid, or there are no kinds.
 *
 * @example
 * ```ts
 * const workloads = objectsResource({
 *   name: 'workloads',
 *   types: [Deployment, Service],
 *   getDesiredState: (context, shop: Shop) => [deploymentOf(shop), serviceOf(shop)],
 * });
 * ```
 */
export function objectsResource<
  T extends KubernetesObject,
  R extends TypeReference<KubernetesObject>,
  L extends string = string,
>(options: ObjectsResourceOptions<T, R, L>): CrudResource<T, ObjectOfType<R>[], ObjectOfType<R>[]> {
  refuseUnknownOptions(`objectsResource ${options.name}`, options, objectsResourceOptionNames);
  const { types, order } = options;
  // No object can be a LiteralHint.
  const kept = options as unknown as KeptObjectsOptions<T, ObjectOfType<R>>;
  return new CrudResource({ operations: new KeptObjects({ ...kept, types }), order });
}

/**
 * Makes a resource that keeps ConfigMaps; see `objectsResource`.
 * @throws InvalidConfigError an option is missing or invalid.
 * @throws OperatorError `InvalidOption`: an option is unknown, or is `types`.
 */
export function configMapResource<T extends KubernetesObject>(
  options: KeptObjectsOptions<T, ConfigMap>,
): CrudResource<T, ConfigMap[], ConfigMap[]> {
  refuseKinds('configMapResource', options);
  return objectsResource({ ...options, types: [ConfigMap] });
}

/**
 * Makes a resource that keeps Secrets; see `objectsResource`.
 * @throws InvalidConfigError an option is missing or invalid.
 * @throws OperatorError `InvalidOption`: an option is unknown, or is `types`.
 */
export function secretResource<T extends KubernetesObject>(
  options: KeptObjectsOptions<T, Secret>,
): CrudResource<T, Secret[], Secret[]> {
  refuseKinds('secretResource', options);
  return objectsResource({ ...options, types: [Secret] });
}

/**
 * Makes a resource that keeps Services; see `objectsResource`.
 * @throws InvalidConfigError an option is missing or invalid.
 * @throws OperatorError `InvalidOption`: an option is unknown, or is `types`.
 */
export function serviceResource<T extends KubernetesObject>(
  options: KeptObjectsOptions<T, Service>,
): CrudResource<T, Service[], Service[]> {
  refuseKinds('serviceResource', options);
  return objectsResource({ ...options, types: [Service] });
}

/** Plain JavaScript can pass kinds to a resource of one kind, which would have no effect. */
function refuseKinds<T extends KubernetesObject, K extends KubernetesObject>(
  maker: string,
  options: KeptObjectsOptions<T, K>,
): void {
  const names = withoutMember(objectsResourceOptionNames, 'types');
  refuseUnknownOptions<KeptObjectsOptions<T, K>>(`${maker} ${options.name}`, options, names, {
    types: 'use objectsResource for objects of other kinds',
  });
}
