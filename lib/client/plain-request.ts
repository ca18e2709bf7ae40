import type { KubernetesObject } from '../object/kubernetes-object.js';
import type { ResourceType } from '../object/resource-type.js';
import type { ApiRequest } from './call.js';
import type { ApplyOptions, WatchOptions } from './client.js';
import { resourcePath } from './resource-path.js';
import type { Query, ResourceTarget } from './resource-path.js';

/** An {@link ApiRequest} without its method and body. */
export type PlainRequest = Pick<ApiRequest, 'call' | 'path' | 'signal' | 'fences'>;

interface Asked extends Pick<PlainRequest, 'signal' | 'fences'> {
  readonly query?: Query;
}

/** Returns a request for `target`, without its method and body. */
export function requestFor(
  type: ResourceType<KubernetesObject>,
  target: ResourceTarget,
  { query, signal, fences }: Asked,
): PlainRequest {
  const { verb, namespace, name, subresource } = target;
  const kind = subresource === undefined ? type.kind : `${type.kind}/${subresource}`;
  const call = { verb, kind, namespace, name };
  return { call, path: resourcePath(type, target, query), signal, fences };
}

/** Returns the `Accept` header that requests objects as `kind`: their metadata only. */
export function metadataOf(kind: string): string {
  return `application/json;as=${kind};g=meta.k8s.io;v=v1,application/json`;
}

/** Returns the query, signal and fences of a write. */
export function writeQuery(options: ApplyOptions): Asked {
  const { fieldManager, fieldValidation, dryRun = false, force, signal, fences } = options;
  const query = { fieldManager, fieldValidation, force, dryRun: dryRun ? 'All' : undefined };
  return { query, signal, fences };
}

/** Returns the query of a watch. */
export function watchQuery(options: WatchOptions): Query {
  const { labelSelector, fieldSelector, resourceVersion, allowWatchBookmarks = true } = options;
  const { sendInitialEvents, timeoutMs } = options;
  // The server requires it (KEP-3157).
  const match = sendInitialEvents === undefined ? undefined : 'NotOlderThan';
  const { resourceVersionMatch = match } = options;
  return {
    watch: true,
    ...{ labelSelector, fieldSelector, resourceVersion, resourceVersionMatch },
    ...{ allowWatchBookmarks, sendInitialEvents },
    timeoutSeconds: timeoutMs === undefined ? undefined : Math.ceil(timeoutMs / 1_000),
  };
}
