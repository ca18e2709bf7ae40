import { isJsonObject, memberOf } from './json.js';
import {
  badArgument,
  goText,
  listOfLists,
  misfit,
  noMergeKey,
  unknownDirective,
} from './strategic-merge-errors.js';

type JsonMap = Readonly<Record<string, unknown>>;

/** How a list is merged. */
export interface ListStrategy {
  /** Else it is replaced. */
  readonly merges: boolean;
  /** The field that names an entry; empty for scalars. */
  readonly mergeKey: string;
  readonly mergeItems: (original: JsonMap, patch: JsonMap) => JsonMap;
  /** The patch names scalars that go. */
  readonly deletes: boolean;
}

/** Lists that come with a wanted order. */
export interface OrderedLists {
  readonly order: readonly unknown[];
  /** Absent: there is no list yet. */
  readonly original: readonly unknown[] | undefined;
  /** Absent: only the order changes. */
  readonly patch: readonly unknown[] | undefined;
}

/** The list of both: entries of the patch in its order, the others around them as they stood. */
export function mergeLists(
  original: readonly unknown[],
  patch: readonly unknown[],
  strategy: ListStrategy,
): readonly unknown[] {
  if (original.length === 0 && patch.length === 0) return original;
  if (!holdsMaps(original, patch)) {
    if (strategy.deletes) return original.filter((item) => !patch.includes(item));
    const scalars = deduplicated([...original, ...patch]);
    return arranged(scalars, { patch, order: patch, original }, '');
  }
  const { mergeKey } = strategy;
  if (mergeKey === '') throw misfit('cannot merge lists without merge key for struct');
  const special = withoutSpecial(original, patch, mergeKey);
  const merged = mergedItems(special, strategy);
  const { patch: order } = special;
  return arranged(merged, { patch: order, order, original: special.original }, mergeKey);
}

/** {@link mergeLists} with a `$setElementOrder`; `undefined`: there is no list on either side. */
export function orderedLists(
  { order, original, patch }: OrderedLists,
  strategy: ListStrategy,
): readonly unknown[] | undefined {
  const { mergeKey } = strategy;
  checkOrder(patch, order, mergeKey);
  const merged = mergedForOrder(original, patch, strategy);
  if (merged === undefined) return undefined;
  holdsMaps(original ?? [], patch ?? []);
  return arranged(merged, { patch: order, order, original: original ?? [] }, mergeKey);
}

function mergedForOrder(
  original: readonly unknown[] | undefined,
  patch: readonly unknown[] | undefined,
  strategy: ListStrategy,
): readonly unknown[] | undefined {
  if (patch === undefined) return original;
  if (original === undefined) return patch.filter((item) => !hasDirective(item));
  return strategy.merges ? mergeLists(original, patch, strategy) : patch;
}

/** The entries of `patch` must be among those of `order`, in the same order. */
function checkOrder(
  patch: readonly unknown[] | undefined,
  order: readonly unknown[],
  mergeKey: string,
): void {
  if (patch === undefined || order.length === 0 || patch.length === 0) return;
  const left = patch.filter((item) => !isDeletion(item, mergeKey) && !hasDirective(item));
  let at = 0;
  for (const wanted of order) {
    if (at < left.length && sameKey(left[at], wanted, mergeKey)) at++;
  }
  if (at < left.length) {
    throw misfit(
      `The order in patch list:\n${goText(patch)}\n doesn't match $setElementOrder list:\n${goText(order)}\n`,
    );
  }
}

function isDeletion(item: unknown, mergeKey: string): boolean {
  if (mergeKey === '') return false;
  if (!isJsonObject(item)) throw badArgument('map[string]interface {}', item);
  return memberOf(item, '$patch') === 'delete';
}

function hasDirective(item: unknown): boolean {
  return isJsonObject(item) && Object.hasOwn(item, '$patch');
}

function sameKey(a: unknown, b: unknown, mergeKey: string): boolean {
  return mergeKey === '' ? a === b : keyOf(a, mergeKey) === keyOf(b, mergeKey);
}

function keyOf(item: unknown, mergeKey: string): unknown {
  if (!isJsonObject(item)) throw badArgument('map[string]interface {}', item);
  const key = memberOf(item, mergeKey);
  if (key === undefined) throw noMergeKey(item, mergeKey);
  return key;
}

/** Whether the lists are of maps; all entries have to be of one type. */
function holdsMaps(...lists: readonly (readonly unknown[])[]): boolean {
  const types = lists.flat().map(typeName);
  const [type] = types;
  if (type === undefined) throw misfit('no elements in any of the given slices');
  if (type === 'array') throw listOfLists();
  if (types.some((other) => other !== type)) {
    throw misfit(`list element types are not identical: ${goText(lists)}`);
  }
  return type === 'object';
}

function typeName(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  // To Go, whole numbers and others are of two types.
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64';
  return value === null ? 'null' : typeof value;
}

// Of scalars that stand twice the first stays; the gap is filled from the end.
function deduplicated(items: unknown[]): unknown[] {
  for (let at = 0; at < items.length - 1; at++) {
    for (let other = at + 1; other < items.length; other++) {
      if (items[at] !== items[other]) continue;
      const last = items.pop();
      if (other < items.length) items[other] = last;
      other--;
    }
  }
  return items;
}

interface Lists {
  readonly original: readonly unknown[];
  readonly patch: readonly unknown[];
}

/** Carries out the entries of the patch that are directives. */
function withoutSpecial(
  original: readonly unknown[],
  patch: readonly unknown[],
  mergeKey: string,
): Lists {
  const plain: unknown[] = [];
  let left = original;
  let replaces = false;
  for (const item of patch as readonly JsonMap[]) {
    const how = memberOf(item, '$patch');
    if (how === undefined) {
      plain.push(item);
    } else if (how === 'delete') {
      const key = keyOf(item, mergeKey);
      left = left.filter((each) => memberOf(each as JsonMap, mergeKey) !== key);
    } else if (how === 'replace') {
      replaces = true;
    } else if (how === 'merge') {
      throw misfit('merging lists cannot yet be specified in the patch');
    } else {
      throw unknownDirective(how, item);
    }
  }
  return replaces ? { original: plain, patch: [] } : { original: left, patch: plain };
}

function mergedItems({ original, patch }: Lists, strategy: ListStrategy): unknown[] {
  const { mergeKey, mergeItems } = strategy;
  const merged = [...original];
  for (const item of patch as readonly JsonMap[]) {
    const key = keyOf(item, mergeKey);
    const at = merged.findIndex((each) => memberOf(each as JsonMap, mergeKey) === key);
    if (at < 0) merged.push(item);
    else merged[at] = mergeItems(merged[at] as JsonMap, item);
  }
  return merged;
}

interface Arrangement extends Lists {
  readonly order: readonly unknown[];
}

/**
 * Entries that `patch` names come in `order`; the others keep their order, each before the first
 * named one that it stood before in `original`.
 */
function arranged(
  merged: readonly unknown[],
  { original, patch, order }: Arrangement,
  mergeKey: string,
): unknown[] {
  const key = (item: unknown) => (mergeKey === '' ? item : keyOf(item, mergeKey));
  const named = new Set(patch.map(key));
  const [wanted, before] = [placesOf(order.map(key)), placesOf(original.map(looseKey(mergeKey)))];
  const by = (places: Places) => (a: unknown, b: unknown) =>
    placeIn(places, key(a)) - placeIn(places, key(b));
  const right = merged.filter((item) => named.has(key(item))).toSorted(by(wanted));
  const left = merged.filter((item) => !named.has(key(item))).toSorted(by(before));
  return interleaved(left, right, (item) => placeIn(before, key(item)));
}

type Places = ReadonlyMap<unknown, number>;

function placesOf(keys: readonly unknown[]): Places {
  const places = new Map<unknown, number>();
  for (const [place, key] of keys.entries()) if (!places.has(key)) places.set(key, place);
  return places;
}

function placeIn(places: Places, key: unknown): number {
  return places.get(key) ?? -1;
}

// The live list may have entries that can't be named: they have no place.
function looseKey(mergeKey: string): (item: unknown) => unknown {
  return (item) => {
    if (mergeKey === '') return item;
    return isJsonObject(item) ? memberOf(item, mergeKey) : undefined;
  };
}

function interleaved(
  left: readonly unknown[],
  right: readonly unknown[],
  placeOf: (item: unknown) => number,
): unknown[] {
  const result: unknown[] = [];
  let at = 0;
  for (const item of right) {
    const place = placeOf(item);
    while (place >= 0 && at < left.length) {
      const other = placeOf(left[at]);
      if (other < 0 || other >= place) break;
      result.push(left[at]);
      at++;
    }
    result.push(item);
  }
  return [...result, ...left.slice(at)];
}
