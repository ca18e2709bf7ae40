import isEqual from 'lodash/isEqual.js';
import { diffObjects, serverSetFields } from '../object/diff-by-path.js';
import type { FieldChange } from '../object/diff-by-path.js';
import {
  fieldElement,
  fieldPath,
  indexElement,
  keyElement,
  pathToString,
} from '../object/field-path.js';
import type { FieldPath } from '../object/field-path.js';
import { isJsonObject, memberOf } from '../object/json.js';
import type { UnstructuredObject } from '../object/kubernetes-object.js';
import { appliedFields, fieldManagersOf, lastUpdater } from '../object/managed-fields.js';
import { equalQuantities, parseQuantity } from '../object/quantity.js';
import { redactChanges } from '../object/redact.js';
import { uncoveredPaths } from '../object/uncovered-paths.js';
import { valueAtPath } from '../object/value-at-path.js';
import type { DesiredObject, Pair } from './desired-object.js';
import { appliedHashAnnotation } from './ownership.js';

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

/**
 * What `manager` has applied to `live`, alone has, and does not desire any more, so that the next
 * apply takes it away. A field that is not there at all is one change, whatever was in it.
 */
export function droppedFields({ desired, live }: Pair, manager: string): readonly FieldChange[] {
  const applied = appliedFields(live, manager);
  const leaves = applied?.leaves().paths() ?? [];
  const dropped = leaves.flatMap((leaf) => droppedAt(desired.object, live, leaf));
  const ours = dropped.filter((path) => {
    const there = valueAtPath(live, path) !== undefined;
    return there && fieldManagersOf(live, path).every(({ name }) => name === manager);
  });
  const changes = ours.map((path) => [pathToString(path), valueAtPath(live, path)] as const);
  return [...new Map(changes)].map(([path, from]) => ({ path, from, to: undefined }));
}

function droppedAt(desired: object, live: object, leaf: FieldPath): readonly FieldPath[] {
  const end = leaf.findIndex((_, at) => valueAtPath(desired, leaf.slice(0, at + 1)) === undefined);
  if (end >= 0) return [leaf.slice(0, end + 1)];
  const known = wholes.some((path) => isEqual(path, leaf));
  return known ? membersDropped(valueAtPath(desired, leaf), valueAtPath(live, leaf), leaf) : [];
}

// What apply replaces as a whole, and has no members in `managedFields`. Only these: of others (the
// `fieldRef` of a variable) it can't be told what the server has filled in.
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

// What the server adds to a template of claims.
const filledIn =
  /^spec\.volumeClaimTemplates\[\d+\]\.(apiVersion|kind|status|metadata\.creationTimestamp|spec\.volumeMode)$/;

/**
 * Whether `live` is as `desired` says, without comparing values: we applied the same object before,
 * and every field of it is still ours.
 */
export function isUnchanged({ live, desired }: Pair, manager: string): boolean {
  if (!isSameDesire(live, desired)) return false;
  const fields = appliedFields(live, manager);
  return fields !== undefined && uncoveredPaths(fields, desired.object, { live }).length === 0;
}

function isSameDesire(live: UnstructuredObject, { hash }: DesiredObject): boolean {
  return live.metadata.annotations?.[appliedHashAnnotation] === hash;
}

/** A field that somebody has taken from us. */
export interface Drift {
  readonly path: FieldPath;
  readonly from: unknown;
  readonly to: unknown;
  readonly manager: string;
}

/**
 * The fields of `desired` that were taken from us: changed or removed by `manager`. Where nobody has
 * the field now, whoever wrote last is named.
 */
export function driftOf({ live, desired }: Pair, manager: string): readonly Drift[] {
  const fields = appliedFields(live, manager);
  const sameDesire = isSameDesire(live, desired);
  if (fields === undefined) return sameDesire ? unownedDrift({ live, desired }, manager) : [];
  return uncoveredPaths(fields, desired.object, { live }).flatMap((uncovered) =>
    differing({ live, desired }, uncovered).flatMap((difference) => {
      const taker = ownerOf(live, difference.path, manager) ?? ownerOf(live, uncovered, manager);
      if (taker !== undefined) return [{ ...difference, manager: taker }];
      // Nobody's, and we want something else than we applied: it is new, not taken.
      return sameDesire ? [{ ...difference, manager: newestWriter(live, manager) }] : [];
    }),
  );
}

// Nothing says what was taken (the managers were cleared, or not read), so only values can tell.
function unownedDrift({ live, desired }: Pair, manager: string): readonly Drift[] {
  return differences({ desired: desired.object, live, path: [] }).map((difference) => ({
    ...difference,
    manager: ownerOf(live, difference.path, manager) ?? newestWriter(live, manager),
  }));
}

/** What differs at or below `path`; `path` itself where it was taken with the value left as it was. */
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

// What the server does by itself, and our own bookkeeping.
const unasked = [...serverSetFields, 'status', `metadata.annotations["${appliedHashAnnotation}"]`];

/** What an apply is going to change, as far as it can be known before the server has answered. */
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

/** The differences between live and desired object that are not `drift`. */
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

/** What {@link appliedChanges} compares. */
export interface AppliedObjects {
  readonly before: UnstructuredObject;
  readonly after: UnstructuredObject;
  readonly drift: readonly Drift[];
}

/** What an apply changed: the drift that it repaired, with who had caused it, then all the rest. */
export function appliedChanges({ before, after, drift }: AppliedObjects): readonly FieldChange[] {
  const repaired = drift.map(({ path, from, manager }) => ({
    ...{ path: pathToString(path), from, to: valueAtPath(after, path), manager },
  }));
  const explained = (change: FieldChange): boolean =>
    repaired.some(({ path, from, to }) => pathsMeet(path, change.path) && !isEqual(from, to));
  const others = diffObjects(before, after, { ignore: unasked });
  const changes = [...repaired, ...others.filter((change) => !explained(change))];
  return redactChanges(after.kind, changes.filter(isAskedFor));
}

// One is the other or above it. The two write list keys in different ways, so that a step into a list
// meets any other step into that list by another key.
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
