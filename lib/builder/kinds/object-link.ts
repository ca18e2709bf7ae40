import { describeObject } from '../../object/describe-object.js';
import { PersistentVolumeClaim } from '../../object/kinds.js';
import type { KubernetesObject, UnstructuredObject } from '../../object/kubernetes-object.js';
import { apiVersionOf } from '../../object/resource-type.js';
import type { ResourceType } from '../../object/resource-type.js';
import { OperatorError } from '../../system/operator-error.js';
import { isKind } from '../kind-traits.js';
import type { ClaimOptions, Link, ObjectOptions } from '../link.js';

/** The link of an object of a built-in kind: its metadata from `options`, the rest as `body`. */
export function objectLink(
  type: ResourceType<KubernetesObject>,
  options: ObjectOptions & ClaimOptions,
  body: Readonly<Record<string, unknown>>,
): Link {
  const { name, namespace, labels, annotations } = options;
  const object = {
    apiVersion: apiVersionOf(type),
    kind: type.kind,
    metadata: { name, namespace, labels, annotations },
    ...body,
  };
  return { type, object: jsonOf(object), options: linkOptionsOf(options), requires: [] };
}

/**
 * A copy by JSON's rules: undefined members go, before anything is hashed, and nothing is shared with
 * the caller's object.
 */
function jsonOf(object: object): UnstructuredObject {
  return JSON.parse(JSON.stringify(object)) as UnstructuredObject;
}

/** What of `options` is not part of the object. */
function linkOptionsOf(options: ClaimOptions): ClaimOptions {
  const { onImmutable, prune, adopt, whenOwnerDeleted } = options;
  return {
    ...(onImmutable !== undefined && { onImmutable }),
    ...(prune !== undefined && { prune }),
    ...(adopt !== undefined && { adopt }),
    ...(whenOwnerDeleted !== undefined && { whenOwnerDeleted }),
  };
}

/**
 * The link of an object of whatever kind.
 * @throws OperatorError `InvalidOption`: `whenOwnerDeleted` for another kind than a claim.
 */
export function anyObjectLink(object: KubernetesObject, options: ClaimOptions): Link {
  const { apiVersion, kind } = object;
  if (options.whenOwnerDeleted !== undefined && !isKind(object, PersistentVolumeClaim)) {
    const message = `${describeObject(object)}: whenOwnerDeleted is for PersistentVolumeClaims only`;
    throw new OperatorError('InvalidOption', message);
  }
  return {
    type: { apiVersion, kind },
    object: jsonOf(object),
    options: linkOptionsOf(options),
    requires: [],
  };
}
