import { deepEqual } from './deep-equal.js';
import {
  fieldElement,
  indexElement,
  keyElement,
  parsePathElement,
  valueElement,
} from './field-path.js';
import type { FieldPath, PathElement } from './field-path.js';
import { FieldSet } from './field-set.js';
import { elementsOf, isLeaf, isMember } from './field-tree.js';
import type { FieldNode } from './field-tree.js';
import { isJsonObject, memberOf } from './json.js';
import type { KubernetesObject } from './kubernetes-object.js';
import { hasKeys, valueAtPath } from './value-at-path.js';

/** Options of {@link uncoveredPaths}. */
export interface UncoveredPathsOptions {
  /**
   * The object with the entry. A field with nothing below it in the entry is an atomic list or map, or a
   * granular map whose members all belong to other managers. Only the live object and its other managers show
   * which. @defaultValue undefined: such fields count as atomic
   */
  readonly live?: KubernetesObject | undefined;
}

/**
 * Returns the fields of `desired` that are missing from `applied`, the Apply entry of its manager: other
 * managers changed or removed them since, or they were never applied. If the result is empty, an apply of
 * `desired` would change nothing. It compares no values, so defaults and notations (`1000m`) do not matter.
 * It needs no schema: the entry itself has the keys of lists.
 */
export function uncoveredPaths(
  applied: FieldSet,
  desired: KubernetesObject,
  options: UncoveredPathsOptions = {},
): FieldPath[] {
  const walk = new Walk(options.live);
  walk.members(ownedPart(desired), applied.root, []);
  return walk.uncovered;
}

function ownedPart(desired: KubernetesObject): object {
  const typeMeta = ['apiVersion', 'kind', 'metadata'];
  const fields = Object.entries(desired).filter(([name]) => !typeMeta.includes(name));
  const metadata = Object.entries(desired.metadata).filter(([name]) => !unowned.has(name));
  const owned = metadata.length === 0 ? {} : { metadata: Object.fromEntries(metadata) };
  return { ...owned, ...Object.fromEntries(fields) };
}

// The server never records an owner of these.
const unowned = new Set([
  'name',
  'namespace',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'selfLink',
  'managedFields',
]);

class Walk {
  readonly uncovered: FieldPath[] = [];
  readonly #live: KubernetesObject | undefined;
  #sets: readonly FieldSet[] | undefined;

  constructor(live: KubernetesObject | undefined) {
    this.#live = live;
  }

  members(value: object, node: FieldNode, path: FieldPath): void {
    for (const [name, member] of Object.entries(value)) {
      if (isNothing(member)) continue;
      const element = fieldElement(name);
      this.#field(member, node[element], [...path, element]);
    }
  }

  #field(value: unknown, node: FieldNode | undefined, path: FieldPath): void {
    if (node === undefined) this.uncovered.push(path);
    else if (isLeaf(node)) this.#whole(value, path);
    else if (Array.isArray(value)) this.#items(value, node, path);
    else if (isJsonObject(value) && Object.keys(value).length > 0) this.members(value, node, path);
    else if (!isMember(node)) this.uncovered.push(path);
  }

  #items(items: readonly unknown[], node: FieldNode, path: FieldPath): void {
    const elements = elementsOf(node);
    const matched = matchItems(items, elements);
    for (const [index, item] of items.entries()) {
      const element = matched.get(index);
      if (element === undefined) this.uncovered.push([...path, nameOf(item, index, elements)]);
      else this.#field(item, node[element], [...path, element]);
    }
  }

  /** Handles a field with nothing below it: if it is atomic, all of `value` is covered. */
  #whole(value: unknown, path: FieldPath): void {
    if (this.#live === undefined || !isJsonObject(value)) return;
    for (const [name, member] of Object.entries(value)) {
      const below = [...path, fieldElement(name)];
      if (this.#isTaken(below) || (!isEmpty(member) && !this.#isThere(below))) {
        this.uncovered.push(below);
      }
    }
  }

  /** Whether a manager owns a field at or below `path`, so that the field above is not atomic. */
  #isTaken(path: FieldPath): boolean {
    this.#sets ??= (this.#live?.metadata.managedFields ?? []).map(({ fieldsV1 = {} }) =>
      FieldSet.fromFieldsV1(fieldsV1),
    );
    return this.#sets.some(({ root }) => {
      let node: FieldNode | undefined = root;
      for (const element of path) node = node?.[element];
      return node !== undefined;
    });
  }

  #isThere(path: FieldPath): boolean {
    return valueAtPath(this.#live, path) !== undefined;
  }
}

/** Returns the path element of each item of a list, by index; items that the set lacks have none. */
export function matchItems(
  list: readonly unknown[],
  elements: readonly PathElement[],
): ReadonlyMap<number, PathElement> {
  const left = new Set(elements);
  const matched = new Map<number, PathElement>();
  // Entries with all their keys come first: `{port: 80}` must not match the UDP port's element.
  for (const exactly of [true, false]) {
    for (const [index, item] of list.entries()) {
      if (matched.has(index)) continue;
      const element = [...left].find((each) => isItem(item, each, exactly));
      if (element === undefined) continue;
      matched.set(index, element);
      left.delete(element);
    }
  }
  return matched;
}

function isItem(item: unknown, element: PathElement, exactly: boolean): boolean {
  const parsed = parsePathElement(element);
  if (parsed.type === 'key') return hasKeys(item, parsed.keys, exactly);
  return parsed.type === 'value' && deepEqual(parsed.value, item);
}

/** Returns an element for an entry that the set lacks, in the form of its siblings. */
function nameOf(item: unknown, index: number, siblings: readonly PathElement[]): PathElement {
  if (!isJsonObject(item)) return valueElement(item);
  const [sibling] = siblings.map(parsePathElement);
  if (sibling?.type !== 'key') return indexElement(index);
  const keys = sibling.keys.map(([name]) => [name, memberOf(item, name)] as const);
  return keyElement(Object.fromEntries(keys.filter(([, value]) => value !== undefined)));
}

// An empty list has no owner, nor does a struct with only empty lists.
function isNothing(value: unknown): boolean {
  if (value === undefined) return true;
  if (Array.isArray(value)) return value.length === 0;
  if (!isJsonObject(value)) return false;
  const members = Object.values(value);
  return members.length > 0 && members.every(isNothing);
}

// Go omits these values from its JSON.
function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  if (value === '' || value === 0 || value === false) return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}
