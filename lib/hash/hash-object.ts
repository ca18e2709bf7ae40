import objectHash from 'object-hash';
import { canonicalJson } from './canonical-json.js';

/**
 * The SHA-256 of a JSON value, as 64 hex digits: the same in every process and every release of this
 * package. The order of members does not count, nor does a member that is undefined; the order of
 * items does.
 * @throws OperatorError `InvalidValue`: something in it has no JSON.
 */
export function hashObject(value: unknown): string {
  // Given the tree, object-hash takes an object that is referred to twice for a cycle, so that equal
  // values get different hashes; and it is a hundred times slower.
  return objectHash(canonicalJson(value), { algorithm: 'sha256' });
}
