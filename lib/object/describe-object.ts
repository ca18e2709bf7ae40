import type { KubernetesObject, ObjectKey } from './kubernetes-object.js';
import type { ObjectReference } from './object-reference.js';

/** The argument of {@link describeObject}: an object, or a reference to one. */
export type Describable = KubernetesObject | Pick<ObjectReference, 'kind' | 'namespace' | 'name'>;

/**
 * Returns the name of an object in messages: `ConfigMap shop/web`, `Namespace shop`, and `Pod shop/web-*` if
 * the server generates the name.
 */
export function describeObject(object: Describable): string;
/** Returns the name in messages of the object with `key` and `type`. */
export function describeObject(type: { readonly kind: string }, key: ObjectKey): string;
export function describeObject(
  subject: Describable | { readonly kind: string },
  key: ObjectKey = keyIn(subject as Describable),
): string {
  const { namespace = '', name } = key;
  if (name === '') return subject.kind;
  return namespace === '' ? `${subject.kind} ${name}` : `${subject.kind} ${namespace}/${name}`;
}

function keyIn(subject: Describable): ObjectKey {
  if (!('metadata' in subject)) return subject;
  const { namespace, name, generateName } = subject.metadata;
  return { namespace, name: name ?? (generateName === undefined ? '' : `${generateName}*`) };
}
