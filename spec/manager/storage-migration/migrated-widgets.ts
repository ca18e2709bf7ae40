import type { EmbeddedCluster } from '../../../lib/apiserver/index.js';
import { ensureCrd } from '../../../lib/client/index.js';
import type { Client } from '../../../lib/client/index.js';
import { defineResource, s } from '../../../lib/crd/index.js';
import { CustomResourceDefinition } from '../../../lib/object/index.js';
import type { KubernetesObject } from '../../../lib/object/index.js';

const schema = s.object({ spec: s.object({ size: s.integer() }) });
const colored = s.object({ spec: s.object({ size: s.integer(), color: s.optional(s.string()) }) });

/** The kind Widget, of which objects are stored in `storage`. Only v2 has a color. */
export function widgetsIn(storage: 'v1' | 'v2', group = 'example.com') {
  return defineResource({
    ...{ group, kind: 'Widget' },
    versions: [
      { name: 'v1', schema, storage: storage === 'v1' },
      { name: 'v2', schema: colored, storage: storage === 'v2' },
    ],
    conversion: 'prune',
  });
}

/** The kind after its storage version has changed. */
export const Widget = widgetsIn('v2');

/** Stores objects in v1, then changes the storage version to v2, unless it stays. */
export async function storeWidgets(
  client: Client,
  count: number,
  storage: 'v1' | 'v2' = 'v2',
): Promise<void> {
  await ensureCrd(client, widgetsIn('v1').crd);
  for (let index = 0; index < count; index++) await client.create(widget(index));
  if (storage === 'v2') await ensureCrd(client, Widget.crd);
}

/** The widget with a number, as v1 has it. */
export function widget(index: number, group = 'example.com'): KubernetesObject {
  const metadata = { name: `widget-${String(index).padStart(5, '0')}`, namespace: 'default' };
  return {
    apiVersion: `${group}/v1`,
    kind: 'Widget',
    metadata,
    spec: { size: index },
  } as KubernetesObject;
}

/** Returns the numbers of objects by the version in which they are stored. */
export function storedIn(
  cluster: EmbeddedCluster,
  group = 'example.com',
): Readonly<Record<string, number>> {
  const { collections } = cluster.snapshot();
  return countsOf([...(collections.get(`${group}/widgets`)?.values() ?? [])]);
}

/** Counts objects by their version. */
export function countsOf(objects: readonly { readonly apiVersion: string }[]) {
  const counts: Record<string, number> = {};
  for (const { apiVersion } of objects) counts[apiVersion] = (counts[apiVersion] ?? 0) + 1;
  return counts;
}

/** Reads the definition of the kind. */
export function definitionOf(
  client: Client,
  group = 'example.com',
): Promise<CustomResourceDefinition> {
  return client.get(CustomResourceDefinition, { name: `widgets.${group}` });
}
