import { goText, goTypeOf } from './go-text.js';
import { isJsonObject, memberOf } from './json.js';
import { patchDirective, withoutDirectives } from './strategic-merge-directives.js';
import { arranged, keyOf } from './strategic-merge-order.js';
import {
  badArgument,
  listOfLists,
  misfit,
  noMergeKey,
  unknownDirective,
} from './strategic-merge-errors.js';

type JsonMap = Readonly<Record<string, unknown>>;

export interface ListStrategy {
  /** True if the list is merged, false if it is replaced. */
  readonly merges: boolean;
  /** The field that identifies an entry; empty for scalars. */
  readonly mergeKey: string;
  readonly mergeItems: (original: JsonMap, patch: JsonMap) => JsonMap;
  /** The patch lists the scalars to delete. */
  readonly deletes: boolean;
}

/** The lists of a patch with a `$setElementOrder`. */
export interface OrderedLists {
  readonly order: readonly unknown[];
  /** The list of the object; undefined if the object has no such list. */
  readonly original: readonly unknown[] | undefined;
  /** The list of the patch; undefined if only the order changes. */
  readonly patch: readonly unknown[] | undefined;
}

/** Merges two lists: entries of the patch in its order, the others in their original places around them. */
export function mergeLists(
  original: readonly unknown[],
  patch: readonly unknown[],
  strategy: ListStrategy,
): readonly unknown[] {
  return merge(original, patch, strategy).merged;
}

interface Merged {
  readonly merged: readonly unknown[];
  /** The order of the live list, by which the real server sorts the entries again. */
  readonly before: readonly unknown[];
}

function merge(
  original: readonly unknown[],
  patch: readonly unknown[],
  strategy: ListStrategy,
): Merged {
  if (original.length === 0 && patch.length === 0) return { merged: original, before: original };
  if (!holdsMaps(original, patch)) {
    return { merged: mergedScalars(original, patch, strategy), before: original };
  }
  const { mergeKey } = strategy;
  if (mergeKey === '') throw misfit('cannot merge lists without merge key for struct');
  const special = withoutSpecial(original, patch, mergeKey);
  const items = mergedItems(special, strategy);
  const merged = arranged(items, { order: special.patch, original: special.original }, mergeKey);
  const added = items.slice(special.original.length);
  return { merged, before: overwritten(original, special.original, added) };
}

// The real server deletes and adds entries in place. An added entry takes the slot of a deleted one, and so
// counts as having a place in the live list.
function overwritten(
  original: readonly unknown[],
  left: readonly unknown[],
  added: readonly unknown[],
): readonly unknown[] {
  if (left.length >= original.length) return original;
  return [...left, ...added].slice(0, original.length);
}

function mergedScalars(
  original: readonly unknown[],
  patch: readonly unknown[],
  { deletes }: ListStrategy,
): readonly unknown[] {
  if (deletes) return original.filter((item) => !patch.includes(item));
  const scalars = deduplicated([...original, ...patch]);
  return arranged(scalars, { order: patch, original }, '');
}

/** Like {@link mergeLists}, with a `$setElementOrder`; `undefined` if neither side has the list. */
export function orderedLists(
  { order, original, patch }: OrderedLists,
  strategy: ListStrategy,
): readonly unknown[] | undefined {
  const { mergeKey } = strategy;
  checkOrder(patch, order, mergeKey);
  const result = mergedForOrder(original, patch, strategy);
  if (result === undefined) return undefined;
  const { merged, before } = result;
  // Lists of maps that are replaced have no key to sort by.
  const [unsorted] = [...order, ...(original ?? [])];
  const isMaps = holdsMaps(original ?? [], patch ?? []);
  if (isMaps && mergeKey === '' && unsorted !== undefined) throw noMergeKey(unsorted, mergeKey);
  return arranged(merged, { order, original: before }, mergeKey);
}

function mergedForOrder(
  original: readonly unknown[] | undefined,
  patch: readonly unknown[] | undefined,
  strategy: ListStrategy,
): Merged | undefined {
  if (patch === undefined) return original && { merged: original, before: original };
  if (original === undefined) {
    return { merged: withoutDirectives(patch) as readonly unknown[], before: [] };
  }
  return strategy.merges ? merge(original, patch, strategy) : { merged: patch, before: original };
}

/** Checks that the entries of `patch` are in `order`, in the same sequence. */
function checkOrder(
  patch: readonly unknown[] | undefined,
  order: readonly unknown[],
  mergeKey: string,
): void {
  if (patch === undefined || order.length === 0 || patch.length === 0) return;
  const left = patch.filter((item) => !isDeletion(item, mergeKey));
  let [at, wanted] = [0, 0];
  while (at < left.length && wanted < order.length) {
    if (hasDirective(left[at])) {
      at++;
      continue;
    }
    if (sameKey(left[at], order[wanted], mergeKey)) at++;
    wanted++;
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
  return memberOf(item, patchDirective) === 'delete';
}

function hasDirective(item: unknown): boolean {
  return isJsonObject(item) && Object.hasOwn(item, patchDirective);
}

function sameKey(a: unknown, b: unknown, mergeKey: string): boolean {
  return mergeKey === '' ? a === b : keyOf(a, mergeKey) === keyOf(b, mergeKey);
}

/** Whether the lists have maps; all entries must have one type. */
function holdsMaps(...lists: readonly (readonly unknown[])[]): boolean {
  const types = lists.flat().map(goTypeOf);
  const [type] = types;
  if (type === undefined) throw misfit('no elements in any of the given slices');
  if (type === '[]interface {}') throw listOfLists();
  if (types.some((other) => other !== type)) {
    throw misfit(`list element types are not identical: ${goText(lists)}`);
  }
  return type === 'map[string]interface {}';
}

// Keeps the first of equal scalars, and fills the gap with the last entry.
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

/** Carries out the directives among the entries of the patch. */
function withoutSpecial(
  original: readonly unknown[],
  patch: readonly unknown[],
  mergeKey: string,
): Lists {
  const plain: unknown[] = [];
  let left = original;
  let replaces = false;
  for (const item of patch as readonly JsonMap[]) {
    const how = memberOf(item, patchDirective);
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
