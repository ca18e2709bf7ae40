import { OperatorError } from '../system/operator-error.js';

/**
 * The JSON of `value` with the members of every object sorted (by UTF-16 code units), so that equal
 * values have equal texts. An undefined member is an absent one; an undefined item is null, as JSON
 * has it.
 * @throws OperatorError `InvalidValue`: something in it has no JSON, for example NaN or a function.
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
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  // Not localeCompare: its order is that of the machine's language.
  members.sort(([a], [b]) => (a < b ? -1 : 1));
  const texts = members.map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`);
  return `{${texts.join(',')}}`;
}
