import { unpack } from '../../crd/openapi/unpack.js';
import { packedDocuments } from '../data/documents.js';

// Constants that every server of the process shares; nothing ever writes into them.
const unpacked = new Map<string, unknown>();

/**
 * Returns a committed document by its name, unpacked when it is first needed. Shared: never write
 * into it. `scripts/openapi/compact.ts` makes the documents. They are modules, not files beside the
 * code: a bundle has only its modules.
 */
export function readDocument(name: keyof typeof packedDocuments): unknown {
  const known = unpacked.get(name);
  if (known !== undefined) return known;
  const document = unpack(packedDocuments[name]);
  unpacked.set(name, document);
  return document;
}
