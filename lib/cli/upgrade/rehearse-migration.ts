import type { EmbeddedCluster } from '../../apiserver/index.js';
import type { Client } from '../../client/index.js';
import { withoutKeptFields } from '../../crd/internal.js';
import {
  diffObjects,
  groupOf,
  isApiError,
  keyOf,
  referenceTo,
  versionOf,
} from '../../object/index.js';
import type {
  ApiError,
  CustomResourceDefinition,
  FieldChange,
  ObjectReference,
  UnstructuredObject,
} from '../../object/index.js';
import { storageOf } from '../evolution/versions.js';
import { finding } from './upgrade-report.js';
import type { Finding } from './upgrade-report.js';

/**
 * Writes objects in the storage version of their new definition, as a storage migration does, and reads them again
 * in the version before. Reports fields that are lost on the way, and skips objects that the server can't store in the
 * new version. The cluster stays as it was.
 */
export async function rehearseMigration(
  objects: readonly UnstructuredObject[],
  crd: CustomResourceDefinition,
  cluster: EmbeddedCluster,
) {
  const storage = storageOf(crd);
  const moved = objects.filter(({ apiVersion }) => versionOf(apiVersion) !== storage.name);
  if (moved.length === 0) return { findings: [], skipped: [] };
  const before = cluster.snapshot();
  const client = cluster.client();
  const findings: Finding[] = [];
  const skipped: ObjectReference[] = [];
  for (const object of moved) {
    try {
      findings.push(...(await migrate(object, crd, client)));
    } catch (error) {
      if (!isApiError(error)) throw error;
      findings.push(refused(object, storage.name, error));
      skipped.push(referenceTo(object));
    }
  }
  cluster.restore(before);
  return { findings, skipped };
}

/** @throws ApiError the server can't convert the object, or refuses it */
async function migrate(
  object: UnstructuredObject,
  crd: CustomResourceDefinition,
  client: Client,
): Promise<readonly Finding[]> {
  const { apiVersion, kind } = object;
  const key = keyOf(object);
  const { name: storage, served } = storageOf(crd);
  const isServed = isServedIn(crd, versionOf(apiVersion));
  if (!served && !isServed) return [];
  const written = served ? `${groupOf(apiVersion)}/${storage}` : apiVersion;
  const target = { apiVersion: written, kind };
  const read = (): Promise<UnstructuredObject> => client.get({ apiVersion, kind }, key);
  const before = isServed ? await read() : undefined;
  await client.patch(target, key, { type: 'merge', body: {} });
  if (before === undefined) return [];
  const ref = referenceTo(object);
  const lost = lossOf(before, await read());
  if (lost.length > 0) {
    const message = `${namesOf(lost)} is lost or changed as soon as the object is stored in ${storage}`;
    const remedy = `keep it in the conversion to ${storage} and back, or in the schema of ${storage}`;
    return [finding('dropped', ref, { message, changes: lost, remedy })];
  }
  await client.update(withoutKeptFields(await client.get(target, key)).plain);
  const hidden = lossOf(before, await read());
  if (hidden.length === 0) return [];
  const why = `operators that use ${storage} do not see it, and it is lost once ${versionOf(apiVersion)} is removed`;
  const message = `${namesOf(hidden)} is lost in the conversion to ${storage}: ${why}`;
  const remedy = `convert it to ${storage} and back`;
  return [finding('dropped', ref, { message, changes: hidden, remedy })];
}

/** Returns the changed and removed fields. Added fields do not count: they may be defaults, or annotations. */
function lossOf(before: UnstructuredObject, after: UnstructuredObject): readonly FieldChange[] {
  const changes = diffObjects(contentOf(before), contentOf(after));
  return changes.filter(({ from }) => from !== undefined);
}

function namesOf(changes: readonly FieldChange[]): string {
  return changes.map(({ path }) => path).join(', ');
}

/** Whether clients can read objects in a version. */
export function isServedIn({ spec }: CustomResourceDefinition, version: string): boolean {
  return spec.versions.some(({ name, served }) => name === version && served);
}

function contentOf({ metadata, ...object }: UnstructuredObject): object {
  const { labels, annotations } = metadata;
  return { ...object, metadata: { labels, annotations } };
}

function refused(object: UnstructuredObject, storage: string, error: ApiError): Finding {
  const message = `the server can't store it in ${storage}: ${error.body.message ?? error.message}`;
  const remedy = `correct the conversion to ${storage} and back`;
  return finding('failed', referenceTo(object), { message, remedy });
}
