import { isJsonObject, memberOf, withMember, withoutMember } from '../../object/json.js';
import type { ResourceType } from '../../object/resource-type.js';
import { OperatorError } from '../../system/operator-error.js';
import type { Document } from '../document.js';
import { bytesToText, textToBytes } from './byte-text.js';

/** Whether objects of `type` are Secrets, whose `data` is decoded in a pipeline. */
export function isSecret({ group, kind }: Pick<ResourceType, 'group' | 'kind'>): boolean {
  return group === '' && kind === 'Secret';
}

/**
 * A Secret as a pipeline works on it: the values of `data` are texts, not base64. Bytes that are no UTF-8
 * become single surrogates, so that {@link encodeSecret} gives every value back as it was.
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
 * A Secret as the API server takes it, of what a pipeline made: the values of `data` in base64, those of
 * `stringData` laid over them, which the server would never take away again. Numbers and booleans are
 * written as texts.
 * @throws OperatorError `InvalidObject`: a value is a list or a map. It is not shown.
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
