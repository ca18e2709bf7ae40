export { canonicalJson } from './canonical-json.js';
export { configMapHash, encodedData, secretHash } from './data-hash.js';
export type { ConfigurationData } from './data-hash.js';
export { hashObject } from './hash-object.js';
