import { createHash } from 'node:crypto';
import { canonicalJson } from '../../hash/hash-object.js';

/** Number of base-36 digits of 128 bits. */
const digits = 25;

/**
 * Returns a short hash of a JSON value: the first six of 25 base-36 digits of the MD5 of its compact JSON
 * with sorted members. Compatible with dcontroller, so that names made from it stay the same. Not for
 * security.
 */
export function shortHash(value: unknown): string {
  const sum = createHash('md5').update(goJson(value)).digest('hex');
  return BigInt(`0x${sum}`).toString(36).padStart(digits, '0').slice(0, 6);
}

/** Returns JSON as Go writes it by default: with HTML characters escaped. */
function goJson(value: unknown): string {
  return canonicalJson(value).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
