import { hash } from 'node:crypto';
import { heldBy, knownList } from '../../object/index.js';
import type { Document } from '../document.js';

export interface ZSetEntry {
  readonly key: string;
  readonly document: Document;
  /** Multiplicity of the document; a negative weight is a missing document. Never 0. */
  readonly weight: number;
}

/**
 * A set of documents with weights. Changes are Z-sets too; their sum is the current set. Equal documents
 * share one entry (see `documentKey`); entries of weight 0 are removed.
 */
export class ZSet {
  readonly #entries = new Map<string, ZSetEntry>();

  constructor(deltas: Iterable<Delta> = []) {
    this.integrate(deltas);
  }

  /** Number of different documents. */
  get size(): number {
    return this.#entries.size;
  }

  /** Returns the entry of a key, if present. */
  get(key: string): ZSetEntry | undefined {
    return this.#entries.get(key);
  }

  /** Returns the entries in order of insertion. */
  entries(): IterableIterator<ZSetEntry> {
    return this.#entries.values();
  }

  /** Adds a change to this set. Returns the new entry, undefined if its weight is 0. */
  add({ document, weight, key = documentKey(document) }: Delta): ZSetEntry | undefined {
    const known = this.#entries.get(key);
    const sum = (known?.weight ?? 0) + weight;
    if (sum === 0) {
      this.#entries.delete(key);
      return undefined;
    }
    const entry = { key, document: known?.document ?? document, weight: sum };
    this.#entries.set(key, entry);
    return entry;
  }

  /** Adds changes to this set. */
  integrate(deltas: Iterable<Delta>): void {
    for (const delta of deltas) this.add(delta);
  }
}

/** Returns the sum of changes: one per changed document, deletes before upserts. */
export function netDeltas(deltas: Iterable<Delta>): readonly ZSetEntry[] {
  const sum = [...new ZSet(deltas).entries()];
  return [...sum.filter(({ weight }) => weight < 0), ...sum.filter(({ weight }) => weight > 0)];
}

/**
 * A change of a Z-set: a document that is added (weight above 0) or removed (below 0), with its multiplicity.
 */
export interface Delta {
  readonly document: Document;
  /** An integer, not 0. */
  readonly weight: number;
  /** The key of the document (`documentKey`), if already known; avoids computing it again. */
  readonly key?: string;
}

/** A node that turns changes of inputs into changes of an output, and keeps the state it needs. */
export interface IncrementalNode {
  /**
   * Processes changes of one input and returns the changes of the output. The output may add and remove the
   * same document; the receiver sums the weights. The cost is proportional to what the changes affect.
   * @param input - the number of the input, from 0
   */
  push(input: number, deltas: readonly Delta[]): readonly Delta[];
}

/** Longer texts are kept as their SHA-256: the JSON of a Pod is about 5 kB, and every document has a key. */
const longestKept = 96;

/**
 * Returns the key of a document: two documents have the same key if and only if they are equal. The order of
 * members and undefined members do not count. The key is short, because many are kept. Long lists made by
 * `@gather` count by their digest, which is unique to the list.
 */
export function documentKey(document: Document): string {
  return shortKey(textOf(document, knownText));
}

/**
 * Returns the key of any JSON value; `undefined` counts as null. Lists made by `@gather` have the same key as
 * other lists of the same items.
 */
export function valueKey(value: unknown): string {
  return shortKey(canonicalText(value));
}

function shortKey(text: string): string {
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

/** Returns `#` and the digest of a list if it is known. No JSON starts with `#`, so no other value has this text. */
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
