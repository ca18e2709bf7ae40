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
  /** At least one; names must differ. */
  readonly resourceSets: readonly ResourceSet<T>[];
}

/** Selects the set that handles an object, so that chains can have versions. */
export class ResourceRouter<T extends KubernetesObject = KubernetesObject> {
  readonly resourceSets: readonly ResourceSet<T>[];

  /** @throws InvalidConfigError there are no sets, two have the same name, or one is not a set. */
  constructor(options: ResourceRouterOptions<T>) {
    const { resourceSets } = options;
    refuseUnknownOptions<ResourceRouterOptions<T>>('ResourceRouter', options, { resourceSets });
    const fault = faultInSets(options.resourceSets);
    if (fault !== undefined) throw new InvalidConfigError(`ResourceRouter: ${fault}`);
    this.resourceSets = Object.freeze([...options.resourceSets]);
  }

  /**
   * Returns the set that handles the object.
   * @throws NoResourceSetError no set handles it; another framework may.
   * @throws ExecutionFailedError several sets handle it, or the `handles` function of one failed; names the
   * sets.
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
   * Returns every set that handles the object; there should be one.
   * @throws ExecutionFailedError the `handles` function of a set failed; the error names the set.
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
