import isEqual from 'lodash/isEqual.js';
import type { FieldChange } from '../object/diff-by-path.js';
import { fieldElement, indexElement, keyElement, pathToString } from '../object/field-path.js';
import type { FieldPath } from '../object/field-path.js';
import { isJsonObject, memberOf } from '../object/json.js';
import { equalQuantities, parseQuantity } from '../object/quantity.js';

/**
 * Where `live` is not as `desired` says. Fields that only `live` has are left out (they are defaults,
 * or somebody else's), and so are quantities of one amount. This is what can be known without the
 * server; lists of named entries are compared by name, others by position.
 */
export function desiredDifferences(desired: object, live: object): readonly FieldChange[] {
  return differences({ desired, live, path: [] }).map(({ path, from, to }) => ({
    ...{ path: pathToString(path), from, to },
  }));
}

/** Two values to compare, and where they are. */
export interface Comparison {
  readonly desired: unknown;
  readonly live: unknown;
  readonly path: FieldPath;
}

/** A difference, and where it is. */
export interface Difference {
  readonly path: FieldPath;
  readonly from: unknown;
  readonly to: unknown;
}

/** {@link desiredDifferences} of two values anywhere in an object. */
export function differences({ desired, live, path }: Comparison): readonly Difference[] {
  if (isSame(desired, live)) return [];
  if (isJsonObject(desired) && isJsonObject(live)) {
    return Object.entries(desired).flatMap(([name, value]) =>
      differences({
        desired: value,
        live: memberOf(live, name),
        path: [...path, fieldElement(name)],
      }),
    );
  }
  if (Array.isArray(desired) && Array.isArray(live)) return listDifferences(desired, live, path);
  // What is empty is not stored: `env: []`, `labels: {}`.
  if (live === undefined && isEmpty(desired)) return [];
  return [{ path, from: live, to: desired }];
}

function listDifferences(
  desired: readonly unknown[],
  live: readonly unknown[],
  path: FieldPath,
): readonly Difference[] {
  const wanted = desired.map(nameOf);
  const named = [...wanted, ...live.map(nameOf)].every((name) => name !== undefined);
  if (!named) return positionalDifferences(desired, live, path);
  const changed = desired.flatMap((item, index) => {
    const name = wanted[index] ?? '';
    const found = live.find((other) => nameOf(other) === name);
    return differences({ desired: item, live: found, path: [...path, keyElement({ name })] });
  });
  const dropped = live.filter((item) => !wanted.includes(nameOf(item)));
  const removals = dropped.map((item) => ({
    path: [...path, keyElement({ name: nameOf(item) ?? '' })],
    ...{ from: item, to: undefined },
  }));
  return [...changed, ...removals];
}

function positionalDifferences(
  desired: readonly unknown[],
  live: readonly unknown[],
  path: FieldPath,
): readonly Difference[] {
  const length = Math.max(desired.length, live.length);
  return Array.from({ length }, (_, index) => index).flatMap((index) => {
    const at = [...path, indexElement(index)];
    if (index >= desired.length) return [{ path: at, from: live[index], to: undefined }];
    return differences({ desired: desired[index], live: live[index], path: at });
  });
}

function nameOf(item: unknown): string | undefined {
  const name = isJsonObject(item) ? item['name'] : undefined;
  return typeof name === 'string' ? name : undefined;
}

function isEmpty(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  if (isJsonObject(value)) return Object.values(value).every(isEmpty);
  return value === '' || value === null;
}

function isSame(desired: unknown, live: unknown): boolean {
  if (isEqual(desired, live)) return true;
  return isAmount(desired) && isAmount(live) && sameAmount(desired, live);
}

function isAmount(value: unknown): value is string | number {
  return typeof value === 'number' || (typeof value === 'string' && /^[-+.0-9]/.test(value));
}

function sameAmount(one: string | number, other: string | number): boolean {
  try {
    return equalQuantities(parseQuantity(one), parseQuantity(other));
  } catch {
    // Not amounts, only texts that begin like one: a version, an address.
    return false;
  }
}
