import { fieldElement } from '../../object/field-path.js';
import type { FieldSet } from '../../object/field-set.js';
import { isLeaf, isMember } from '../../object/field-tree.js';
import type { FieldNode } from '../../object/field-tree.js';
import { isJsonObject, setMember } from '../../object/json.js';
import { fieldAtom, shapeOf } from './atom.js';
import type { Atom, ListType, MapType } from './atom.js';
import { elementOfItem } from './list-element.js';

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
  // Atomic and empty values have no parts: removing from one removes it as a whole.
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
 * Returns only the fields and list entries of `items` and their parents, like client-go's
 * `Extract…`. Atomic values are returned whole, and every list entry keeps its key fields.
 */
export function extractItems(value: unknown, items: FieldSet, atom: Atom): unknown {
  return extract(value, items.root, atom);
}

function extract(value: unknown, items: FieldNode, atom: Atom): unknown {
  switch (shapeOf(atom, value)) {
    case 'map':
      return extractFromMap(value, items, atom.map as MapType);
    case 'list':
      return extractFromList(value, items, atom.list as ListType);
    case 'scalar':
    case undefined:
      return value;
  }
}

function extractFromMap(value: unknown, items: FieldNode, map: MapType): unknown {
  if (!isJsonObject(value) || map.atomic || Object.keys(value).length === 0) return value;
  const found: Record<string, unknown> = {};
  for (const name of Object.keys(value)) {
    const node = items[fieldElement(name)];
    if (node === undefined) continue;
    setMember(found, name, extractPart(value[name], node, fieldAtom(map, name)));
  }
  return Object.keys(found).length === 0 ? null : found;
}

function extractPart(value: unknown, node: FieldNode, atom: Atom): unknown {
  if (!isLeaf(node)) return extract(value, node, atom);
  const shape = shapeOf(atom, value);
  const whole = shape === 'scalar' || (shape === 'map' ? atom.map : atom.list)?.atomic === true;
  if (whole || value === null) return value;
  return Array.isArray(value) ? [] : {};
}

function extractFromList(value: unknown, items: FieldNode, list: ListType): unknown {
  if (!Array.isArray(value) || list.atomic || value.length === 0) return value;
  const found: unknown[] = [];
  for (const item of value as unknown[]) {
    const element = elementOfItem(list, item);
    const node = element === undefined ? undefined : items[element];
    if (node === undefined) continue;
    found.push(withKeys(item, extractPart(item, node, list.items.atom), list));
  }
  return found.length === 0 ? null : found;
}

function withKeys(item: unknown, extracted: unknown, list: ListType): unknown {
  if (!isJsonObject(item) || list.keys.length === 0) return extracted;
  const keys = Object.entries(item).filter(([name]) => list.keys.includes(name));
  return { ...Object.fromEntries(keys), ...(isJsonObject(extracted) ? extracted : {}) };
}
