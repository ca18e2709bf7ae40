import { deepEqual } from './deep-equal.js';
import {
  fieldElement,
  indexElement,
  keyElement,
  parsePathElement,
  valueElement,
  hasKeys,
  valueAtPath,
} from './field-path.js';
import type { FieldPath, ParsedElement, PathElement } from './field-path.js';
import { FieldSet } from './field-set.js';
import { elementsOf, isLeaf, isMember, nodeAt } from './field-tree.js';
import type { FieldNode } from './field-tree.js';
import { isJsonObject, memberOf } from './json.js';
import type { KubernetesObject } from './kubernetes-object.js';

/** Options of {@link uncoveredPaths}. */
export interface UncoveredPathsOptions {
  /**
   * The object with the entry. If a field has nothing below it in the entry, it is an atomic list or map, or a granular
   * map whose members all belong to other managers. Only the live object and its other managers show which of these it
   * is. @defaultValue undefined: such fields count as atomic
   */
  readonly live?: KubernetesObject | undefined;
}

/**
 * Returns the fields of `desired` that are missing from `applied`, the Apply entry of its manager. Other
 * managers changed or removed these fields since, or they were never applied. If the result is empty, an
 * apply of `desired` would change nothing. Values are not compared, so defaults and notations (`1000m`) do
 * not matter. No schema is needed: the entry itself has the keys of lists.
 */
export function uncoveredPaths(
  applied: FieldSet,
  desired: KubernetesObject,
  options: UncoveredPathsOptions = {},
): FieldPath[] {
  const walk = new Walk(options.live);
  walk.object(desired, applied.root);
  return walk.uncovered;
}

// The server never records an owner of these fields.
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

const ownedApart = new Set(['apiVersion', 'kind', 'metadata']);

class Walk {
  readonly uncovered: FieldPath[] = [];
  readonly #live: KubernetesObject | undefined;
  /** The path of the current field; copied only for fields that are not covered. */
  readonly #path: PathElement[] = [];
  #sets: readonly FieldSet[] | undefined;

  constructor(live: KubernetesObject | undefined) {
    this.#live = live;
  }

  object(desired: KubernetesObject, root: FieldNode): void {
    const metadata = ownedMetadata(desired.metadata);
    if (metadata !== undefined) this.#field(metadata, root['f:metadata'], 'f:metadata');
    this.#members(desired, root, ownedApart);
  }

  #members(value: object, node: FieldNode, without?: ReadonlySet<string>): void {
    for (const name of Object.keys(value)) {
      const member = (value as Readonly<Record<string, unknown>>)[name];
      if (isNothing(member) || without?.has(name) === true) continue;
      const element = fieldElement(name);
      this.#field(member, node[element], element);
    }
  }

  #field(value: unknown, node: FieldNode | undefined, element: PathElement): void {
    this.#path.push(element);
    if (node === undefined) this.#miss();
    else if (isLeaf(node)) this.#whole(value);
    else if (Array.isArray(value)) this.#items(value, node);
    else if (isJsonObject(value) && Object.keys(value).length > 0) this.#members(value, node);
    else if (!isMember(node)) this.#miss();
    this.#path.pop();
  }

  #miss(): void {
    this.uncovered.push([...this.#path]);
  }

  #items(items: readonly unknown[], node: FieldNode): void {
    const elements = elementsOf(node);
    const matched = matchItems(items, elements);
    for (const [index, item] of items.entries()) {
      const element = matched[index];
      if (element === undefined) {
        this.uncovered.push([...this.#path, nameOf(item, index, elements)]);
      } else {
        this.#field(item, node[element], element);
      }
    }
  }

  /** Handles a field with nothing below it: if it is atomic, all of `value` is covered. */
  #whole(value: unknown): void {
    if (this.#live === undefined || !isJsonObject(value)) return;
    for (const [name, member] of Object.entries(value)) {
      const below = [...this.#path, fieldElement(name)];
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
    return this.#sets.some(({ root }) => nodeAt(root, path) !== undefined);
  }

  #isThere(path: FieldPath): boolean {
    return valueAtPath(this.#live, path) !== undefined;
  }
}

function ownedMetadata(metadata: object): object | undefined {
  const owned = Object.entries(metadata).filter(([name]) => !unowned.has(name));
  return owned.every(([, value]) => isNothing(value)) ? undefined : Object.fromEntries(owned);
}

/** Returns the path element of each item of a list; undefined for items that the set lacks. */
export function matchItems(
  list: readonly unknown[],
  elements: readonly PathElement[],
): readonly (PathElement | undefined)[] {
  const left = elements.map((element) => ({ element, parsed: parsePathElement(element) }));
  const matched = list.map(() => undefined as PathElement | undefined);
  // Entries with all their keys come first: `{port: 80}` must not match the UDP port's element.
  for (const exactly of [true, false]) {
    for (let index = 0; index < list.length && left.length > 0; index++) {
      if (matched[index] !== undefined) continue;
      const at = left.findIndex(({ parsed }) => isItem(list[index], parsed, exactly));
      if (at >= 0) matched[index] = left.splice(at, 1)[0]?.element;
    }
  }
  return matched;
}

function isItem(item: unknown, parsed: ParsedElement, exactly: boolean): boolean {
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

// Returns true for a value that has no owner in `managedFields`: an empty list, or a struct that holds only such
// values.
function isNothing(value: unknown): boolean {
  if (value === undefined) return true;
  if (Array.isArray(value)) return value.length === 0;
  if (!isJsonObject(value)) return false;
  let isStruct = false;
  // A `for...in` loop, because it ends at the first member with an owner and creates no list of members.
  for (const name in value) {
    if (!isNothing(value[name])) return false;
    isStruct = true;
  }
  return isStruct;
}

// Go omits these values from its JSON.
function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  if (value === '' || value === 0 || value === false) return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}
