import { OperatorError } from '../system/operator-error.js';

/**
 * Copies `value` by JSON's rules: undefined members are dropped, and the copy shares nothing with `value`.
 * @param subject - names the value in errors
 * @throws OperatorError `InvalidValue`: see {@link checkJson}.
 */
export function jsonCopy<T extends object>(value: T, subject: string): T {
  return JSON.parse(jsonText(value, subject)) as T;
}

/**
 * Returns the JSON of `value`, without undefined members.
 * @param subject - names the value in errors
 * @throws OperatorError `InvalidValue`: see {@link checkJson}.
 */
export function jsonText(value: object, subject: string): string {
  checkJson(value, subject);
  return JSON.stringify(value);
}

/**
 * Refuses values without a JSON form, which `JSON.stringify` would silently change: NaN (null), a Map (an
 * empty object), a function (omitted), an undefined item (null). An object with `toJSON` counts as the text
 * that it returns: a Date is its RFC 3339 time, a URL its address.
 * @param subject - names the value in errors
 * @throws OperatorError `InvalidValue`: names the path, without values.
 */
export function checkJson(value: object, subject: string): void {
  if (isClearlyJson(value, shallow)) return;
  // Not recursive, so that any depth works.
  const open: Place[] = [{ subject, value, key: undefined, parent: undefined }];
  for (let place = open.pop(); place !== undefined; place = open.pop()) {
    // The last one is checked next; reversed, so that the error names the first problem.
    for (const member of membersOf(place).reverse()) open.push(member);
  }
}

const shallow = 50;

/** Whether `value` is plain data of at most `levels` levels, as most values are; allocates no paths. */
function isClearlyJson(value: unknown, levels: number): boolean {
  if (typeof value === 'object') {
    return value === null || (levels > 0 && areClearlyJson(value, levels - 1));
  }
  if (typeof value === 'number') return Number.isFinite(value);
  return typeof value === 'string' || typeof value === 'boolean';
}

function areClearlyJson(value: object, levels: number): boolean {
  if (Array.isArray(value)) {
    const items: readonly unknown[] = value;
    return !items.includes(undefined) && items.every((item) => isClearlyJson(item, levels));
  }
  if (Object.getPrototypeOf(value) !== Object.prototype) return false;
  const members: readonly unknown[] = Object.values(value);
  return members.every((member) => member === undefined || isClearlyJson(member, levels));
}

interface Place {
  readonly subject: string;
  readonly value: unknown;
  /** The key in its parent; undefined at the top. */
  readonly key: string | number | undefined;
  readonly parent: Place | undefined;
}

/** Returns the places in an object; empty for other values. */
function membersOf(place: Place): Place[] {
  const { value } = place;
  switch (typeof value) {
    case 'number':
      if (!Number.isFinite(value)) refuse(place, String(value), 'give a finite number');
      return [];
    case 'bigint':
      return refuse(place, 'a BigInt', 'give a number or a string');
    case 'function':
      return refuse(place, 'a function', 'call it, or leave it out');
    case 'symbol':
      return refuse(place, 'a symbol', 'give a string');
    case 'object':
      return value === null ? [] : membersOfObject(value, place);
    case 'undefined':
      return refuse(place, 'undefined', 'leave the item out');
    case 'string':
    case 'boolean':
      return [];
  }
}

function membersOfObject(value: object, parent: Place): Place[] {
  const { toJSON } = value as { readonly toJSON?: unknown };
  const bytes = 'give a string, in base64 where the field wants it';
  if (ArrayBuffer.isView(value)) return refuse(parent, nameOf(value), bytes);
  if (typeof toJSON === 'function') {
    const text: unknown = toJSON.call(value, '');
    if (typeof text !== 'string') refuse(parent, `an invalid ${nameOf(value)}`, 'give its text');
    return [];
  }
  if (containsItself(parent)) refuse(parent, 'an object that contains itself', 'cut the circle');
  const { subject } = parent;
  if (Array.isArray(value)) {
    // Not `map`, which skips the holes of a list.
    const items: readonly unknown[] = value;
    return Array.from(items, (item, key) => ({ subject, value: item, key, parent }));
  }
  const members: readonly (readonly [string, unknown])[] = Object.entries(value);
  if (members.length === 0 && !isPlain(value)) {
    refuse(parent, nameOf(value), 'give a plain object, for example with Object.fromEntries');
  }
  return members
    .filter(([, member]) => member !== undefined)
    .map(([key, member]) => ({ subject, value: member, key, parent }));
}

function containsItself({ value, parent }: Place): boolean {
  for (let above = parent; above !== undefined; above = above.parent) {
    if (above.value === value) return true;
  }
  return false;
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function nameOf(value: object): string {
  return value.constructor.name;
}

function refuse(place: Place, got: string, remedy: string): never {
  const { subject } = place;
  const steps: string[] = [];
  for (let at: Place | undefined = place; at?.key !== undefined; at = at.parent) {
    const { key } = at;
    const isName = typeof key === 'string' && /^[\w-]+$/.test(key);
    steps.unshift(isName ? `.${key}` : `[${JSON.stringify(key)}]`);
  }
  const where = steps.join('').replace(/^\./, '');
  const what = where === '' ? 'the value' : where;
  throw new OperatorError('InvalidValue', `${subject}: ${what} has no JSON, got ${got}; ${remedy}`);
}
