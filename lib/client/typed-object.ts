import { assignMembers, isJsonObject } from '../object/json.js';
import type { KubernetesObject } from '../object/kubernetes-object.js';
import { apiVersionOf } from '../object/resource-type.js';
import type { ResourceType } from '../object/resource-type.js';

/**
 * `object` with the apiVersion and kind of its type: in a list of built-in objects they are left
 * out, and of an object read without its spec they say `PartialObjectMetadata`.
 */
export function withTypeOf<T extends KubernetesObject>(object: T, type: ResourceType<T>): T {
  // A broken server may send anything.
  if (!isJsonObject(object)) return object;
  const { kind } = object as Partial<T>;
  if (kind !== undefined && kind !== 'PartialObjectMetadata') return object;
  const typed: object = { apiVersion: apiVersionOf(type), kind: type.kind };
  return assignMembers(typed, object, ['apiVersion', 'kind']) as T;
}
