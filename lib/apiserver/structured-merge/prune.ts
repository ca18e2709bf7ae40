import {
  fieldElement,
  FieldSet,
  FieldNodeBuilder,
  asMember,
  elementsOf,
  isLeaf,
  isMember,
  isJsonObject,
  setMember,
} from '../../object/index.js';
import type { PathElement, FieldNode } from '../../object/index.js';
import { elementOfItem, fieldAtom, noAtom, shapeOf } from './atom.js';
import type { Atom, ListType, MapType } from './atom.js';
import type { Owner, Owners } from './managers.js';
import { toFieldSet } from './compare.js';
import { converting } from './validate-value.js';
import type { VersionedValue, Versions } from './updater.js';

/** The ownership data that {@link prune} needs. */
interface PruneContext {
  /** The owners of fields. The applier's entry already has the fields that it applies now. */
  readonly owners: Owners;
  /** The id of the applier. */
  readonly id: string;
  readonly versions: Versions;
}

/**
 * Removes from `merged` the fields that the applier applied last time and does not apply now,
 * unless another manager owns them. Fields without an owner stay, even below a removed field.
 */
export function prune(merged: unknown, last: Owner, context: PruneContext): unknown {
  const { owners, id, versions } = context;
  const now = owners.get(id);
  if (last.set.isEmpty || now === undefined) return merged;
  if (last.apiVersion === now.apiVersion && now.set.covers(last.set)) return merged;
  const then = converting('failed to convert merged object to last applied version', () =>
    versions.at(merged, last.apiVersion),
  );
  if (then === undefined) return merged;
  const pruned = removeItems(then.value, withNamed(last.set, then.atom), then.atom);
  const owned = converting('failed add back owned items', () =>
    addBackOwned({ merged: then, pruned }, last.apiVersion, context),
  );
  const ownedThen = versions.at(owned, last.apiVersion);
  if (ownedThen === undefined) return merged;
  const kept = addBackDangling(then, ownedThen.value, last);
  return versions.at(kept, now.apiVersion)?.value ?? merged;
}

function withNamed(set: FieldSet, atom: Atom): FieldSet {
  return ensureNamedFieldsAreMembers(set, atom);
}

interface Pruning {
  readonly merged: VersionedValue;
  readonly pruned: unknown;
}

/** Restores pruned fields that any manager owns, the applier included. */
function addBackOwned(pruning: Pruning, lastVersion: string, context: PruneContext): unknown {
  const { owners, versions } = context;
  const byVersion = new Map<string, FieldSet>([[lastVersion, FieldSet.empty]]);
  for (const { apiVersion, set } of owners.values()) {
    byVersion.set(apiVersion, (byVersion.get(apiVersion) ?? FieldSet.empty).union(set));
  }
  let { merged, pruned } = pruning;
  // Start with the version of the last apply: conversions to other versions may need the fields that it restores.
  for (const [apiVersion, set] of byVersion) {
    const converted = (which: string, value: unknown): VersionedValue | undefined =>
      converting(`failed to convert ${which} object at version ${apiVersion}`, () =>
        versions.at(value, apiVersion),
      );
    const [all, left] = [converted('merged', merged.value), converted('pruned', pruned)];
    if (all === undefined || left === undefined) continue;
    merged = all;
    pruned = keepOwned(all, left.value, set);
  }
  return pruned;
}

function keepOwned({ value, atom }: VersionedValue, pruned: unknown, owned: FieldSet): unknown {
  const all = withNamed(toFieldSet(value, atom), atom);
  const left = withNamed(toFieldSet(pruned, atom), atom);
  return removeItems(value, all.difference(left.union(withNamed(owned, atom))), atom);
}

/** Restores pruned fields that the applier never owned. */
function addBackDangling(merged: VersionedValue, pruned: unknown, last: Owner): unknown {
  const { value, atom } = merged;
  const all = withNamed(toFieldSet(value, atom), atom);
  const left = withNamed(toFieldSet(pruned, atom), atom);
  const gone = all.difference(left).intersection(withNamed(last.set, atom));
  return removeItems(value, gone, atom);
}

/**
 * Returns `value` without the fields and list entries of `items`. A container that loses all its
 * content becomes `null`, as on the real server. The result shares unchanged parts.
 */
export function removeItems(value: unknown, items: FieldSet, atom: Atom): unknown {
  return items.isEmpty ? value : remove(value, items.root, atom);
}

function remove(value: unknown, items: FieldNode, atom: Atom): unknown {
  switch (shapeOf(atom, value)) {
    case 'map':
      return removeFromMap(value, items, atom.map as MapType);
    case 'list':
      return removeFromList(value, items, atom.list as ListType);
    case 'scalar':
    case undefined:
      return value;
  }
}

function removeFromMap(value: unknown, items: FieldNode, map: MapType): unknown {
  // Atomic and empty values have no parts: removing a part removes the whole value.
  if (!isJsonObject(value) || map.atomic || Object.keys(value).length === 0) return null;
  const rest: Record<string, unknown> = {};
  let [changed, left] = [false, 0];
  for (const name of Object.keys(value)) {
    const member = value[name];
    const node = items[fieldElement(name)];
    if (node !== undefined && isMember(node)) {
      changed = true;
      continue;
    }
    const kept = node === undefined ? member : remove(member, node, fieldAtom(map, name));
    changed ||= kept !== member;
    left++;
    setMember(rest, name, kept);
  }
  if (left === 0) return null;
  return changed ? rest : value;
}

function removeFromList(value: unknown, items: FieldNode, list: ListType): unknown {
  if (!Array.isArray(value) || list.atomic || value.length === 0) return null;
  const rest: unknown[] = [];
  let changed = false;
  for (const item of value as unknown[]) {
    const element = elementOfItem(list, item);
    const node = element === undefined ? undefined : items[element];
    if (node !== undefined && isMember(node)) {
      changed = true;
      continue;
    }
    const kept = node === undefined ? item : remove(item, node, list.items.atom);
    changed ||= kept !== item;
    rest.push(kept);
  }
  if (rest.length === 0) return null;
  return changed ? rest : value;
}

/**
 * Adds every declared field that has fields of `set` below it. A struct itself has no owner, but
 * the empty struct must disappear with its last field.
 */
function ensureNamedFieldsAreMembers(set: FieldSet, atom: Atom): FieldSet {
  const root = withNamedFields(set.root, atom);
  return root === set.root ? set : FieldSet.ofRoot(root);
}

function withNamedFields(node: FieldNode, atom: Atom): FieldNode {
  if (isLeaf(node)) return node;
  const builder = new FieldNodeBuilder(isMember(node));
  let changed = false;
  for (const element of elementsOf(node)) {
    const child = node[element] as FieldNode;
    const below = withNamedFields(child, childAtom(atom, element));
    const named = !isLeaf(child) && isNamed(atom, element) ? asMember(below) : below;
    changed ||= named !== child;
    builder.add(element, named);
  }
  return changed ? (builder.buildSorted() ?? node) : node;
}

function isNamed(atom: Atom, element: PathElement): boolean {
  return element.startsWith('f:') && atom.map?.fields.has(element.slice(2)) === true;
}

/** Returns the type below `element`. Set values and indexes have no known type. */
function childAtom(atom: Atom, element: PathElement): Atom {
  if (element.startsWith('f:')) {
    return atom.map === undefined ? noAtom : fieldAtom(atom.map, element.slice(2));
  }
  return element.startsWith('k:') ? (atom.list?.items.atom ?? noAtom) : noAtom;
}
