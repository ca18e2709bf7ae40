import type { Client } from '../../../lib/client/client.js';
import { isApiError } from '../../../lib/object/api-error.js';
import type { StatusCause } from '../../../lib/object/api-error.js';
import type { UnstructuredObject } from '../../../lib/object/kubernetes-object.js';
import type { FeatureCase, featureResource } from './features.js';

type Resource = ReturnType<typeof featureResource>;

/** Causes that a server returned for a case, sorted by text. */
export type CaseVerdict = readonly string[];

function textsOf(causes: readonly StatusCause[]): CaseVerdict {
  return causes
    .map(({ field = '', message = '', reason = '' }) => `${reason} ${field}: ${message}`)
    .sort();
}

function objectOf(resource: Resource, spec: unknown): UnstructuredObject {
  const { apiVersion, kind } = resource;
  return { apiVersion, kind, metadata: { name: 'case', namespace: 'default' }, spec };
}

/** Returns the causes of the client-side validator. */
export function localVerdict(resource: Resource, { spec, old }: FeatureCase): CaseVerdict {
  const before = old === undefined ? undefined : objectOf(resource, old);
  return textsOf(resource.validate(objectOf(resource, spec), before));
}

/** Returns the causes of a server with the CRD of the resource. */
export async function serverVerdict(
  client: Client,
  resource: Resource,
  { spec, old }: FeatureCase,
): Promise<CaseVerdict> {
  const object = objectOf(resource, spec);
  if (old === undefined) return causesOf(() => client.create(object, { dryRun: true }));
  const stored = await client.create(objectOf(resource, old));
  const { resourceVersion = '' } = stored.metadata;
  const update = { ...object, metadata: { ...object.metadata, resourceVersion } };
  const verdict = await causesOf(() => client.update(update, { dryRun: true }));
  await client.delete(resource, { name: 'case', namespace: 'default' });
  return verdict;
}

async function causesOf(write: () => Promise<unknown>): Promise<CaseVerdict> {
  try {
    await write();
    return [];
  } catch (error) {
    if (!isApiError(error) || error.status !== 422) throw error;
    return textsOf(error.causes);
  }
}
