import { assignMembers, isJsonObject } from '../object/json.js';
import type { KubernetesObject } from '../object/kubernetes-object.js';
import { apiVersionOf } from '../object/resource-type.js';
import type { ResourceType } from '../object/resource-type.js';

/**
 * Returns `object` with the apiVersion and kind of its type. Lists of built-in objects omit them, and an
 * object read without its spec has `PartialObjectMetadata`.
 */
export function withTypeOf<T extends KubernetesObject>(object: T, type: ResourceType<T>): T {
  // A broken server may send anything.
  if (!isJsonObject(object)) return object;
  const { kind } = object as Partial<T>;
  if (kind !== undefined && kind !== 'PartialObjectMetadata') return object;
  const typed: object = { apiVersion: apiVersionOf(type), kind: type.kind };
  return assignMembers(typed, object, ['apiVersion', 'kind']) as T;
}
