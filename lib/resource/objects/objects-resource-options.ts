import type { KubernetesObject } from '../../object/kubernetes-object.js';
import type { ResourceType, TypeReference } from '../../object/resource-type.js';
import type { Awaitable } from '../crud-operations.js';
import type { PatchPart } from '../patch.js';
import type { ResourceContext } from '../resource-context.js';
import type { OptionNames } from '../../system/known-options.js';

/**
 * Options of a resource that keeps Kubernetes objects. `T` is the reconciled object, `K` the type of the kept
 * objects.
 */
export interface KeptObjectsOptions<T extends KubernetesObject, K extends KubernetesObject> {
  /** Identifies the resource; not empty. Labels objects as its own: a new name orphans existing objects. */
  readonly name: string;
  /**
   * Returns all desired objects; existing objects that are not among them are deleted. Not called while the
   * owner is being deleted, so that an invalid spec cannot block its deletion.
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
   * were applied under the old name. @defaultValue the framework's name, which all its resources share, so
   * that objects can move between them; `name` without a framework
   */
  readonly fieldManager?: string | undefined;
  /** The order in which changes are applied. @defaultValue create, delete, update */
  readonly order?: readonly PatchPart[] | undefined;
}

/** The object type of a kind; any object if the reference is only an apiVersion and a kind. */
export type ObjectOfType<R extends TypeReference<KubernetesObject>> =
  R extends ResourceType<infer K> ? K : KubernetesObject;

declare const hint: unique symbol;

/**
 * A type without values. Beside `ObjectOfType` it makes the compiler keep the literals of an inline object:
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
  /** As in {@link KeptObjectsOptions}. */
  readonly getDesiredState: (
    context: ResourceContext,
    object: T,
  ) => Awaitable<readonly (ObjectOfType<R> | LiteralHint<L>)[]>;
}

/** The names of {@link ObjectsResourceOptions}. */
export const objectsResourceOptionNames: OptionNames<
  ObjectsResourceOptions<KubernetesObject, TypeReference<KubernetesObject>>
> = {
  ...{ types: true, name: true, getDesiredState: true, allowedLabels: true, adopt: true },
  ...{ fieldManager: true, order: true, waitUntilReady: true },
};
