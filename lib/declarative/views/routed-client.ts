import type { Client, WriteOptions } from '../../client/client.js';
import { subresourceParent } from '../../client/call.js';
import { isJsonObject, memberOf } from '../../object/json.js';
import type { KubernetesObject } from '../../object/kubernetes-object.js';
import { groupOf, groupOfType } from '../../object/resource-type.js';
import type { GroupKind, TypeReference } from '../../object/resource-type.js';
import { operatorOfViewGroup } from '../spec/operator-spec.js';

/** Chooses the client for a call. */
interface Route {
  of(type: TypeReference<KubernetesObject> | GroupKind): Client;
  ofWrite(object: KubernetesObject, options: WriteOptions | undefined): Client;
}

/**
 * Returns a client that sends calls for view groups to `views` and all other calls to `native`. It answers
 * access reviews of views itself: always allowed.
 */
export function routedClient(views: Client, native: Client): Client {
  const route = routeBetween(views, native);
  return {
    get: (type, key, options) => route.of(type).get(type, key, options),
    list: (type, options) => route.of(type).list(type, options),
    pages: (type, options) => route.of(type).pages(type, options),
    watch: (type, options) => route.of(type).watch(type, options),
    stream: (type, key, options) => route.of(type).stream(type, key, options),
    create: async (object, options) =>
      isReviewOfViews(object)
        ? { ...object, status: allowed }
        : route.ofWrite(object, options).create(object, options),
    update: (object, options) => route.ofWrite(object, options).update(object, options),
    patch: (type, key, patch, options) => route.of(type).patch(type, key, patch, options),
    apply: (object, options) => route.ofWrite(object, options).apply(object, options),
    delete: (type, key, options) => route.of(type).delete(type, key, options),
    deleteCollection: (type, options) => route.of(type).deleteCollection(type, options),
    resourceType: (type) => route.of(type).resourceType(type),
  };
}

function routeBetween(views: Client, native: Client): Route {
  const of = (type: TypeReference<KubernetesObject> | GroupKind): Client =>
    isViewGroup(groupOfType(type)) ? views : native;
  return {
    of,
    ofWrite: (object, options) => of(subresourceParent(object, options ?? {})),
  };
}

/** Whether `group` is a group of views. */
export function isViewGroup(group: string): boolean {
  return operatorOfViewGroup(group) !== undefined;
}

const allowed = { allowed: true, reason: 'views are in this process' };

/** Whether `object` is an access review of views. A native server knows no views and would deny access. */
function isReviewOfViews(object: KubernetesObject): boolean {
  if (groupOf(object.apiVersion) !== 'authorization.k8s.io') return false;
  const { spec } = object as { spec?: unknown };
  const asked = isJsonObject(spec) ? memberOf(spec, 'resourceAttributes') : undefined;
  const group = isJsonObject(asked) ? memberOf(asked, 'group') : undefined;
  return typeof group === 'string' && isViewGroup(group);
}
