import type { KubernetesObject, UnstructuredObject } from '../../object/kubernetes-object.js';
import { apiVersionOf } from '../../object/resource-type.js';
import type { ResourceType } from '../../object/resource-type.js';
import type { Link, LinkOptions, ObjectOptions } from '../link.js';

/** The link of an object of a built-in kind: its metadata from `options`, the rest as `body`. */
export function objectLink(
  type: ResourceType<KubernetesObject>,
  options: ObjectOptions,
  body: Readonly<Record<string, unknown>>,
): Link {
  const { name, namespace, labels, annotations } = options;
  const object: UnstructuredObject = {
    apiVersion: apiVersionOf(type),
    kind: type.kind,
    metadata: {
      name,
      ...(namespace !== undefined && { namespace }),
      ...(labels !== undefined && { labels: { ...labels } }),
      ...(annotations !== undefined && { annotations: { ...annotations } }),
    },
    ...body,
  };
  return { type, object, options: linkOptionsOf(options), requires: [] };
}

/** What of `options` is not part of the object. */
export function linkOptionsOf(options: LinkOptions): LinkOptions {
  const { onImmutable, prune, adopt, whenOwnerDeleted } = options;
  return {
    ...(onImmutable !== undefined && { onImmutable }),
    ...(prune !== undefined && { prune }),
    ...(adopt !== undefined && { adopt }),
    ...(whenOwnerDeleted !== undefined && { whenOwnerDeleted }),
  };
}

/** The link of an object of whatever kind. */
export function anyObjectLink(object: KubernetesObject, options: LinkOptions): Link {
  const { apiVersion, kind } = object;
  return {
    type: { apiVersion, kind },
    object: { ...object },
    options: linkOptionsOf(options),
    requires: [],
  };
}
