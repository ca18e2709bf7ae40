import type { KubernetesObject } from '../object/kubernetes-object.js';
import { InvalidConfigError } from './invalid-config-error.js';
import type { Resource } from './resource.js';

/** Returns a resource that extends the behaviour of another. */
export type Wrapper<T extends KubernetesObject> = (resource: Resource<T>) => Resource<T>;

/**
 * Wraps each of `resources`: the first wrapper is the innermost, the last one the outermost. Changes neither
 * the list nor the resources.
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
 * Returns the innermost resource that `resource` wraps; `resource` itself if it is not a wrapper.
 * @throws InvalidConfigError the wrappers form a cycle.
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
