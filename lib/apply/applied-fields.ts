import isEqual from 'lodash/isEqual.js';
import { diffObjects, serverSetFields } from '../object/diff-by-path.js';
import type { FieldChange } from '../object/diff-by-path.js';
import { pathToString } from '../object/field-path.js';
import type { FieldPath } from '../object/field-path.js';
import type { UnstructuredObject } from '../object/kubernetes-object.js';
import { appliedFields, fieldManagersOf, lastUpdater } from '../object/managed-fields.js';
import { redactChanges } from '../object/redact.js';
import { uncoveredPaths } from '../object/uncovered-paths.js';
import { valueAtPath } from '../object/value-at-path.js';
import { desiredDifferences, differences } from './desired-differences.js';
import type { DesiredObject, Pair } from './desired-object.js';
import { appliedHashAnnotation } from './marks.js';

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
