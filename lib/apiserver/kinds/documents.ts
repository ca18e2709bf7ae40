import { unpack } from '../../crd/openapi/unpack.js';
import { packedDocuments } from '../data/documents.js';

// Constants that all servers of the process share. They must never be modified.
const unpacked = new Map<string, unknown>();

/**
 * Returns a committed document by its name. It is unpacked at its first use and shared: never
 * modify it. `scripts/openapi/compact.ts` generates the documents. They are modules, not data
 * files, because a bundle contains only its modules.
 */
export function readDocument(name: keyof typeof packedDocuments): unknown {
  const known = unpacked.get(name);
  if (known !== undefined) return known;
  const document = unpack(packedDocuments[name]);
  unpacked.set(name, document);
  return document;
}
