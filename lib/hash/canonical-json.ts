import { OperatorError } from '../system/operator-error.js';

/**
 * Returns the JSON of `value` with the members of every object sorted by UTF-16 code units, so that equal
 * values have equal texts. As in JSON, undefined members are left out and undefined items become null.
 * @throws OperatorError `InvalidValue`: part of the value has no JSON, for example NaN or a function.
 */
export function canonicalJson(value: unknown): string {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return JSON.stringify(value);
    case 'number':
      if (Number.isFinite(value)) return JSON.stringify(value);
      throw new OperatorError('InvalidValue', `${value} can't be hashed: JSON has no such number`);
    case 'undefined':
      return 'null';
    case 'object':
      return canonicalObject(value);
    case 'bigint':
    case 'symbol':
    case 'function':
      throw new OperatorError('InvalidValue', `a ${typeof value} can't be hashed: it has no JSON`);
  }
}

function canonicalObject(value: object | null): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  const object = value as Readonly<Record<string, unknown>>;
  let text = '';
  for (const name of sortedKeys(object)) {
    const member = object[name];
    if (member === undefined) continue;
    text += `${text === '' ? '{' : ','}${JSON.stringify(name)}:${canonicalJson(member)}`;
  }
  return text === '' ? '{}' : `${text}}`;
}

/**
 * Returns the keys sorted by UTF-16 code units, independent of locale. Skips the sort for keys already in
 * order, as most are.
 */
function sortedKeys(object: object): readonly string[] {
  const keys = Object.keys(object);
  for (let n = 1; n < keys.length; n++) {
    if ((keys[n - 1] ?? '') > (keys[n] ?? '')) return keys.sort();
  }
  return keys;
}
