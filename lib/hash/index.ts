export {
  canonicalJson,
  configMapHash,
  encodedData,
  secretHash,
  hashObject,
} from './hash-object.js';
export type { ConfigurationData } from './hash-object.js';
