import {
  deepEqual,
  diffObjects,
  serverSetFields,
  redactChanges,
  fieldElement,
  fieldPath,
  indexElement,
  keyElement,
  pathToString,
  valueAtPath,
  isJsonObject,
  memberOf,
  appliedFields,
  fieldManagersOf,
  lastUpdater,
  isSameAmount,
  uncoveredPaths,
} from '../object/index.js';
import type { FieldChange, FieldPath, UnstructuredObject } from '../object/index.js';
import type { DesiredObject, Pair } from './desired-object.js';
import { appliedHashAnnotation } from './ownership.js';

/**
 * Returns the differences between `live` and `desired`, as far as they can be known without the server. It
 * ignores fields that only `live` has (defaults, or fields of other managers) and equal quantities in
 * different notation. Lists of named entries are compared by name, other lists by position.
 */
export function desiredDifferences(desired: object, live: object): readonly FieldChange[] {
  return differences({ desired, live, path: [] }).map(({ path, from, to }) => ({
    ...{ path: pathToString(path), from, to },
  }));
}

/** Two values to compare, with their path. */
export interface Comparison {
  readonly desired: unknown;
  readonly live: unknown;
  readonly path: FieldPath;
}

/** A difference, with its path. */
export interface Difference {
  readonly path: FieldPath;
  readonly from: unknown;
  readonly to: unknown;
}

/** {@link desiredDifferences} of two values anywhere in an object. */
export function differences({ desired, live, path }: Comparison): readonly Difference[] {
  if (desired === live) return [];
  if (isJsonObject(desired) && isJsonObject(live)) {
    const found: Difference[] = [];
    for (const [name, value] of Object.entries(desired)) {
      const there = memberOf(live, name);
      if (value === there) continue;
      const below = [...path, fieldElement(name)];
      found.push(...differences({ desired: value, live: there, path: below }));
    }
    return found;
  }
  if (Array.isArray(desired) && Array.isArray(live)) return listDifferences(desired, live, path);
  // Empty values such as `env: []` and `labels: {}` are not stored.
  if (live === undefined && isEmpty(desired)) return [];
  if (isAmount(desired) && isAmount(live) && isSameAmount(desired, live)) return [];
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

function isAmount(value: unknown): value is string | number {
  // Test with a pattern first: a failed parse is slow, and hashes, versions and addresses begin like
  // quantities.
  return typeof value === 'number' || (typeof value === 'string' && amount.test(value));
}

const amount = /^[-+]?[0-9.]{1,30}(?:[numkMGTPE]|[KMGTPE]i|[eE][-+]?[0-9]{1,3})?$/;

/**
 * Returns the fields of `live` that `manager` alone has applied and no longer desires, so that the next apply
 * removes them. A field that is absent from `desired` is one change, whatever its content.
 */
export function droppedFields(pair: Pair, manager: string): readonly FieldChange[] {
  const { live } = pair;
  const changes = droppedPaths(pair, manager).map(
    (path) => [pathToString(path), valueAtPath(live, path)] as const,
  );
  return [...new Map(changes)].map(([path, from]) => ({ path, from, to: undefined }));
}

/** Returns the paths of {@link droppedFields}; the same path can occur more than once. */
export function droppedPaths({ desired, live }: Pair, manager: string): readonly FieldPath[] {
  const applied = appliedFields(live, manager);
  const leaves = applied?.leaves().paths() ?? [];
  const dropped = leaves.flatMap((leaf) => droppedAt(desired.object, live, leaf));
  return dropped.filter((path) => {
    const there = valueAtPath(live, path) !== undefined;
    return there && fieldManagersOf(live, path).every(({ name }) => name === manager);
  });
}

function droppedAt(desired: object, live: object, leaf: FieldPath): readonly FieldPath[] {
  const end = leaf.findIndex((_, at) => valueAtPath(desired, leaf.slice(0, at + 1)) === undefined);
  if (end >= 0) return [leaf.slice(0, end + 1)];
  const known = wholes.some((path) => deepEqual(path, leaf));
  return known ? membersDropped(valueAtPath(desired, leaf), valueAtPath(live, leaf), leaf) : [];
}

// Fields that apply replaces as a whole, without members in `managedFields`. Other such fields (the
// `fieldRef` of a variable) are left out: values that the server fills in can't be recognized there.
const wholes = [fieldPath('spec', 'selector'), fieldPath('spec', 'volumeClaimTemplates')];

function membersDropped(desired: unknown, live: unknown, path: FieldPath): readonly FieldPath[] {
  if (Array.isArray(desired) && Array.isArray(live)) {
    return desired.flatMap((item: unknown, index) =>
      membersDropped(item, live[index], [...path, indexElement(index)]),
    );
  }
  if (!isJsonObject(desired) || !isJsonObject(live)) return [];
  return Object.keys(live).flatMap((name) => {
    const below = [...path, fieldElement(name)];
    const value = memberOf(desired, name);
    if (value !== undefined) return membersDropped(value, memberOf(live, name), below);
    return filledIn.test(pathToString(below)) ? [] : [below];
  });
}

// Fields that the server adds to a claim template.
const filledIn =
  /^spec\.volumeClaimTemplates\[\d+\]\.(apiVersion|kind|status|metadata\.creationTimestamp|spec\.volumeMode)$/;

/**
 * Returns true if `live` matches `desired`, without comparing values: `manager` applied the same object
 * before, and still owns each of its fields.
 */
export function isUnchanged({ live, desired }: Pair, manager: string): boolean {
  if (!isSameDesire(live, desired)) return false;
  const fields = appliedFields(live, manager);
  return fields !== undefined && uncoveredPaths(fields, desired.object, { live }).length === 0;
}

function isSameDesire(live: UnstructuredObject, { hash }: DesiredObject): boolean {
  return live.metadata.annotations?.[appliedHashAnnotation] === hash;
}

/** A field that another manager has taken from the operator. */
export interface Drift {
  readonly path: FieldPath;
  readonly from: unknown;
  readonly to: unknown;
  readonly manager: string;
}

/**
 * Returns the fields of `desired` that another manager has changed or removed. If a field has no owner, the result
 * names the last writer of the object.
 */
export function driftOf({ live, desired }: Pair, manager: string): readonly Drift[] {
  const fields = appliedFields(live, manager);
  const sameDesire = isSameDesire(live, desired);
  if (fields === undefined) return sameDesire ? unownedDrift({ live, desired }, manager) : [];
  return uncoveredPaths(fields, desired.object, { live }).flatMap((uncovered) =>
    differing({ live, desired }, uncovered).flatMap((difference) => {
      const taker = ownerOf(live, difference.path, manager) ?? ownerOf(live, uncovered, manager);
      if (taker !== undefined) return [{ ...difference, manager: taker }];
      // If the desired object has changed since the last apply, a field without an owner is new, not taken by a
      // manager.
      return sameDesire ? [{ ...difference, manager: newestWriter(live, manager) }] : [];
    }),
  );
}

// `managedFields` was cleared or not read, so only a comparison of values finds drift.
function unownedDrift({ live, desired }: Pair, manager: string): readonly Drift[] {
  return differences({ desired: desired.object, live, path: [] }).map((difference) => ({
    ...difference,
    manager: ownerOf(live, difference.path, manager) ?? newestWriter(live, manager),
  }));
}

/** Returns the differences at or below `path`, or `path` itself if another manager owns it with the desired value. */
function differing({ live, desired }: Pair, path: FieldPath): readonly Omit<Drift, 'manager'>[] {
  const [from, to] = [valueAtPath(live, path), valueAtPath(desired.object, path)];
  const found = differences({ desired: to, live: from, path });
  return found.length === 0 ? [{ path, from, to }] : found;
}

function ownerOf(live: UnstructuredObject, path: FieldPath, manager: string): string | undefined {
  const owners = fieldManagersOf(live, path);
  return owners.find(({ name, operation }) => name !== manager || operation !== 'Apply')?.name;
}

function newestWriter(live: UnstructuredObject, manager: string): string {
  const last = lastUpdater(live)?.name;
  return last === undefined || last === manager ? 'unknown' : last;
}

// Fields that the server sets, and the annotations in which the builder keeps its own records.
const unasked = [...serverSetFields, 'status', `metadata.annotations["${appliedHashAnnotation}"]`];

/** Returns the changes that an apply is expected to make, before the server has answered. */
export function expectedChanges(
  { desired, live }: Pair,
  drift: readonly Drift[],
): readonly FieldChange[] {
  const repaired = drift.map(({ path, ...change }) => ({ path: pathToString(path), ...change }));
  const others = desiredDifferences(desired.object, live).filter(
    ({ path }) => !repaired.some((change) => change.path === path),
  );
  return redactChanges(live.kind, [...repaired, ...others].filter(isAskedFor));
}

/** Returns the differences between the live and the desired object that are not `drift`. */
export function changesBesideDrift(
  { desired, live }: Pair,
  drift: readonly Drift[],
): readonly FieldChange[] {
  const taken = drift.map(({ path }) => pathToString(path));
  return desiredDifferences(desired.object, live).filter(
    ({ path }) => !taken.some((each) => pathsMeet(each, path)),
  );
}

function isAskedFor({ path }: FieldChange): boolean {
  return !unasked.includes(path);
}

/** Arguments of {@link appliedChanges}. */
export interface AppliedObjects {
  readonly before: UnstructuredObject;
  readonly after: UnstructuredObject;
  readonly drift: readonly Drift[];
}

/** Returns the changes that an apply made: first the repaired drift with its cause, then all others. */
export function appliedChanges({ before, after, drift }: AppliedObjects): readonly FieldChange[] {
  const repaired = drift.map(({ path, from, manager }) => ({
    ...{ path: pathToString(path), from, to: valueAtPath(after, path), manager },
  }));
  const explained = (change: FieldChange): boolean =>
    repaired.some(({ path, from, to }) => pathsMeet(path, change.path) && !deepEqual(from, to));
  const others = diffObjects(before, after, { ignore: unasked });
  const changes = [...repaired, ...others.filter((change) => !explained(change))];
  return redactChanges(after.kind, changes.filter(isAskedFor));
}

// True if the paths are equal or one contains the other. One path may name a list item by its index and the other by
// its key, so steps into a list that share no key count as the same item.
function pathsMeet(one: string, other: string): boolean {
  const [a, b] = [stepsOf(one), stepsOf(other)];
  const length = Math.min(a.length, b.length);
  return a.slice(0, length).every((step, index) => stepsMeet(step, b[index] ?? ''));
}

function stepsOf(path: string): readonly string[] {
  return path.match(/\[(?:"(?:[^"\\]|\\.)*"|[^\]]*)\]|[^.[]+/g) ?? [];
}

function stepsMeet(one: string, other: string): boolean {
  const [a, b] = [keysOf(one), keysOf(other)];
  if (a === undefined || b === undefined) return plain(one) === plain(other);
  const shared = [...a.keys()].filter((key) => b.has(key));
  return shared.every((key) => a.get(key) === b.get(key));
}

function plain(step: string): string {
  return step.startsWith('["') ? (JSON.parse(step.slice(1, -1)) as string) : step;
}

function keysOf(step: string): ReadonlyMap<string, string> | undefined {
  if (!step.startsWith('[') || step.startsWith('["')) return undefined;
  const pairs = step.slice(1, -1).split(',');
  return new Map(
    pairs.map((pair) => [pair.split('=')[0] ?? '', pair.slice(pair.indexOf('=') + 1)]),
  );
}
