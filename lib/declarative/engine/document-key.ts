import { hash } from 'node:crypto';
import { heldBy, knownList } from '../../object/known-list.js';
import type { Document } from '../document.js';

/** Longer texts are kept as their SHA-256: a Pod's JSON is some 5 kB, and a key is kept for each. */
const longestKept = 96;

/**
 * The key of a document: equal documents have equal keys, others never. The order of members does not
 * count, nor does one that is undefined. Short enough to be kept for many. Of long lists that a
 * `@gather` made the digest counts, which no other list has.
 */
export function documentKey(document: Document): string {
  return valueKey(document);
}

/** As {@link documentKey}, of any JSON value; `undefined` is null. */
export function valueKey(value: unknown): string {
  const text = textOf(value, knownText);
  // No JSON starts with `#`: a digest is never taken for a text.
  return text.length <= longestKept ? text : `#${hash('sha256', text, 'base64')}`;
}

/**
 * The JSON of `value` with sorted members. Unlike `canonicalJson` of lib/hash it takes anything, so
 * that no document can stop a pipeline: NaN and the like stand for themselves.
 */
export function canonicalText(value: unknown): string {
  return textOf(value, undefined);
}

type ListText = (list: readonly unknown[]) => string | undefined;

/** What stands for a list of which the digest is known; no JSON begins so. */
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
