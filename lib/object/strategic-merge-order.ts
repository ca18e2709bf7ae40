import { isJsonObject, memberOf } from './json.js';
import { badArgument, noMergeKey } from './strategic-merge-errors.js';

/** Returns the value that identifies an entry. @throws StrategicMergePatchError: it has no such value. */
export function keyOf(item: unknown, mergeKey: string): unknown {
  if (!isJsonObject(item)) throw badArgument('map[string]interface {}', item);
  const key = memberOf(item, mergeKey);
  if (key === undefined) throw noMergeKey(item, mergeKey);
  return key;
}

/** The lists that {@link arranged} sorts by. */
export interface Arrangement {
  /** The entries that the patch names, in its order. */
  readonly order: readonly unknown[];
  /** The live list. */
  readonly original: readonly unknown[];
}

/**
 * Sorts the entries that `order` names into that order. The others keep their order, each before the first named entry
 * that it preceded in `original`.
 */
export function arranged(
  merged: readonly unknown[],
  { original, order }: Arrangement,
  mergeKey: string,
): unknown[] {
  const key = (item: unknown) => (mergeKey === '' ? item : keyOf(item, mergeKey));
  const [wanted, before] = [placesOf(order.map(key)), placesOf(original.map(looseKey(mergeKey)))];
  const right = sorted(
    merged.filter((item) => wanted.has(key(item))),
    (item) => placeIn(wanted, key(item)),
  );
  const left = sorted(
    merged.filter((item) => !wanted.has(key(item))),
    (item) => placeIn(before, key(item)),
  );
  return interleaved(left, right, (item) => placeIn(before, key(item)));
}

// If an entry has no place, the comparison of the real server's sort is always true, which reverses the
// entries.
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

// The live list may have entries without a merge key: they have no place.
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
