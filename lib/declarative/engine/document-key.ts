import { hash } from 'node:crypto';
import { heldBy, knownList } from '../../object/known-list.js';
import type { Document } from '../document.js';

/** Longer texts are kept as their SHA-256: the JSON of a Pod is about 5 kB, and every document has a key. */
const longestKept = 96;

/**
 * Returns the key of a document: two documents have the same key if and only if they are equal. The order of
 * members and undefined members do not count. The key is short, because many are kept. Long lists made by
 * `@gather` count by their digest, which is unique to the list.
 */
export function documentKey(document: Document): string {
  return valueKey(document);
}

/** Like {@link documentKey}, for any JSON value; `undefined` counts as null. */
export function valueKey(value: unknown): string {
  const text = textOf(value, knownText);
  // No JSON starts with `#`, so a digest never equals a text.
  return text.length <= longestKept ? text : `#${hash('sha256', text, 'base64')}`;
}

/**
 * Returns the JSON of `value` with sorted members. Unlike `canonicalJson` of lib/hash it accepts any value,
 * so that no document can stop a pipeline: NaN and similar values have texts of their own.
 */
export function canonicalText(value: unknown): string {
  return textOf(value, undefined);
}

type ListText = (list: readonly unknown[]) => string | undefined;

/** Returns the text of a list with a known digest; no JSON starts like it. */
function knownText(list: readonly unknown[]): string | undefined {
  const known = knownList(list);
  return known && `#${known.digest}`;
}

function textOf(value: unknown, known: ListText | undefined): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (value === null || value === undefined) return 'null';
  if (typeof value === 'object') {
    if (Array.isArray(value)) return known?.(value) ?? listText(value, known);
    return objectText(value as Document, known);
  }
  // -0 is 0, as in JSON.
  if (typeof value === 'number') return value === 0 ? '0' : String(value);
  return typeof value === 'boolean' ? String(value) : typeof value;
}

function listText(list: readonly unknown[], known: ListText | undefined): string {
  let text = '[';
  for (let place = 0; place < list.length; place++) {
    if (place > 0) text += ',';
    text += textOf(list[place], known);
  }
  return `${text}]`;
}

function objectText(object: Document, known: ListText | undefined): string {
  let text = '{';
  const held = known && heldBy(object);
  for (const name of Object.keys(object).sort()) {
    if (name === held?.name) {
      text += `${text === '{' ? '' : ','}${JSON.stringify(name)}:#${held.list.known.digest}`;
      continue;
    }
    const value = object[name];
    if (value === undefined) continue;
    if (text !== '{') text += ',';
    text += `${JSON.stringify(name)}:${textOf(value, known)}`;
  }
  return `${text}}`;
}
