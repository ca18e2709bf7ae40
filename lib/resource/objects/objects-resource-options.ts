import type { KubernetesObject } from '../../object/kubernetes-object.js';
import type { ResourceType, TypeReference } from '../../object/resource-type.js';
import type { Awaitable } from '../crud-operations.js';
import type { PatchPart } from '../patch.js';
import type { ResourceContext } from '../resource-context.js';
import type { OptionNames } from '../../system/known-options.js';

/**
 * Options of a resource that keeps Kubernetes objects. `T` is the object that is reconciled, `K` what
 * is kept for it.
 */
export interface KeptObjectsOptions<T extends KubernetesObject, K extends KubernetesObject> {
  /** Identifies the resource; not empty. Objects are found again by it: a new name leaves them behind. */
  readonly name: string;
  /**
   * The objects that there should be, in full; what is there beside them goes. Not asked while the
   * object is being deleted, so that a spec that can't be carried out holds up no deletion.
   */
  readonly getDesiredState: (context: ResourceContext, object: T) => Awaitable<readonly K[]>;
  /**
   * Labels that others may set on the objects: one that somebody else has set stays as it is, whatever
   * the desired state says. @defaultValue labels that no desired state has ever named stay, others are
   * ours
   */
  readonly allowedLabels?: readonly string[] | undefined;
  /**
   * The resources after this one wait until its workloads have rolled out and its Jobs have succeeded,
   * whenever that does not hold: at the creation, in a rollout, and while pods are missing.
   * @defaultValue false: they are applied in order, without waiting
   */
  readonly waitUntilReady?: boolean | undefined;
  /** Objects that exist and are nobody's are taken over. @defaultValue false: a `NotOurs` error */
  readonly adopt?: boolean | undefined;
  /**
   * Who owns the applied fields, by `metadata.managedFields`, and the value of
   * `app.kubernetes.io/managed-by`; 1 to 128 printable characters. One that is changed leaves the fields
   * behind that were applied under the old one. @defaultValue the framework's name, which all its
   * resources share, so that objects may move between them; without a framework `name`
   */
  readonly fieldManager?: string | undefined;
  /** The order of changes. @defaultValue create, delete, update */
  readonly order?: readonly PatchPart[] | undefined;
}

/** The objects of a kind, by what names it; any, where that is only an apiVersion and a kind. */
export type ObjectOfType<R extends TypeReference<KubernetesObject>> =
  R extends ResourceType<infer K> ? K : KubernetesObject;

declare const hint: unique symbol;

/**
 * An object that cannot exist. Beside `ObjectOfType` it has the compiler keep the literals of an
 * object that is written in place: `apiVersion: 'apps/v1'` would become a string before the kinds are
 * inferred.
 */
export interface LiteralHint<L extends string> {
  readonly apiVersion: L;
  readonly kind: L;
  readonly [hint]: never;
}

/** Options of `objectsResource`. `R` names the kinds. */
export interface ObjectsResourceOptions<
  T extends KubernetesObject,
  R extends TypeReference<KubernetesObject>,
  L extends string = string,
> extends Omit<KeptObjectsOptions<T, ObjectOfType<R>>, 'getDesiredState'> {
  /** Every kind that there may be, for example `[Deployment, Service]`. */
  readonly types: readonly R[];
  /** As in {@link KeptObjectsOptions}. */
  readonly getDesiredState: (
    context: ResourceContext,
    object: T,
  ) => Awaitable<readonly (ObjectOfType<R> | LiteralHint<L>)[]>;
}

/** Names of {@link ObjectsResourceOptions}. */
export const objectsResourceOptionNames: OptionNames<
  ObjectsResourceOptions<KubernetesObject, TypeReference<KubernetesObject>>
> = {
  ...{ types: true, name: true, getDesiredState: true, allowedLabels: true, adopt: true },
  ...{ fieldManager: true, order: true, waitUntilReady: true },
};
