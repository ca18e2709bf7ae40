import type { V1Container, V1EphemeralContainer, V1PodSpec } from '@kubernetes/client-node';
import type { Wire } from '../../object/index.js';

/** A container of any list of a pod. */
type AnyContainer = Wire<V1Container> | Wire<V1EphemeralContainer>;

const lists = ['initContainers', 'containers', 'ephemeralContainers'] as const;

/** Returns the containers of a pod, each with its path, in the order of the real server. */
export function containersOf(
  spec: Wire<V1PodSpec>,
  field: string,
): (readonly [AnyContainer, string])[] {
  return lists.flatMap((list) => {
    const containers = (spec[list] as readonly AnyContainer[] | null | undefined) ?? [];
    return containers.map((container, index) => [container, `${field}.${list}[${index}]`] as const);
  });
}
