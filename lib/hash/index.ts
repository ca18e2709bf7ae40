/*
 * Hashes of objects and of configuration. They are stored in annotations and compared by later releases, so
 * equal values must give the same hash in every release. `hash-object.ts` is the only other file.
 */
export {
  canonicalJson,
  configMapHash,
  encodedData,
  secretHash,
  hashObject,
} from './hash-object.js';
export type { ConfigurationData } from './hash-object.js';
