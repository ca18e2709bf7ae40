import type { KubernetesObject } from '../object/kubernetes-object.js';
import type { Awaitable } from './crud-operations.js';
import type { Resource } from './resource.js';
import type { ResourceContext } from './resource-context.js';

/** Options of a {@link ResourceSet}. */
export interface ResourceSetOptions<T extends KubernetesObject> {
  /** For logs, metrics and errors, for example `v1`; not empty. */
  readonly name: string;
  /** Whether this set handles the object; of all sets of a router one may say so. */
  readonly handles: (object: T) => boolean;
  /** Prepares a pass: sets values that resources share. @defaultValue nothing */
  readonly initContext?: ((context: ResourceContext, object: T) => Awaitable<void>) | undefined;
  /** In the order in which they are carried out, at least one, each with a name of its own. */
  readonly resources: readonly Resource<T>[];
}

/** A chain of resources for the objects of one version or shape. */
export class ResourceSet<T extends KubernetesObject = KubernetesObject> {
  readonly name: string;
  readonly resources: readonly Resource<T>[];
  readonly #options: ResourceSetOptions<T>;

  constructor(options: ResourceSetOptions<T>) {
    this.name = options.name;
    this.resources = [...options.resources];
    this.#options = options;
  }

  /** Whether it handles the object. */
  handles(object: T): boolean {
    return this.#options.handles(object);
  }
}
