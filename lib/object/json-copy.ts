import { OperatorError } from '../system/operator-error.js';

/**
 * A copy of `value` by JSON's rules: undefined members go, and nothing is shared with the caller.
 * @param subject - names the value in errors
 * @throws OperatorError `InvalidValue`: see {@link checkJson}.
 */
export function jsonCopy<T extends object>(value: T, subject: string): T {
  checkJson(value, subject);
  return JSON.parse(JSON.stringify(value)) as T;
}

/**
 * Refuses what JSON can't say, and `JSON.stringify` would change without a word: NaN (null), a Map (an
 * empty object), a function (nothing), an undefined item (null). An object with `toJSON` counts as the
 * text that it returns: a Date is its RFC 3339 time, a URL its address.
 * @param subject - names the value in errors
 * @throws OperatorError `InvalidValue`: names the path. Values are not shown.
 */
export function checkJson(value: object, subject: string): void {
  check(value, { subject, path: [], above: [] });
}

interface Place {
  readonly subject: string;
  readonly path: readonly (string | number)[];
  /** The objects around the value, for cycles. */
  readonly above: readonly object[];
}

function check(value: unknown, place: Place): void {
  switch (typeof value) {
    case 'number':
      if (!Number.isFinite(value)) refuse(place, String(value), 'give a finite number');
      return;
    case 'bigint':
      return refuse(place, 'a BigInt', 'give a number or a string');
    case 'function':
      return refuse(place, 'a function', 'call it, or leave it out');
    case 'symbol':
      return refuse(place, 'a symbol', 'give a string');
    case 'object':
      if (value !== null) checkObject(value, place);
      return;
    case 'undefined':
      return refuse(place, 'undefined', 'leave the item out');
    case 'string':
    case 'boolean':
  }
}

function checkObject(value: object, place: Place): void {
  const { toJSON } = value as { readonly toJSON?: unknown };
  const bytes = 'give a string, in base64 where the field wants it';
  if (ArrayBuffer.isView(value)) return refuse(place, nameOf(value), bytes);
  if (typeof toJSON === 'function') {
    const text: unknown = toJSON.call(value, '');
    if (typeof text !== 'string') refuse(place, `an invalid ${nameOf(value)}`, 'give its text');
    return;
  }
  if (place.above.includes(value))
    refuse(place, 'an object that contains itself', 'cut the circle');
  const above = [...place.above, value];
  const below = (key: string | number): Place => ({ ...place, path: [...place.path, key], above });
  if (Array.isArray(value)) {
    const items: readonly unknown[] = value;
    // Not forEach: it skips the holes of a list.
    for (let index = 0; index < items.length; index++) check(items[index], below(index));
    return;
  }
  const members = Object.entries(value);
  if (members.length === 0 && !isPlain(value)) {
    refuse(place, nameOf(value), 'give a plain object, for example with Object.fromEntries');
  }
  for (const [name, member] of members) if (member !== undefined) check(member, below(name));
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function nameOf(value: object): string {
  return value.constructor.name;
}

function refuse({ subject, path }: Place, got: string, remedy: string): never {
  const steps = path.map((key) =>
    typeof key === 'string' && /^[\w-]+$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`,
  );
  const where = steps.join('').replace(/^\./, '');
  const what = where === '' ? 'the value' : where;
  throw new OperatorError('InvalidValue', `${subject}: ${what} has no JSON, got ${got}; ${remedy}`);
}
