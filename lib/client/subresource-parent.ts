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
 * The kind under whose path `object` is written: its own, or that of the object whose subresource
 * it is.
 * @throws OperatorError `InvalidOption`: a `Scale` has many parents, `parent` has to name one.
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
