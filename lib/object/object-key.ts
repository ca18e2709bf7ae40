import { OperatorError } from '../system/index.js';
import type { KubernetesObject, ObjectKey } from './kubernetes-object.js';

/**
 * Returns the key of `object`, which can be spread into the metadata of another object.
 * @throws OperatorError `InvalidObject`: it has no name (yet).
 */
export function keyOf(object: KubernetesObject): {
  readonly name: string;
  readonly namespace?: string;
} {
  const { name, namespace } = object.metadata;
  if (name === undefined || name === '') {
    throw new OperatorError('InvalidObject', `${object.kind}: metadata.name is missing`);
  }
  return namespace === undefined || namespace === '' ? { name } : { namespace, name };
}

/** Formats a key as `namespace/name`, or `name` for a cluster-scoped object. */
export function keyString(key: ObjectKey): string {
  const { namespace = '', name } = key;
  return namespace === '' ? name : `${namespace}/${name}`;
}

/**
 * Returns the {@link keyString} of `object`.
 * @throws OperatorError `InvalidObject`: it has no name (yet).
 */
export function keyStringOf(object: KubernetesObject): string {
  return keyString(keyOf(object));
}

/**
 * Parses a key formatted by {@link keyString}.
 * @throws OperatorError `InvalidValue`: `text` is neither `name` nor `namespace/name`.
 */
export function parseKey(text: string): ObjectKey {
  const slash = text.indexOf('/');
  const [first, second] =
    slash < 0 ? [text, undefined] : [text.slice(0, slash), text.slice(slash + 1)];
  if (first === '' || second === '' || second?.includes('/') === true) {
    throw new OperatorError(
      'InvalidValue',
      `key: want name or namespace/name, got ${text || 'nothing'}`,
    );
  }
  return second === undefined ? { name: first } : { namespace: first, name: second };
}

/** Whether both keys name the same object; an empty namespace counts as absent. */
export function sameKey(one: ObjectKey, other: ObjectKey): boolean {
  return one.name === other.name && (one.namespace ?? '') === (other.namespace ?? '');
}
