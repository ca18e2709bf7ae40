import { isJsonObject, memberOf, withMember, withoutMember } from '../../object/index.js';
import type { ResourceType } from '../../object/index.js';
import { OperatorError } from '../../system/index.js';
import type { Document } from '../document.js';

/** Whether `type` is Secret, whose `data` is decoded in a pipeline. */
export function isSecret({ group, kind }: Pick<ResourceType, 'group' | 'kind'>): boolean {
  return group === '' && kind === 'Secret';
}

/**
 * Decodes a Secret for a pipeline: the values of `data` become strings instead of base64. Bytes that are not
 * UTF-8 become single surrogates, so that {@link encodeSecret} restores every value.
 */
export function decodeSecret(secret: Document): Document {
  const data = memberOf(secret, 'data');
  if (!isJsonObject(data)) return secret;
  const decoded = Object.entries(data).map(([key, value]) => [key, decoded64(value)] as const);
  return withMember(secret, 'data', Object.fromEntries(decoded));
}

function decoded64(value: unknown): unknown {
  return typeof value === 'string' ? bytesToText(Buffer.from(value, 'base64')) : value;
}

/**
 * Encodes a Secret for the API server: the values of `data` in base64. Those of `stringData` are merged over
 * them, because the server would never remove a key that was applied as `stringData`. Numbers and booleans
 * become strings.
 * @throws OperatorError `InvalidObject`: a value is a list or a map. The message omits the value.
 */
export function encodeSecret(document: Document): Document {
  const data = memberOf(document, 'data');
  const stringData = memberOf(document, 'stringData');
  const all = { ...(isJsonObject(data) ? data : {}), ...(isJsonObject(stringData) && stringData) };
  if (Object.keys(all).length === 0) return withoutMember(document, 'stringData');
  const encoded = Object.entries(all).map(([key, value]) => [key, encoded64(key, value)] as const);
  return withMember(withoutMember(document, 'stringData'), 'data', Object.fromEntries(encoded));
}

function encoded64(key: string, value: unknown): string | null {
  if (value === undefined || value === null) return null;
  if (typeof value === 'object') {
    const message = `Secret: data[${JSON.stringify(key)}]: want a string, got a list or a map`;
    throw new OperatorError('InvalidObject', message);
  }
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return Buffer.from(textToBytes(text)).toString('base64');
}

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
// Base of the code units for invalid UTF-8 bytes: U+DC80 to U+DCFF, which valid UTF-8 never encodes.
const escape = 0xdc00;

/** Decodes UTF-8. Each invalid byte becomes a single surrogate. */
export function bytesToText(bytes: Uint8Array): string {
  const whole = decoded(bytes);
  if (whole !== undefined) return whole;
  let text = '';
  for (let at = 0; at < bytes.length;) {
    const length = lengthOfCharacter(bytes[at] ?? 0);
    const character = length === 0 ? undefined : decoded(bytes.subarray(at, at + length));
    text += character ?? String.fromCharCode(escape + (bytes[at] ?? 0));
    at += character === undefined ? 1 : length;
  }
  return text;
}

/** Returns the bytes that {@link bytesToText} decoded to `text`. */
export function textToBytes(text: string): Uint8Array {
  if (!/[\udc80-\udcff]/.test(text)) return Buffer.from(text, 'utf8');
  // Iterate over code points, so that the second half of a surrogate pair does not count as an escaped byte.
  const parts = Array.from(text, (character) => {
    const code = character.codePointAt(0) ?? 0;
    const isByte = code >= escape + 0x80 && code <= escape + 0xff;
    return isByte ? Uint8Array.of(code - escape) : Buffer.from(character, 'utf8');
  });
  return Buffer.concat(parts);
}

function decoded(bytes: Uint8Array): string | undefined {
  try {
    return strict.decode(bytes);
  } catch {
    return undefined;
  }
}

/** Length in bytes of the character that begins with `byte`; 0 if no character does. */
function lengthOfCharacter(byte: number): number {
  if (byte < 0x80) return 1;
  if (byte >= 0xc2 && byte < 0xe0) return 2;
  if (byte >= 0xe0 && byte < 0xf0) return 3;
  return byte >= 0xf0 && byte < 0xf5 ? 4 : 0;
}
