import { isJsonObject, memberOf } from './json.js';
import { badArgument, noMergeKey } from './strategic-merge-errors.js';

/** The value that names an entry. @throws StrategicMergePatchError it has none. */
export function keyOf(item: unknown, mergeKey: string): unknown {
  if (!isJsonObject(item)) throw badArgument('map[string]interface {}', item);
  const key = memberOf(item, mergeKey);
  if (key === undefined) throw noMergeKey(item, mergeKey);
  return key;
}

/** What {@link arranged} goes by. */
export interface Arrangement {
  /** Entries that are named by the patch. */
  readonly patch: readonly unknown[];
  /** The order that they are to have. */
  readonly order: readonly unknown[];
  /** The live list. */
  readonly original: readonly unknown[];
}

/**
 * Entries that `patch` names come in `order`; the others keep their order, each before the first
 * named one that it stood before in `original`.
 */
export function arranged(
  merged: readonly unknown[],
  { original, patch, order }: Arrangement,
  mergeKey: string,
): unknown[] {
  const key = (item: unknown) => (mergeKey === '' ? item : keyOf(item, mergeKey));
  const named = new Set(patch.map(key));
  const [wanted, before] = [placesOf(order.map(key)), placesOf(original.map(looseKey(mergeKey)))];
  const right = sorted(
    merged.filter((item) => named.has(key(item))),
    (item) => placeIn(wanted, key(item)),
  );
  const left = sorted(
    merged.filter((item) => !named.has(key(item))),
    (item) => placeIn(before, key(item)),
  );
  return interleaved(left, right, (item) => placeIn(before, key(item)));
}

// Where there is no order to go by, the real server's sort (which is told that every entry stands
// before any other) turns the entries around.
function sorted(items: unknown[], placeOf: (item: unknown) => number): unknown[] {
  const isBefore = (a: unknown, b: unknown) => {
    const [placeA, placeB] = [placeOf(a), placeOf(b)];
    return placeA < 0 || placeB < 0 || placeA < placeB;
  };
  if (items.every((item) => placeOf(item) >= 0)) {
    return items.toSorted((a, b) => placeOf(a) - placeOf(b));
  }
  const result: unknown[] = [];
  for (const item of items) {
    let at = result.length;
    while (at > 0 && isBefore(item, result[at - 1])) at--;
    result.splice(at, 0, item);
  }
  return result;
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
