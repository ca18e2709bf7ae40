import {
  deepEqual,
  fieldElement,
  FieldSet,
  FieldNodeBuilder,
  asMember,
  leaf,
  unionOf,
  isJsonObject,
  memberOf,
} from '../../object/index.js';
import type { PathElement, FieldNode } from '../../object/index.js';
import { elementOfItem, fieldAtom, listElement, shapeOf } from './atom.js';
import type { Atom, ListType, MapType, Shape } from './atom.js';
import { TypedConversionError } from './validate-value.js';

/** The differences between an object and an earlier version of it, field by field. */
export interface Comparison {
  readonly added: FieldSet;
  /** Fields of both with different values. */
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
  const oldShape = old === undefined ? undefined : shapeOf(atom, old);
  const nextShape = next === undefined ? undefined : shapeOf(atom, next);
  if (oldShape === undefined) return ofShape(old, next, { atom, shape: nextShape });
  if (nextShape === undefined || nextShape === oldShape) {
    return ofShape(old, next, { atom, shape: oldShape });
  }
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
  if (old === undefined) return leafAdded;
  if (next === undefined) return leafRemoved;
  return deepEqual(old, next) ? undefined : leafModified;
}

function ofMaps(old: unknown, next: unknown, map: MapType): Differences | undefined {
  const before = isJsonObject(old) ? old : undefined;
  const after = isJsonObject(next) ? next : undefined;
  if (map.atomic || (isEmptyMap(before) && isEmptyMap(after))) return ofLeaf(old, next);
  const builder = new DifferencesBuilder();
  for (const name of Object.keys(before ?? {})) {
    const [a, b] = [before?.[name], after && memberOf(after, name)];
    if (a !== b) builder.add(fieldElement(name), differences(a, b, fieldAtom(map, name)));
  }
  for (const name of Object.keys(after ?? {})) {
    if (before !== undefined && memberOf(before, name) !== undefined) continue;
    const value = after?.[name];
    builder.add(fieldElement(name), differences(undefined, value, fieldAtom(map, name)));
  }
  return builder.build(old, next);
}

function isEmptyMap(value: Readonly<Record<string, unknown>> | undefined): boolean {
  return value === undefined || Object.keys(value).length === 0;
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
  return builder.build(old, next);
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
    if (found.added) (this.#added ??= new FieldNodeBuilder()).add(element, found.added);
    if (found.modified) (this.#modified ??= new FieldNodeBuilder()).add(element, found.modified);
    if (found.removed) (this.#removed ??= new FieldNodeBuilder()).add(element, found.removed);
  }

  /**
   * Builds the differences. If one side lacks the value, the value itself is added or removed with
   * its parts.
   */
  build(old: unknown, next: unknown): Differences | undefined {
    const added = old === undefined ? (this.#added ?? new FieldNodeBuilder()) : this.#added;
    const removed = next === undefined ? (this.#removed ?? new FieldNodeBuilder()) : this.#removed;
    const modified = this.#modified;
    if (added === undefined && removed === undefined && modified === undefined) return undefined;
    return {
      added: added?.build(old === undefined),
      modified: modified?.build(false),
      removed: removed?.build(next === undefined),
    };
  }
}

/**
 * Returns the fields that a manager owns if it applies `value`: leaves, entries of lists and maps,
 * and empty or null values. A struct is owned only through its fields. `value` must fit `atom`.
 */
export function toFieldSet(value: unknown, atom: Atom): FieldSet {
  const node = nodeOf(value, atom);
  return node === undefined ? FieldSet.empty : FieldSet.ofRoot(node);
}

function nodeOf(value: unknown, atom: Atom): FieldNode | undefined {
  switch (shapeOf(atom, value)) {
    case 'map':
      return nodeOfMap(value, atom.map as MapType);
    case 'list':
      return nodeOfList(value, atom.list as ListType);
    case 'scalar':
      return leaf;
    case undefined:
      return undefined;
  }
}

function nodeOfMap(value: unknown, map: MapType): FieldNode | undefined {
  if (map.atomic) return leaf;
  if (!isJsonObject(value)) return undefined;
  const builder = new FieldNodeBuilder();
  for (const name of Object.keys(value)) {
    const member = value[name];
    if (member === undefined) continue;
    const node = nodeOf(member, fieldAtom(map, name));
    const owned = !map.fields.has(name) || member === null || isEmptyObject(member);
    builder.add(fieldElement(name), owned ? asMember(node) : node);
  }
  return builder.build(false);
}

function isEmptyObject(value: unknown): boolean {
  return isJsonObject(value) && Object.keys(value).length === 0;
}

function nodeOfList(value: unknown, list: ListType): FieldNode | undefined {
  if (list.atomic) return leaf;
  if (!Array.isArray(value)) return undefined;
  const nodes = new Map<string, FieldNode>();
  for (const item of value as unknown[]) {
    const element = elementOfItem(list, item);
    if (element === undefined) continue;
    // Entries with one key cannot be distinguished: they are owned as one value.
    const twice = nodes.has(element);
    nodes.set(element, twice ? leaf : asMember(nodeOf(item, list.items.atom)));
  }
  const builder = new FieldNodeBuilder();
  for (const [element, node] of nodes) builder.add(element, node);
  return builder.build(false);
}
