import type { KubernetesObject } from '../object/kubernetes-object.js';
import { NoResourceSetError } from './no-resource-set-error.js';
import type { ResourceSet } from './resource-set.js';

/** Options of a {@link ResourceRouter}. */
export interface ResourceRouterOptions<T extends KubernetesObject> {
  /** At least one, each with a name of its own. */
  readonly resourceSets: readonly ResourceSet<T>[];
}

/** Says which set handles an object, so that chains can have versions. */
export class ResourceRouter<T extends KubernetesObject = KubernetesObject> {
  readonly resourceSets: readonly ResourceSet<T>[];

  constructor(options: ResourceRouterOptions<T>) {
    this.resourceSets = [...options.resourceSets];
  }

  /**
   * The set that handles the object.
   * @throws NoResourceSetError none does: another framework may.
   * @throws ExecutionFailedError several do; it names them.
   */
  resourceSet(object: T): ResourceSet<T> {
    const [set] = this.resourceSets.filter((each) => each.handles(object));
    if (set === undefined) throw new NoResourceSetError(object.metadata.name ?? '');
    return set;
  }
}
