import { asRead } from '../../apply/index.js';
import type { Client } from '../../client/client.js';
import { isNotFound } from '../../object/api-error.js';
import { describeObject } from '../../object/describe-object.js';
import type { KubernetesObject, UnstructuredObject } from '../../object/kubernetes-object.js';
import { keyOf } from '../../object/object-key.js';
import { apiVersionOf } from '../../object/resource-type.js';
import type { TypeReference } from '../../object/resource-type.js';
import { isOperatorError } from '../../system/operator-error.js';
import type { LifecycleObject } from '../lifecycle-status.js';
import type { Pass } from './pass.js';

/** Search parameters for owned objects. */
export interface OwnedSearch {
  /** The live client if a stale cache must not hide objects. */
  readonly client: Client;
  readonly types: readonly TypeReference<KubernetesObject>[];
}

/** Returns every object of these kinds whose controller is the configuration, compared by UID. */
export async function ownedObjects<CR extends LifecycleObject>(
  pass: Pass<CR>,
  { client, types }: OwnedSearch,
): Promise<readonly UnstructuredObject[]> {
  const byName = new Map(types.map((type) => [`${apiVersionOf(type)} ${type.kind}`, type]));
  const ofKind = (type: TypeReference<KubernetesObject>): Promise<readonly UnstructuredObject[]> =>
    ownedOfKind(pass, client, type);
  const lists = await Promise.all([...byName.values()].map(ofKind));
  return lists.flat();
}

async function ownedOfKind<CR extends LifecycleObject>(
  { cr, signal }: Pass<CR>,
  client: Client,
  type: TypeReference<KubernetesObject>,
): Promise<readonly UnstructuredObject[]> {
  const { uid: controllerUid, namespace } = cr.metadata;
  try {
    const { namespaced } = await client.resourceType(type);
    // A namespaced owner has no cluster-scoped objects.
    if (namespace !== undefined && !namespaced) return [];
    const { items } = await client.list(type, { controllerUid, namespace, signal });
    const typeMeta = { apiVersion: apiVersionOf(type), kind: type.kind };
    return items.map((item) => ({ ...item, ...typeMeta }));
  } catch (error) {
    // A kind that is not served has no objects.
    if (isOperatorError(error, 'UnknownKind') || isNotFound(error)) return [];
    throw error;
  }
}

/** Returns a unique key of an object. */
export function identityOf(object: KubernetesObject): string {
  const group = object.apiVersion.split('/').slice(0, -1).join();
  return `${group}/${describeObject(object)}`;
}

/**
 * Deletes an object in the version that was read; it may already be gone. The event follows once it is gone:
 * see {@link reportGone}.
 * @param propagationPolicy - `Foreground` deletes its dependents first.
 * @returns the object if it still exists
 * @throws ApiError 409 (`isConflict`): it has changed, and must be checked again.
 */
export async function deleteObject<CR extends LifecycleObject>(
  pass: Pass<CR>,
  object: UnstructuredObject,
  propagationPolicy: 'Foreground' | 'Background',
): Promise<UnstructuredObject | undefined> {
  const { apiVersion, kind } = object;
  const preconditions = asRead(object);
  const options = { propagationPolicy, preconditions, signal: pass.signal } as const;
  let left: UnstructuredObject | undefined;
  try {
    left = await pass.live.delete<UnstructuredObject>({ apiVersion, kind }, keyOf(object), options);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
  if (left === undefined) tellGone(pass, object);
  else waitUntilGone(pass, { ...object, metadata: left.metadata });
  return left;
}

/** Makes the conditions wait for an object that is being deleted, and remembers it for its event. */
export function waitUntilGone<CR extends LifecycleObject>(
  pass: Pass<CR>,
  object: UnstructuredObject,
): void {
  pass.settings.deletions.add(pass.cr.metadata.uid, object);
  pass.waitFor(`${describeObject(object)}: deletion requested${heldBy(object)}`);
}

/** Records the events of the deleted objects that are no longer among `left`. */
export function reportGone<CR extends LifecycleObject>(
  pass: Pass<CR>,
  left: readonly UnstructuredObject[],
): void {
  for (const object of pass.settings.deletions.take(pass.cr.metadata.uid, left)) {
    tellGone(pass, object);
  }
}

/**
 * The objects whose deletion was requested, by the configuration that owned them. Kept in memory: after a
 * restart, the events of objects that were deleted meanwhile are missing.
 */
export class Deletions {
  readonly #byOwner = new Map<string, Map<string, UnstructuredObject>>();

  /** Remembers the identity of an object, not its content. */
  add(owner = '', { apiVersion, kind, metadata }: UnstructuredObject): void {
    const { name = '', namespace, uid = '' } = metadata;
    const objects = this.#byOwner.get(owner) ?? new Map<string, UnstructuredObject>();
    const place = namespace === undefined ? {} : { namespace };
    const named = { apiVersion, kind, metadata: { name, uid, ...place } };
    this.#byOwner.set(owner, objects.set(uid, named));
  }

  /** Removes and returns the objects that are not among `left`. */
  take(owner = '', left: readonly UnstructuredObject[]): readonly UnstructuredObject[] {
    const objects = this.#byOwner.get(owner);
    if (objects === undefined) return [];
    const still = new Set(left.map(({ metadata }) => metadata.uid));
    const gone = [...objects].filter(([uid]) => !still.has(uid));
    for (const [uid] of gone) objects.delete(uid);
    if (objects.size === 0) this.#byOwner.delete(owner);
    return gone.map(([, object]) => object);
  }
}

function tellGone<CR extends LifecycleObject>(pass: Pass<CR>, object: UnstructuredObject): void {
  const message = `deleted ${describeObject(object)}`;
  pass.tell({ type: 'Normal', reason: 'DeleteResourceSuccess', message }, object);
}

function heldBy({ metadata: { finalizers = [] } }: UnstructuredObject): string {
  const held = finalizers.filter((name) => name !== 'foregroundDeletion');
  return held.length === 0 ? '' : `, held by finalizers ${held.join(', ')}`;
}
