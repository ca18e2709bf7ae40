import { isJsonObject, memberOf, withMember, withoutMember } from '../../object/json.js';
import type { ResourceType } from '../../object/resource-type.js';
import { OperatorError } from '../../system/operator-error.js';
import type { Document } from '../document.js';
import { bytesToText, textToBytes } from './byte-text.js';

/** Whether `type` is Secret, whose `data` is decoded in a pipeline. */
export function isSecret({ group, kind }: Pick<ResourceType, 'group' | 'kind'>): boolean {
  return group === '' && kind === 'Secret';
}

/**
 * Decodes a Secret for a pipeline: the values of `data` become texts instead of base64. Bytes that are not
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
 * Encodes a Secret for the API server: the values of `data` in base64, with those of `stringData` merged over
 * them, because the server would never remove the latter. Numbers and booleans become texts.
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
    const message = `Secret: data[${JSON.stringify(key)}] wants a text, got a list or a map`;
    throw new OperatorError('InvalidObject', message);
  }
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return Buffer.from(textToBytes(text)).toString('base64');
}
