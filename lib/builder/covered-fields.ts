import isEqual from 'lodash/isEqual.js';
import {
  fieldElement,
  indexElement,
  parsePathElement,
  valueElement,
} from '../object/field-path.js';
import type { FieldPath, PathElement } from '../object/field-path.js';
import { elementsOf, isLeaf, leaf } from '../object/field-tree.js';
import type { FieldNode } from '../object/field-tree.js';
import { isJsonObject } from '../object/json.js';
import type { KubernetesObject } from '../object/kubernetes-object.js';

/**
 * The paths of `desired` that are not among `fields`, our entry in the live object's `managedFields`:
 * of each, only its beginning. The server takes a field out of the entry as soon as anyone else
 * changes or removes it, so nothing is uncovered exactly when nothing was changed.
 *
 * The entry says how its lists are to be read: `k:` by key, `v:` as a set; a field with nothing below
 * it is ours as a whole, list or not.
 */
export function uncoveredPaths(fields: FieldNode, desired: KubernetesObject): readonly FieldPath[] {
  const { apiVersion: _version, kind: _kind, metadata, ...body } = desired;
  // What identifies an object belongs to nobody.
  const { name: _name, namespace: _namespace, uid: _uid, ...meta } = metadata;
  return uncovered(fields, { ...body, metadata: meta }, []);
}

function uncovered(node: FieldNode, value: unknown, path: FieldPath): readonly FieldPath[] {
  if (path.length > 0 && isLeaf(node)) return [];
  if (isJsonObject(value)) {
    return Object.entries(value).flatMap(([name, member]) =>
      uncoveredBelow(node, fieldElement(name), { value: member, path }),
    );
  }
  if (!Array.isArray(value)) return [];
  const elements = elementsOf(node);
  return value.flatMap((item: unknown, index) => {
    const element = elementOfItem(elements, item, value);
    if (element === undefined) return [[...path, indexElement(index)]];
    return uncoveredBelow(node, element, { value: item, path });
  });
}

function uncoveredBelow(
  node: FieldNode,
  element: PathElement,
  { value, path }: { readonly value: unknown; readonly path: FieldPath },
): readonly FieldPath[] {
  const below = [...path, element];
  const child = Object.hasOwn(node, element) ? node[element] : undefined;
  return child === undefined ? [below] : uncovered(child, value, below);
}

/** What stands for `item` among `elements` of our entry; undefined: nothing does. */
function elementOfItem(
  elements: readonly PathElement[],
  item: unknown,
  items: readonly unknown[],
): PathElement | undefined {
  if (!isJsonObject(item)) {
    const element = valueElement(item);
    return elements.includes(element) ? element : undefined;
  }
  const candidates = elements.filter((element) => fits(element, item));
  // With a key field left out it may fit two entries, one of which is another item's.
  return (
    candidates.find(
      (element) => !items.some((other) => other !== item && isExactly(element, other)),
    ) ?? candidates[0]
  );
}

// A key field that the item leaves out has its default, whatever that is.
function fits(element: PathElement, item: Readonly<Record<string, unknown>>): boolean {
  return keysOf(element).every(
    ([name, value]) => item[name] === undefined || isEqual(item[name], value),
  );
}

function isExactly(element: PathElement, item: unknown): boolean {
  return isJsonObject(item) && keysOf(element).every(([name, value]) => isEqual(item[name], value));
}

function keysOf(element: PathElement): readonly (readonly [string, unknown])[] {
  const parsed = parsePathElement(element);
  return parsed.type === 'key' ? parsed.keys : [['', element]];
}

/** What `object` has at `path`; undefined: nothing. */
export function valueAt(object: unknown, path: FieldPath): unknown {
  let value = object;
  for (const element of path) value = step(value, element);
  return value;
}

function step(value: unknown, element: PathElement): unknown {
  const parsed = parsePathElement(element);
  if (parsed.type === 'field') {
    return isJsonObject(value) && Object.hasOwn(value, parsed.name)
      ? value[parsed.name]
      : undefined;
  }
  if (!Array.isArray(value)) return undefined;
  const items: readonly unknown[] = value;
  if (parsed.type === 'index') return items[parsed.index];
  if (parsed.type === 'value') return items.find((item) => isEqual(item, parsed.value));
  return items.find((item) => isJsonObject(item) && fits(element, item));
}

/** Whether a manager that owns `fields` owns what is at `path`, itself or as part of a whole. */
export function ownsPath(fields: FieldNode, path: FieldPath): boolean {
  let node: FieldNode = fields;
  for (const [depth, element] of path.entries()) {
    const child = Object.hasOwn(node, element) ? node[element] : undefined;
    if (child === undefined) return depth > 0 && isLeaf(node);
    node = child;
  }
  return true;
}

/** Nothing. */
export const noFields: FieldNode = leaf;
