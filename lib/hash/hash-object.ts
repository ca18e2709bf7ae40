import objectHash from 'object-hash';
import { canonicalJson } from './canonical-json.js';

/**
 * Returns the SHA-256 of a JSON value as 64 hex digits: the same in every process and every release of this
 * package. The order of members and undefined members do not count; the order of items does.
 * @throws OperatorError `InvalidValue`: part of the value has no JSON.
 */
export function hashObject(value: unknown): string {
  // Given the value itself, object-hash treats an object that is referenced twice as a cycle, so equal values
  // get different hashes. It is also a hundred times slower.
  return objectHash(canonicalJson(value), { algorithm: 'sha256' });
}
