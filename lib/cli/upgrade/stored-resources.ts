import omit from 'lodash/omit.js';
import type { Client } from '../../client/client.js';
import { getIfExists } from '../../client/object-changes.js';
import { describeObject } from '../../object/describe-object.js';
import { Namespace } from '../../object/kinds.js';
import { keyOf } from '../../object/object-key.js';
import type { UnstructuredObject } from '../../object/kubernetes-object.js';
import { OperatorError } from '../../system/operator-error.js';
import { asError } from '../../system/as-error.js';
import { idOf } from './cluster-state.js';

/**
 * Metadata of the source cluster. Owner references are also removed: their owners are absent, so that the
 * objects would be garbage-collected.
 */
const ofElsewhere = [
  ...['uid', 'resourceVersion', 'generation', 'creationTimestamp', 'managedFields', 'selfLink'],
  ...['deletionTimestamp', 'deletionGracePeriodSeconds', 'ownerReferences'],
] as const;

/**
 * Stores the objects of files in an empty cluster, with their namespaces and status.
 * @param namespace - for namespaced objects without one
 * @returns each object once; the last of duplicates
 * @throws OperatorError `InvalidConfig`: the cluster rejects an object
 */
export async function storeResources(
  objects: readonly UnstructuredObject[],
  client: Client,
  namespace: string,
): Promise<readonly UnstructuredObject[]> {
  const stored = new Map<string, UnstructuredObject>();
  for (const object of objects) {
    try {
      const made = await store(object, client, namespace);
      stored.set(idOf(made), made);
    } catch (thrown) {
      const error = asError(thrown);
      const what = `${describeObject(object)} can't be stored as the old version has it`;
      throw new OperatorError('InvalidConfig', `${what}: ${error.message}`, { cause: error });
    }
  }
  return [...stored.values()];
}

async function store(
  object: UnstructuredObject,
  client: Client,
  namespace: string,
): Promise<UnstructuredObject> {
  const type = await client.resourceType(object);
  const place = type.namespaced ? { namespace: object.metadata.namespace ?? namespace } : {};
  const metadata = { ...omit(object.metadata, ofElsewhere), ...place };
  if (place.namespace !== undefined) await ensureNamespace(place.namespace, client);
  const given = { ...object, metadata };
  const made = await put(omit(given, 'status'), client);
  const { status } = object;
  if (status === undefined) return made;
  return client.update({ ...made, status }, { subresource: 'status' });
}

/** Creates or updates an object: a cluster already has some, such as Namespaces. */
async function put(object: UnstructuredObject, client: Client): Promise<UnstructuredObject> {
  const { apiVersion, kind, metadata } = object;
  const live = await getIfExists<UnstructuredObject>(client, { apiVersion, kind }, keyOf(object));
  if (live === undefined) return client.create(object);
  const { uid = '', resourceVersion = '' } = live.metadata;
  return client.update({ ...object, metadata: { ...metadata, uid, resourceVersion } });
}

async function ensureNamespace(name: string, client: Client): Promise<void> {
  if ((await getIfExists(client, Namespace, { name })) !== undefined) return;
  await client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
}
