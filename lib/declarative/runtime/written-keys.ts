import type { ObjectKey } from '../../object/kubernetes-object.js';
import { keyOf } from '../../object/object-key.js';
import type { WriteContext } from './target-writer.js';
import type { WriterOptions } from './updater.js';

/**
 * The keys of all live objects of `type` of which `managedFields` say that `fieldManager` has applied
 * something to them. Read page by page, nothing but metadata.
 */
export async function writtenKeys(
  { type, fieldManager }: WriterOptions,
  { client, signal }: WriteContext,
): Promise<readonly ObjectKey[]> {
  const keys: ObjectKey[] = [];
  for await (const { items } of client.pages(type, { metadataOnly: true, signal })) {
    for (const object of items) {
      const { managedFields = [] } = object.metadata;
      if (
        managedFields.some((entry) => entry.manager === fieldManager && entry.operation === 'Apply')
      )
        keys.push(keyOf(object));
    }
  }
  return keys;
}
