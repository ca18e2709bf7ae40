import isEqual from 'lodash/isEqual.js';
import { diffObjects, serverSetFields } from '../object/diff-by-path.js';
import type { FieldChange } from '../object/diff-by-path.js';
import { pathToString } from '../object/field-path.js';
import type { FieldPath } from '../object/field-path.js';
import type {
  KubernetesObject,
  ManagedFieldsEntry,
  UnstructuredObject,
} from '../object/kubernetes-object.js';
import { redactChanges } from '../object/redact.js';
import { noFields, ownsPath, uncoveredPaths, valueAt } from './covered-fields.js';
import type { DesiredObject } from './desired-object.js';
import { differences } from './desired-differences.js';
import { appliedHashAnnotation } from './marks.js';

/** Our entry in the `managedFields` of `live`, or undefined. */
export function appliedEntry(
  { metadata }: KubernetesObject,
  manager: string,
): ManagedFieldsEntry | undefined {
  return metadata.managedFields?.find(
    (entry) =>
      entry.manager === manager && entry.operation === 'Apply' && entry.subresource === undefined,
  );
}

/**
 * Whether `live` is as `desired` says, without comparing values: we applied the same object before,
 * and every field of it is still ours.
 */
export function isUnchanged(
  live: UnstructuredObject,
  { object, hash }: DesiredObject,
  manager: string,
): boolean {
  if (live.metadata.annotations?.[appliedHashAnnotation] !== hash) return false;
  const fields = appliedEntry(live, manager)?.fieldsV1;
  return fields !== undefined && uncoveredPaths(fields, object).length === 0;
}

/** A field that somebody has taken from us. */
export interface Drift {
  readonly path: FieldPath;
  readonly from: unknown;
  readonly manager: string;
}

/**
 * The fields of `desired` that were taken from us: changed or removed by `manager`. Where nobody has
 * the field now, whoever wrote last is named.
 */
export function driftOf(
  live: UnstructuredObject,
  { object, hash }: DesiredObject,
  manager: string,
): readonly Drift[] {
  const fields = appliedEntry(live, manager)?.fieldsV1 ?? noFields;
  const sameDesire = live.metadata.annotations?.[appliedHashAnnotation] === hash;
  return uncoveredPaths(fields, object).flatMap((uncovered) =>
    differing(live, object, uncovered).flatMap(({ path, from }) => {
      const taker = ownerOf(live, path, manager) ?? ownerOf(live, uncovered, manager);
      if (taker !== undefined) return [{ path, from, manager: taker }];
      // Nobody's, and we want something else than we applied: it is new, not taken.
      return sameDesire ? [{ path, from, manager: newestWriter(live, manager) }] : [];
    }),
  );
}

/** What differs at or below `path`; `path` itself where it was taken with the value left as it was. */
function differing(
  live: UnstructuredObject,
  desired: UnstructuredObject,
  path: FieldPath,
): readonly { readonly path: FieldPath; readonly from: unknown }[] {
  const [from, to] = [valueAt(live, path), valueAt(desired, path)];
  const found = differences({ desired: to, live: from, path });
  return found.length === 0 ? [{ path, from }] : found;
}

function ownerOf(live: KubernetesObject, path: FieldPath, manager: string): string | undefined {
  const others = (live.metadata.managedFields ?? []).filter((entry) => !isOurs(entry, manager));
  const owner = others.find(({ fieldsV1 }) => fieldsV1 !== undefined && ownsPath(fieldsV1, path));
  return owner?.manager;
}

function newestWriter(live: KubernetesObject, manager: string): string {
  const updates = (live.metadata.managedFields ?? []).filter(
    (entry) =>
      entry.operation === 'Update' && !isOurs(entry, manager) && entry.subresource === undefined,
  );
  const newest = updates.sort((one, other) => ((one.time ?? '') < (other.time ?? '') ? 1 : -1));
  return newest[0]?.manager ?? 'unknown';
}

function isOurs(entry: ManagedFieldsEntry, manager: string): boolean {
  return entry.manager === manager && entry.operation === 'Apply';
}

/** What {@link appliedChanges} compares. */
export interface AppliedObjects {
  readonly before: UnstructuredObject;
  readonly after: UnstructuredObject;
  readonly drift: readonly Drift[];
}

const unasked = [...serverSetFields, 'status', `metadata.annotations["${appliedHashAnnotation}"]`];

/** What an apply changed: the drift that it repaired, with who had caused it, then all the rest. */
export function appliedChanges({ before, after, drift }: AppliedObjects): readonly FieldChange[] {
  const repaired = drift.map(({ path, from, manager }) => ({
    ...{ path: pathToString(path), from, to: valueAt(after, path), manager },
  }));
  const explained = (change: FieldChange): boolean =>
    repaired.some(({ path, from, to }) => pathsMeet(path, change.path) && !isEqual(from, to));
  const others = diffObjects(before, after, { ignore: unasked });
  const changes = [...repaired, ...others.filter((change) => !explained(change))];
  return redactChanges(
    after.kind,
    changes.filter(({ path }) => !unasked.includes(path)),
  );
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
