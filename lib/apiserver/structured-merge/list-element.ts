import { elementJson } from '../../object/field-path.js';
import type { PathElement } from '../../object/field-path.js';
import { isJsonObject, memberOf } from '../../object/json.js';
import type { ListType } from './atom.js';

/** The path element of an entry of a list-map or set, or the reason why it has none. */
export type ListElement =
  { readonly element: PathElement } | { readonly problem: string; readonly element?: undefined };

/** Returns the path element of `item`, an entry of the list-map or set `list`. */
export function listElement(list: ListType, item: unknown): ListElement {
  return list.keys.length > 0 ? keyedElement(list, item) : setElement(item);
}

/**
 * {@link listElement} for lists that are already checked. Returns undefined for entries without an
 * element.
 */
export function elementOfItem(list: ListType, item: unknown): PathElement | undefined {
  return listElement(list, item).element;
}

function keyedElement(list: ListType, item: unknown): ListElement {
  if (item === null || item === undefined) {
    return { problem: 'associative list with keys may not have a null element' };
  }
  if (!isJsonObject(item)) {
    return { problem: 'associative list with keys may not have non-map elements' };
  }
  const fields = list.items.atom.map?.fields;
  let text = '';
  for (const key of list.keys) {
    const own = memberOf(item, key);
    const value = own === undefined ? fields?.get(key)?.defaultValue : own;
    // An entry without this key differs from every entry that has it.
    if (value === undefined) continue;
    text += `${text === '' ? '' : ','}${elementJson(key)}:${elementJson(value)}`;
  }
  return text === '' ? { problem: withoutKeys(list.keys) } : { element: `k:{${text}}` };
}

function withoutKeys(keys: readonly string[]): string {
  const names = keys.map((key) => JSON.stringify(key)).join(' ');
  return (
    `associative list with keys has an element that omits all key fields [${names}] ` +
    `(and doesn't have default values for any key fields)`
  );
}

function setElement(item: unknown): ListElement {
  if (item === null || item === undefined) {
    return { problem: "associative list without keys has an element that's an explicit null" };
  }
  if (Array.isArray(item)) {
    return { problem: 'not supported: associative list with lists as elements' };
  }
  if (typeof item === 'object') {
    return { problem: "associative list without keys has an element that's a map type" };
  }
  return { element: `v:${elementJson(item)}` };
}
