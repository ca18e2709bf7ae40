import {
  deepEqual,
  FieldSet,
  FieldNodeBuilder,
  leaf,
  unionOf,
  isJsonObject,
  memberOf,
} from '../../object/index.js';
import type { PathElement, FieldNode } from '../../object/index.js';
import { elementOfField, elementOfItem, fieldAtom, listElement, shapeOf } from './atom.js';
import type { Atom, ListType, MapType, Shape } from './atom.js';
import { TypedConversionError } from './validate-value.js';

/** The differences between an object and an earlier version of it, field by field. */
export interface Comparison {
  readonly added: FieldSet;
  /** Fields that both versions have, with different values. */
  readonly modified: FieldSet;
  readonly removed: FieldSet;
}

/** The comparison of equal objects. */
const same: Comparison = {
  added: FieldSet.empty,
  modified: FieldSet.empty,
  removed: FieldSet.empty,
};

/**
 * Compares `next` with `old`, field by field. Parts that are the same JavaScript object in both are
 * skipped.
 * @throws TypedConversionError an entry of a list-map has no key.
 */
export function compare(old: unknown, next: unknown, atom: Atom): Comparison {
  const found = differences(old, next, atom);
  if (found === undefined) return same;
  return {
    added: asSet(found.added),
    modified: asSet(found.modified),
    removed: asSet(found.removed),
  };
}

function asSet(node: FieldNode | undefined): FieldSet {
  return node === undefined ? FieldSet.empty : FieldSet.ofRoot(node);
}

/** The differences below a field. A field without differences has `undefined` instead. */
interface Differences {
  readonly added?: FieldNode | undefined;
  readonly modified?: FieldNode | undefined;
  readonly removed?: FieldNode | undefined;
}

const leafAdded: Differences = { added: leaf };
const leafModified: Differences = { modified: leaf };
const leafRemoved: Differences = { removed: leaf };

function differences(old: unknown, next: unknown, atom: Atom): Differences | undefined {
  if (old === next) return undefined;
  if (old === undefined) return { added: wholeNode(next, atom) };
  if (next === undefined) return { removed: wholeNode(old, atom) };
  const [oldShape, nextShape] = [shapeOf(atom, old), shapeOf(atom, next)];
  if (nextShape === oldShape) return ofShape(old, next, { atom, shape: oldShape });
  // The shape changed, for example from a map to a scalar: report the differences of both shapes.
  const asOld = ofShape(old, next, { atom, shape: oldShape });
  return together(asOld, ofShape(old, next, { atom, shape: nextShape }));
}

interface View {
  readonly atom: Atom;
  readonly shape: Shape | undefined;
}

function ofShape(old: unknown, next: unknown, view: View): Differences | undefined {
  switch (view.shape) {
    case 'map':
      return ofMaps(old, next, view.atom.map as MapType);
    case 'list':
      return ofLists(old, next, view.atom.list as ListType);
    case 'scalar':
      return ofLeaf(old, next);
    case undefined:
      return undefined;
  }
}

function ofLeaf(old: unknown, next: unknown): Differences | undefined {
  return deepEqual(old, next) ? undefined : leafModified;
}

function ofMaps(old: unknown, next: unknown, map: MapType): Differences | undefined {
  const before = isJsonObject(old) ? old : {};
  const after = isJsonObject(next) ? next : {};
  if (map.atomic || (isEmptyObject(before) && isEmptyObject(after))) return ofLeaf(old, next);
  const builder = new DifferencesBuilder();
  for (const name of Object.keys(before)) {
    const [a, b] = [before[name], memberOf(after, name)];
    if (a !== b) builder.add(elementOfField(map, name), differences(a, b, fieldAtom(map, name)));
  }
  for (const name of Object.keys(after)) {
    if (memberOf(before, name) !== undefined) continue;
    const added = differences(undefined, after[name], fieldAtom(map, name));
    builder.add(elementOfField(map, name), added);
  }
  return builder.build();
}

function ofLists(old: unknown, next: unknown, list: ListType): Differences | undefined {
  const before = Array.isArray(old) ? (old as unknown[]) : [];
  const after = Array.isArray(next) ? (next as unknown[]) : [];
  if (list.atomic || (before.length === 0 && after.length === 0)) return ofLeaf(old, next);
  const [left, right] = [byElement(list, before), byElement(list, after)];
  const builder = new DifferencesBuilder();
  for (const [element, items] of left) {
    builder.add(element, ofItems(items, right.get(element) ?? [], list.items.atom));
  }
  for (const [element, items] of right) {
    if (!left.has(element)) builder.add(element, ofItems([], items, list.items.atom));
  }
  return builder.build();
}

function byElement(list: ListType, values: readonly unknown[]): Map<PathElement, unknown[]> {
  const found = new Map<PathElement, unknown[]>();
  for (const [index, item] of values.entries()) {
    const named = listElement(list, item);
    if (named.element === undefined) {
      throw new TypedConversionError(`element ${index}: ${named.problem}`);
    }
    const { element } = named;
    const known = found.get(element);
    if (known === undefined) found.set(element, [item]);
    else known.push(item);
  }
  return found;
}

// Compares the entries of one key. Several entries count as one opaque value; a single entry is
// compared part by part.
function ofItems(
  old: readonly unknown[],
  next: readonly unknown[],
  atom: Atom,
): Differences | undefined {
  if (old.length <= 1 && next.length <= 1) return differences(old[0], next[0], atom);
  if (old.length >= 2 && next.length >= 2) {
    return deepEqual(old, next) ? undefined : leafModified;
  }
  if (old.length >= 2) {
    const single = next.length === 0 ? undefined : differences(undefined, next[0], atom);
    return together(single, leafRemoved);
  }
  const single = old.length === 0 ? undefined : differences(old[0], undefined, atom);
  return together(single, leafAdded);
}

function together(a: Differences | undefined, b: Differences | undefined): Differences | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return {
    added: unionOf(a.added, b.added),
    modified: unionOf(a.modified, b.modified),
    removed: unionOf(a.removed, b.removed),
  };
}

/** Collects the differences of the parts of a map or list. */
class DifferencesBuilder {
  #added: FieldNodeBuilder | undefined;
  #modified: FieldNodeBuilder | undefined;
  #removed: FieldNodeBuilder | undefined;

  add(element: PathElement, found: Differences | undefined): void {
    if (found === undefined) return;
    const { added, modified, removed } = found;
    if (added) (this.#added ??= new FieldNodeBuilder(false)).add(element, added);
    if (modified) (this.#modified ??= new FieldNodeBuilder(false)).add(element, modified);
    if (removed) (this.#removed ??= new FieldNodeBuilder(false)).add(element, removed);
  }

  build(): Differences | undefined {
    const [added, modified, removed] = [this.#added, this.#modified, this.#removed];
    if (added === undefined && modified === undefined && removed === undefined) return undefined;
    return { added: added?.build(), modified: modified?.build(), removed: removed?.build() };
  }
}

/**
 * Returns the node of a field that only one of the two objects has: the field itself changes, and so do all fields
 * in it.
 */
function wholeNode(value: unknown, atom: Atom): FieldNode | undefined {
  switch (shapeOf(atom, value)) {
    case 'map':
      return wholeMap(value, atom.map as MapType);
    case 'list':
      return wholeList(value, atom.list as ListType);
    case 'scalar':
      return leaf;
    case undefined:
      return undefined;
  }
}

function wholeMap(value: unknown, map: MapType): FieldNode | undefined {
  if (map.atomic || !isJsonObject(value)) return leaf;
  const builder = new FieldNodeBuilder(true);
  for (const name of Object.keys(value)) {
    const member = value[name];
    if (member === undefined) continue;
    builder.add(elementOfField(map, name), wholeNode(member, fieldAtom(map, name)));
  }
  return builder.build();
}

function wholeList(value: unknown, list: ListType): FieldNode | undefined {
  if (list.atomic || !Array.isArray(value)) return leaf;
  const builder = new FieldNodeBuilder(true);
  for (const [element, items] of byElement(list, value as unknown[])) {
    builder.add(element, items.length > 1 ? leaf : wholeNode(items[0], list.items.atom));
  }
  return builder.build();
}

/**
 * Returns the fields that a manager owns if it applies `value`: leaves, entries of lists and maps,
 * and empty or null values. A struct is owned only through its fields. `value` must fit `atom`.
 */
export function toFieldSet(value: unknown, atom: Atom): FieldSet {
  return asSet(nodeOf(value, atom, false));
}

/** @param member - whether the field itself is owned too */
function nodeOf(value: unknown, atom: Atom, member: boolean): FieldNode | undefined {
  switch (shapeOf(atom, value)) {
    case 'map':
      return nodeOfMap(value, atom.map as MapType, member);
    case 'list':
      return nodeOfList(value, atom.list as ListType, member);
    case 'scalar':
      return leaf;
    case undefined:
      return member ? leaf : undefined;
  }
}

function nodeOfMap(value: unknown, map: MapType, member: boolean): FieldNode | undefined {
  if (map.atomic) return leaf;
  const builder = new FieldNodeBuilder(member);
  const members = isJsonObject(value) ? value : {};
  for (const name of Object.keys(members)) {
    const one = members[name];
    if (one === undefined) continue;
    const isOwned = !map.fields.has(name) || one === null || isEmptyObject(one);
    builder.add(elementOfField(map, name), nodeOf(one, fieldAtom(map, name), isOwned));
  }
  return builder.build();
}

function isEmptyObject(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  for (const _ in value) return false;
  return true;
}

function nodeOfList(value: unknown, list: ListType, member: boolean): FieldNode | undefined {
  if (list.atomic) return leaf;
  const nodes = new Map<PathElement, FieldNode | undefined>();
  for (const item of Array.isArray(value) ? (value as unknown[]) : []) {
    const element = elementOfItem(list, item);
    if (element === undefined) continue;
    // Entries with one key cannot be distinguished: they are owned as one value.
    const isKnown = nodes.has(element);
    nodes.set(element, isKnown ? leaf : nodeOf(item, list.items.atom, true));
  }
  const builder = new FieldNodeBuilder(member);
  for (const [element, node] of nodes) builder.add(element, node);
  return builder.build();
}
