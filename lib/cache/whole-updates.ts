import get from 'lodash/get.js';
import set from 'lodash/set.js';
import { forwarding, getIfExists } from '../client/index.js';
import type { Client, WriteOptions } from '../client/index.js';
import { copyJson, deepEqual, describeObject, groupOf, isBuiltInGroup } from '../object/index.js';
import type { KubernetesObject, ObjectKey } from '../object/index.js';
import { OperatorError } from '../system/index.js';
import type { Cache } from './cache.js';
import { lacksLastApplied, lastAppliedAnnotation } from './intake.js';
import type { SharedInformer } from './shared-informer.js';

/**
 * Wraps `client` so that an update does not remove what the cache has left out of an object:
 * - An update keeps the last-applied annotation. Without the annotation, `kubectl apply` would no longer remove the
 *   fields that a user removes. The annotation is read from the server: only `kubectl apply` sets it.
 * - An update is refused if the object lacks fields that the `transform` of its kind drops.
 * - An update keeps fields of the status that the `transform` drops: the server stores them if the kind has no status
 *   subresource, and else ignores them.
 */
export function completing(client: Client, cache: Cache): Client {
  const completed = async <T extends KubernetesObject>(
    object: T,
    { subresource, signal }: WriteOptions,
  ): Promise<T> => {
    // The wrapped client refuses an invalid object.
    const { metadata, apiVersion } = (object as Partial<T> | undefined) ?? {};
    if (typeof metadata?.name !== 'string' || typeof apiVersion !== 'string') return object;
    const { name, namespace, annotations = {}, resourceVersion } = metadata;
    const informer = cache.peek(object);
    const transform = informer?.scope.transform;
    const seen = readIn(informer, { name, namespace });
    const isAnnotated =
      seen !== undefined &&
      lacksLastApplied(seen) &&
      writesMetadata(groupOf(apiVersion), subresource) &&
      !(lastAppliedAnnotation in annotations);
    if (!isAnnotated && transform === undefined) return object;
    const live = await getIfExists<T>(client, object, { name, namespace }, { signal });
    const isOther =
      resourceVersion !== undefined && resourceVersion !== live?.metadata.resourceVersion;
    // The server refuses an update of another version.
    if (live === undefined || isOther) return object;
    let whole = object;
    if (transform !== undefined) {
      // Copied, because a transform may change its argument: that is against its contract, but harmless in a cache.
      const cached = transform(copyJson(live));
      refuseLoss(object, { live, cached }, subresource);
      if (subresource === undefined) whole = withStatus(object, { live, cached });
    }
    const lastApplied = live.metadata.annotations?.[lastAppliedAnnotation];
    if (!isAnnotated || lastApplied === undefined) return whole;
    const all = { ...annotations, [lastAppliedAnnotation]: lastApplied };
    return { ...whole, metadata: { ...metadata, annotations: all } };
  };
  return {
    ...forwarding(client),
    update: async (object, options) =>
      client.update(await completed(object, options ?? {}), options),
  };
}

/** @throws OperatorError `InvalidObject`: the update would replace live fields by what the transform left of them. */
function refuseLoss(
  object: KubernetesObject,
  { live, cached }: { readonly live: KubernetesObject; readonly cached: KubernetesObject },
  subresource: string | undefined,
): void {
  const [lost] = lostPaths(writtenPart(object, subresource), {
    live: writtenPart(live, subresource),
    cached: writtenPart(cached, subresource),
  });
  if (lost !== undefined) throw lossOf(object, lost);
}

function lossOf(object: KubernetesObject, path: readonly string[]): OperatorError {
  const why = `it would remove ${path.join('.')}, which the transform of the cache drops`;
  const remedy = 'send a patch, use createOrPatch, or update the object that client.live reads';
  return new OperatorError('InvalidObject', `update ${describeObject(object)}: ${why}; ${remedy}`);
}

/** Returns the fields of an object that an update of this subresource sets. The server fills in all other metadata. */
function writtenPart(object: KubernetesObject, subresource: string | undefined): unknown {
  const { metadata, status, ...rest } = object as KubernetesObject & { readonly status?: unknown };
  if (subresource !== undefined) return subresource === 'status' ? { status } : {};
  const { labels, annotations, finalizers, ownerReferences } = metadata;
  return { ...rest, metadata: { labels, annotations, finalizers, ownerReferences } };
}

/**
 * Returns the object with the fields of the live status that the transform dropped. A list counts as a whole, since
 * the transform may have dropped items of it.
 * @throws OperatorError `InvalidObject`: a list was changed from which the transform has dropped something.
 */
function withStatus<T extends KubernetesObject>(
  object: T,
  { live, cached }: { readonly live: KubernetesObject; readonly cached: KubernetesObject },
): T {
  const { status } = live as { readonly status?: unknown };
  const lost = lostPaths(writtenPart(object, 'status'), {
    live: writtenPart(live, 'status'),
    cached: writtenPart(cached, 'status'),
  });
  if (lost.length === 0) return object;
  const whole = copyJson(object);
  for (const path of lost) {
    const place = path.slice(0, depthOfList({ status }, path));
    const isUnchanged =
      place.length === path.length || deepEqual(get(object, place), get(cached, place));
    if (!isUnchanged) throw lossOf(object, place);
    set(whole, place, copyJson(get({ status }, place)));
  }
  return whole;
}

/**
 * Returns how many parts of a path can be followed before a list is reached; the length of the path if it contains no
 * list.
 */
function depthOfList(live: unknown, path: readonly string[]): number {
  const depth = path.findIndex((_, at) => Array.isArray(get(live, path.slice(0, at))));
  return depth < 0 ? path.length : depth;
}

/**
 * Returns the paths at which the transform has dropped something from the live value, and `wanted` still has the cached
 * value.
 */
function lostPaths(
  wanted: unknown,
  { live, cached }: { readonly live: unknown; readonly cached: unknown },
): readonly (readonly string[])[] {
  if (deepEqual(live, cached)) return [];
  if (!isContainer(wanted) || !isContainer(live) || !isContainer(cached)) {
    return deepEqual(wanted, cached) ? [[]] : [];
  }
  return Object.keys(live).flatMap((name) =>
    lostPaths(wanted[name], { live: live[name], cached: cached[name] }).map((path) => [
      name,
      ...path,
    ]),
  );
}

function isContainer(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

/**
 * Returns the object that a read from the cache shows. While a write makes reads wait for the watch, that is the stored
 * object, which reads showed before.
 */
function readIn<T extends KubernetesObject>(
  informer: SharedInformer<T> | undefined,
  key: ObjectKey,
): T | undefined {
  if (informer === undefined) return undefined;
  const name = informer.keyFor(key);
  const look = informer.overlay.look(name);
  return look.type === 'object' ? look.object : informer.store.get(name);
}

/** A status update of a built-in kind also writes annotations; that of a custom resource does not. */
function writesMetadata(group: string, subresource: string | undefined): boolean {
  return subresource === undefined || (subresource === 'status' && isBuiltInGroup(group));
}
