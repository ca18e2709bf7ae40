import { describeObject } from '../object/describe-object.js';
import type { KubernetesObject } from '../object/kubernetes-object.js';
import { faultInNames } from './check-resources.js';
import { ExecutionFailedError } from './execution-failed-error.js';
import { InvalidConfigError } from './invalid-config-error.js';
import { NoResourceSetError } from './no-resource-set-error.js';
import { ResourceSet } from './resource-set.js';
import { refuseUnknownOptions } from '../system/known-options.js';

/** Options of a {@link ResourceRouter}. */
export interface ResourceRouterOptions<T extends KubernetesObject> {
  /** At least one, each with a name of its own. */
  readonly resourceSets: readonly ResourceSet<T>[];
}

/** Says which set handles an object, so that chains can have versions. */
export class ResourceRouter<T extends KubernetesObject = KubernetesObject> {
  readonly resourceSets: readonly ResourceSet<T>[];

  /** @throws InvalidConfigError it has no sets, two of them have one name, or one is no set. */
  constructor(options: ResourceRouterOptions<T>) {
    const { resourceSets } = options;
    refuseUnknownOptions<ResourceRouterOptions<T>>('ResourceRouter', options, { resourceSets });
    const fault = faultInSets(options.resourceSets);
    if (fault !== undefined) throw new InvalidConfigError(`ResourceRouter: ${fault}`);
    this.resourceSets = Object.freeze([...options.resourceSets]);
  }

  /**
   * The set that handles the object.
   * @throws NoResourceSetError none does: another framework may.
   * @throws ExecutionFailedError several do; it names them. Or one can't say, it names that one.
   */
  resourceSet(object: T): ResourceSet<T> {
    const [set, ...more] = this.resourceSetsOf(object);
    const what = describeObject(object);
    if (set === undefined) {
      const asked = namesOf(this.resourceSets);
      throw new NoResourceSetError(`${what}: no resource set handles it; asked were ${asked}`);
    }
    if (more.length === 0) return set;
    const remedy = 'let the handles function of one of them say so';
    const names = namesOf([set, ...more]);
    throw new ExecutionFailedError(`${what}: several resource sets handle it: ${names}; ${remedy}`);
  }

  /**
   * Every set that handles the object: one, where all is right.
   * @throws ExecutionFailedError one can't say; it names that one.
   */
  resourceSetsOf(object: T): readonly ResourceSet<T>[] {
    return this.resourceSets.filter((set) => set.handles(object));
  }
}

function namesOf(sets: readonly { readonly name: string }[]): string {
  return sets.map(({ name }) => name).join(', ');
}

function faultInSets(sets: unknown): string | undefined {
  if (!Array.isArray(sets)) return 'resourceSets: want an array';
  if (sets.length === 0) return 'no resource sets: want at least one';
  const list = sets as readonly unknown[];
  const wrong = list.findIndex((set) => !(set instanceof ResourceSet));
  if (wrong >= 0) return `resourceSets[${wrong}]: want a ResourceSet`;
  return faultInNames('resource set', list as readonly ResourceSet[]);
}
