import { Pod, ServiceAccount } from '../object/kinds.js';
import type { KubernetesObject } from '../object/kubernetes-object.js';
import type { TypeReference } from '../object/resource-type.js';
import { OperatorError } from '../system/operator-error.js';
import type { WriteOptions } from './client.js';

/** Kinds that exist only as a subresource of one kind. */
const parents: Readonly<Record<string, TypeReference<KubernetesObject>>> = {
  'Eviction/eviction': Pod,
  'Binding/binding': Pod,
  'TokenRequest/token': ServiceAccount,
};

/**
 * Returns the kind whose path `object` is written to: its own, or that of the subresource's parent.
 * @throws OperatorError `InvalidOption`: a `Scale` can have many parents, so `parent` is required.
 */
export function subresourceParent(
  object: KubernetesObject,
  { subresource, parent }: WriteOptions,
): TypeReference<KubernetesObject> {
  if (parent !== undefined) return parent;
  const { kind, apiVersion } = object;
  if (subresource === undefined) return { apiVersion, kind };
  if (kind === 'Scale') {
    const message = `write Scale ${object.metadata.name ?? ''}: parent is missing`;
    throw new OperatorError('InvalidOption', `${message} (the kind that is scaled)`);
  }
  return parents[`${kind}/${subresource}`] ?? { apiVersion, kind };
}
