import { createHash } from 'node:crypto';
import { canonicalJson } from '../../hash/canonical-json.js';

/** How many digits 36 takes for 128 bits. */
const digits = 25;

/**
 * A short hash of a JSON value: the MD5 of its compact JSON with sorted members, in base 36 with 25
 * digits, of which the first six. It is dcontroller's, so that names made of it stay; it tells
 * values apart, and keeps nothing secret.
 */
export function shortHash(value: unknown): string {
  const sum = createHash('md5').update(goJson(value)).digest('hex');
  return BigInt(`0x${sum}`).toString(36).padStart(digits, '0').slice(0, 6);
}

/** As Go writes JSON by default: with what HTML minds escaped. */
function goJson(value: unknown): string {
  return canonicalJson(value).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
