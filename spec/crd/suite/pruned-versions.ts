import { ensureCrd } from '../../../lib/client/index.js';
import type { Client } from '../../../lib/client/index.js';
import { defineResource, s, versionOfResource } from '../../../lib/crd/index.js';
import type { KubernetesObject } from '../../../lib/object/kubernetes-object.js';

interface Thing extends KubernetesObject {
  readonly spec: { readonly text: string; readonly label?: string; readonly size?: number };
  readonly status?: { readonly phase?: string };
}

/**
 * Writes an object through a version that lacks a field of the stored one.
 * @returns the spec in the stored version: at first, after a read, after a write of the status, and,
 *   with all fields again, after an update without a change
 */
export async function writtenByOtherVersion(
  client: Client,
  group: string,
): Promise<readonly Thing['spec'][]> {
  const text = s.string();
  const status = s.object({ phase: s.optional(s.string()) });
  const more = { label: s.optional(s.string()), size: s.optional(s.integer()) };
  const resource = defineResource({
    ...{ group, kind: 'Thing', conversion: 'prune' },
    versions: [
      {
        name: 'v1',
        storage: true,
        schema: s.object({ spec: s.object({ text, ...more }) }),
        status,
      },
      { name: 'v2', schema: s.object({ spec: s.object({ text, size: more.size }) }), status },
    ],
  });
  await ensureCrd(client, resource.crd);
  const [v1, v2] = ['v1', 'v2'].map((name) => versionOfResource<Thing>(resource, name));
  if (v1 === undefined || v2 === undefined) throw new Error('there are two versions');
  const key = { name: 'a', namespace: 'default' };
  const spec = { text: 'a', label: 'b', size: 1 };
  await client.create<Thing>({ apiVersion: `${group}/v1`, kind: 'Thing', metadata: key, spec });
  const { spec: created } = await client.get(v1, key);
  await client.get(v2, key);
  const { spec: read } = await client.get(v1, key);
  const body = { status: { phase: 'Ready' } };
  await client.patch(v2, key, { type: 'merge', body }, { subresource: 'status' });
  const { spec: written } = await client.get(v1, key);
  await client.patch(v1, key, { type: 'merge', body: { spec: { label: 'b' } } });
  await client.update(await client.get(v2, key));
  const { spec: updated } = await client.get(v1, key);
  return [created, read, written, updated];
}

/** The result, which is the same on both servers. */
export const keptByVersions: readonly Thing['spec'][] = [
  { text: 'a', label: 'b', size: 1 },
  { text: 'a', label: 'b', size: 1 },
  { text: 'a', size: 1 },
  { text: 'a', size: 1 },
];
