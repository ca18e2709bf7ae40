import type { KubernetesObject, ObjectKey } from '../../object/kubernetes-object.js';
import { keyOf } from '../../object/object-key.js';
import type { WriteContext } from './target-writer.js';
import type { WriterOptions } from './updater.js';

/**
 * Returns the keys of all live objects of `type` to which `fieldManager` has applied fields, according to
 * `managedFields`. Reads only metadata, page by page.
 */
export async function writtenKeys(
  { type, fieldManager }: WriterOptions,
  { client, signal, namespaces }: WriteContext,
): Promise<readonly ObjectKey[]> {
  const keys: ObjectKey[] = [];
  for (const namespace of namespaces ?? [undefined]) {
    const options = { metadataOnly: true, signal, namespace } as const;
    for await (const { items } of client.pages(type, options)) {
      keys.push(...items.filter((object) => isAppliedBy(fieldManager, object)).map(keyOf));
    }
  }
  return keys;
}

function isAppliedBy(fieldManager: string, { metadata }: KubernetesObject): boolean {
  const { managedFields = [] } = metadata;
  return managedFields.some(
    ({ manager, operation }) => manager === fieldManager && operation === 'Apply',
  );
}
