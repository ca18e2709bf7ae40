import type { KubernetesObject } from '../object/kubernetes-object.js';
import { InvalidConfigError } from './invalid-config-error.js';
import type { Resource } from './resource.js';

/** Makes a resource that does as another, and something more. */
export type Wrapper<T extends KubernetesObject> = (resource: Resource<T>) => Resource<T>;

/**
 * Wraps each of `resources`: the first wrapper is next to the resource, the last one is the
 * outermost. Neither the list nor the resources are changed.
 *
 * @example
 * ```ts
 * wrap(resources, withRetry, (resource) => withMetrics(resource, { metrics, service: 'shop' }));
 * ```
 */
export function wrap<T extends KubernetesObject>(
  resources: readonly Resource<T>[],
  ...wrappers: readonly Wrapper<NoInfer<T>>[]
): readonly Resource<T>[] {
  return resources.map((resource) =>
    wrappers.reduce((wrapped, wrapper) => wrapper(wrapped), resource),
  );
}

/**
 * The innermost resource that `resource` wraps; itself, if it wraps none.
 * @throws InvalidConfigError they wrap each other in a circle.
 */
export function unwrap<T extends KubernetesObject>(resource: Resource<T>): Resource<T> {
  const seen = new Set<Resource<T>>();
  let inner = resource;
  while (inner.wrapped) {
    seen.add(inner);
    inner = inner.wrapped;
    if (!seen.has(inner)) continue;
    const names = [...seen].map(({ name }) => name).join(', ');
    throw new InvalidConfigError(`unwrap: resources wrap each other in a circle: ${names}`);
  }
  return inner;
}
