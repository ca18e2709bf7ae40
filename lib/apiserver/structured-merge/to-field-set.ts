import { fieldElement } from '../../object/field-path.js';
import { FieldNodeBuilder, asMember, leaf } from '../../object/field-tree.js';
import type { FieldNode } from '../../object/field-tree.js';
import { FieldSet } from '../../object/field-set.js';
import { isJsonObject } from '../../object/json.js';
import { shapeOf, fieldAtom } from './atom.js';
import type { Atom, ListType, MapType } from './atom.js';
import { elementOfItem } from './list-element.js';

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
    const owned = !map.fields.has(name) || member === null || isEmptyMap(member);
    builder.add(fieldElement(name), owned ? asMember(node) : node);
  }
  return builder.build(false);
}

function isEmptyMap(value: unknown): boolean {
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
