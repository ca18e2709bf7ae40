import {
  deepEqual,
  fieldElement,
  fieldPath,
  pathToString,
  valueAtPath,
  FieldSet,
  elementsOf,
  isLeaf,
  leaf,
  assignMembers,
  isJsonObject,
  memberOf,
  appliedFields,
  isSameAmount,
  groupOf,
  matchItems,
  uncoveredPaths,
} from '../object/index.js';
import type { FieldPath, FieldNode, UnstructuredObject } from '../object/index.js';

/** A field manager and the part of objects that it applies. */
export interface ManagedPart {
  readonly manager: string;
  /** `''` for the object itself. */
  readonly subresource: '' | 'status';
}

/** A difference between a live object and its apply configuration. */
export interface AppliedDifference {
  readonly path: FieldPath;
  /**
   * `missing`: the manager does not own the field; `dropped`: the manager owns it, but it is not desired;
   * `value`, `order`: the live value or order differs from the desired one.
   */
  readonly type: 'missing' | 'dropped' | 'value' | 'order';
  /** The live value. */
  readonly live?: unknown;
}

/**
 * Returns the differences between `live` and an apply of `desired`. An empty list means that the apply would change
 * nothing. Values are compared as written. A value that the server spells differently therefore counts as a difference,
 * and so does a default within an atomic list. Such differences remain after an apply: the caller must remember them.
 */
export function appliedDifferences(
  live: UnstructuredObject,
  desired: UnstructuredObject,
  part: ManagedPart,
): readonly AppliedDifference[] {
  const found = fieldDifferences(live, desired, part);
  const differing = found.filter((difference) => !isSameQuantity(difference, desired));
  if (differing.length > 0) return differing;
  // If another manager takes over all members of a map by an update, the entry of `part.manager` still contains the map
  // itself, as it would for an atomic map. Only the entries of the other managers show the difference.
  const uncovered = uncoveredPaths(appliedIn(live, desired, part), desired, { live });
  return uncovered.map((path) => ({ path, type: 'missing' }));
}

/**
 * Returns the {@link appliedDifferences} that the entry of `part.manager` in `managedFields` shows without the entries
 * of other managers. They include equal quantities with different texts, such as `1Gi` and `1024Mi`.
 */
export function fieldDifferences(
  live: UnstructuredObject,
  desired: UnstructuredObject,
  part: ManagedPart,
): readonly AppliedDifference[] {
  const found: AppliedDifference[] = [];
  const { root: node } = appliedIn(live, desired, part);
  members(found, [], { node, desired: appliedPart(desired), live });
  return found;
}

function appliedIn(
  live: UnstructuredObject,
  { apiVersion }: UnstructuredObject,
  { manager, subresource }: ManagedPart,
): FieldSet {
  return appliedFields(live, manager, { subresource, apiVersion }) ?? FieldSet.empty;
}

function appliedPart(desired: UnstructuredObject): object {
  const { labels, annotations, finalizers, ownerReferences } = desired.metadata;
  const metadata = { labels, annotations, finalizers, ownerReferences };
  const isBare = Object.values(metadata).every((member) => member === undefined);
  const content = assignMembers({}, desired, ['apiVersion', 'kind', 'metadata']);
  return isBare ? content : { ...content, metadata };
}

interface Compared<T> {
  readonly node: FieldNode;
  readonly desired: T;
  readonly live: unknown;
}

const annotations = pathToString(fieldPath('metadata', 'annotations'));

function members(
  found: AppliedDifference[],
  path: FieldPath,
  { node, desired, live }: Compared<object>,
): void {
  const left = new Set(elementsOf(node));
  for (const [name, value] of Object.entries(desired)) {
    if (value === undefined) continue;
    const element = fieldElement(name);
    left.delete(element);
    const below = isJsonObject(live) ? memberOf(live, name) : undefined;
    const compared = { node: node[element], desired: value as unknown, live: below };
    field(found, [...path, element], compared);
  }
  for (const element of left) report(found, [...path, element], { type: 'dropped' });
}

function field(
  found: AppliedDifference[],
  path: FieldPath,
  {
    node,
    desired,
    live,
  }: Omit<Compared<unknown>, 'node'> & { readonly node: FieldNode | undefined },
): void {
  if (node === undefined) report(found, path, { type: 'missing', live });
  else if (isLeaf(node)) whole(found, path, { node, desired, live });
  else if (Array.isArray(desired)) items(found, path, { node, desired, live });
  else if (isJsonObject(desired)) members(found, path, { node, desired, live });
  else report(found, path, { type: 'value', live });
}

function whole(
  found: AppliedDifference[],
  path: FieldPath,
  { desired, live }: Compared<unknown>,
): void {
  if (deepEqual(desired, live)) return;
  // The server does not store an applied zero value, although the manager owns its field.
  if (live === undefined && isZero(desired)) return;
  // `FieldWriter` applies empty annotations to get an entry in `managedFields`; the server need not store them.
  const isMark = pathToString(path) === annotations && deepEqual(desired, {});
  if (!isMark) report(found, path, { type: 'value', live });
}

// Fields of built-in kinds that hold quantities. The API server normalizes their spelling: `1` for `1000m`.
const amounts = new Set(['requests', 'limits', 'hard', 'capacity', 'overhead'].map(fieldElement));

/** Whether only the spelling of a quantity differs. Custom resources keep the spelling as written. */
function isSameQuantity(
  { path, type, live }: AppliedDifference,
  desired: UnstructuredObject,
): boolean {
  const isBuiltIn = !groupOf(desired.apiVersion).includes('.');
  if (type !== 'value' || !isBuiltIn || !amounts.has(path.at(-2) ?? '')) return false;
  return isSameAmount(live, valueAtPath(desired, path));
}

function isZero(value: unknown): boolean {
  if (value === '' || value === 0 || value === false) return true;
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

function items(
  found: AppliedDifference[],
  path: FieldPath,
  { node, desired, live }: Compared<readonly unknown[]>,
): void {
  const matched = matchItems(desired, elementsOf(node));
  const list: readonly unknown[] = Array.isArray(live) ? live : [];
  let last = -1;
  for (const [index, item] of desired.entries()) {
    const element = matched[index];
    if (element === undefined) {
      report(found, [...path, `i:${index}`], { type: 'missing' });
      continue;
    }
    const there = valueAtPath(list, [element]);
    field(found, [...path, element], { node: node[element] ?? leaf, desired: item, live: there });
    const place = list.indexOf(there);
    if (place >= 0 && place < last) report(found, path, { type: 'order', live: list.length });
    last = Math.max(last, place);
  }
  const used = new Set(matched.values());
  for (const element of elementsOf(node)) {
    if (!used.has(element)) report(found, [...path, element], { type: 'dropped' });
  }
}

function report(
  found: AppliedDifference[],
  path: FieldPath,
  difference: Omit<AppliedDifference, 'path'>,
): void {
  found.push({ path, ...difference });
}
