import { parsePathElement } from './field-path.js';
import type { FieldPath, ParsedElement } from './field-path.js';
import { isJsonObject, memberOf } from './json.js';

/** Returns the value at `path` in `object`, or `undefined`. */
export function valueAtPath(object: unknown, path: FieldPath): unknown {
  return path.reduce<unknown>((value, element) => step(value, parsePathElement(element)), object);
}

function step(value: unknown, element: ParsedElement): unknown {
  if (element.type === 'field') {
    return isJsonObject(value) ? memberOf(value, element.name) : undefined;
  }
  if (!Array.isArray(value)) return undefined;
  const items: readonly unknown[] = value;
  switch (element.type) {
    case 'key':
      return (
        items.find((item) => hasKeys(item, element.keys, true)) ??
        items.find((item) => hasKeys(item, element.keys, false))
      );
    case 'value':
      return items.find((item) => item === element.value);
    case 'index':
      return items[element.index];
  }
}

/**
 * Whether `item` is the list entry with these keys. An absent key has its default, unless `exactly` requires
 * all keys.
 */
export function hasKeys(
  item: unknown,
  keys: readonly (readonly [string, unknown])[],
  exactly: boolean,
): boolean {
  if (!isJsonObject(item)) return false;
  return keys.every(([name, value]) => {
    const own = memberOf(item, name);
    return own === undefined ? !exactly : own === value;
  });
}
