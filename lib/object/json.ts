import { OperatorError } from '../system/index.js';
import { heldBy, holdList } from './known-list.js';

/** Any JSON value. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;

/** A JSON object. A member that is `undefined` counts as absent. */
export interface JsonObject {
  readonly [member: string]: JsonValue | undefined;
}

/** Whether `value` is a JSON object: neither null nor a list. */
export function isJsonObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Returns the member `name` of `object`, or undefined. Only own members count, so that `constructor` or
 * `__proto__` never returns an inherited property.
 */
export function memberOf(object: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/**
 * Sets an own member of `object`. `__proto__` is data like any other name (a ConfigMap may have such a key),
 * but an assignment would call JavaScript's setter.
 */
export function setMember(object: Record<string, unknown>, name: string, value: unknown): void {
  if (name === '__proto__') {
    const settings = { value, writable: true, enumerable: true, configurable: true };
    Object.defineProperty(object, name, settings);
  } else {
    object[name] = value;
  }
}

/** Returns a copy of `object` with the member `name` set. */
export function withMember<T extends Readonly<Record<string, unknown>>>(
  object: T,
  name: string,
  value: unknown,
): T {
  const copy: Record<string, unknown> = { ...object };
  setMember(copy, name, value);
  return copy as T;
}

/** Returns a copy of `value` in which the members of all objects are in the order of their names. */
export function withSortedMembers(value: unknown): unknown {
  if (Array.isArray(value)) return (value as readonly unknown[]).map(withSortedMembers);
  if (!isJsonObject(value)) return value;
  const names = Object.keys(value).sort();
  return Object.fromEntries(names.map((name) => [name, withSortedMembers(value[name])]));
}

export function withoutMember<T extends Readonly<Record<string, unknown>>>(
  object: T,
  name: string,
): T {
  return withoutMembers(object, name) as unknown as T;
}

/** Returns a copy of `object` without the members of these names. The copy shares the remaining values. */
export function withoutMembers<T extends object, K extends string>(
  object: T,
  ...names: readonly K[]
): Omit<T, K> {
  const rest: Record<string, unknown> = {};
  // Does not delete members from a copy: engines keep such objects in a slower form.
  for (const [name, value] of Object.entries(object)) {
    if (!(names as readonly string[]).includes(name)) setMember(rest, name, value);
  }
  return rest as Omit<T, K>;
}

/**
 * Sets the members of `from` in `object`, one by one. A spread would create objects that use a third more
 * memory in V8, and half as much again once frozen (measured with ConfigMaps, Node 20). That matters for
 * caches.
 * @param except - the names of members to omit
 * @returns `object`
 */
export function assignMembers<T extends object>(
  object: T,
  from: object,
  except: readonly string[],
): T {
  const held = heldBy(from);
  for (const name in from) {
    if (except.includes(name)) continue;
    if (name === held?.name) {
      holdList(object, name, held.list);
      continue;
    }
    const value = from[name as keyof typeof from];
    if (name === '__proto__') setMember(object as Record<string, unknown>, name, value);
    else (object as Record<string, unknown>)[name] = value;
  }
  return object;
}

/** Deep-copies a JSON value. Unlike `structuredClone` it does not recurse, so any depth works. */
export function copyJson<T>(value: T): T {
  const open: [copy: Json, source: Json][] = [];
  const copyOf = (source: unknown): unknown => {
    if (typeof source !== 'object' || source === null) return source;
    const copy = (Array.isArray(source) ? [] : {}) as Json;
    open.push([copy, source as Json]);
    return copy;
  };
  const copied = copyOf(value);
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [copy, source] = next;
    // The member names of a list are its indexes, in order.
    for (const name of Object.keys(source)) {
      const inner = source[name];
      setMember(copy, name, typeof inner === 'object' ? copyOf(inner) : inner);
    }
  }
  return copied as T;
}

type Json = Record<string, unknown>;

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
  // A stack instead of recursion, so that any depth works.
  const open: Place[] = [{ subject, value, key: undefined, parent: undefined }];
  for (let place = open.pop(); place !== undefined; place = open.pop()) {
    // Reversed, because the last place is checked next, and the error must name the first problem.
    for (const member of membersOf(place).reverse()) open.push(member);
  }
}

interface Place {
  readonly subject: string;
  readonly value: unknown;
  /** The key in its parent; undefined at the top. */
  readonly key: string | number | undefined;
  readonly parent: Place | undefined;
}

/** Returns the places to check in an object; empty for other values. */
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
  if (containsItself(parent)) refuse(parent, 'an object that contains itself', 'remove the cycle');
  const { subject } = parent;
  const places: Place[] = [];
  if (Array.isArray(value)) {
    // A loop over `entries`, because `forEach` skips the holes of a list.
    for (const [key, item] of (value as readonly unknown[]).entries()) {
      if (!isJsonLeaf(item)) places.push({ subject, value: item, key, parent });
    }
    return places;
  }
  const names = Object.keys(value);
  if (names.length === 0 && !isPlain(value)) {
    refuse(parent, nameOf(value), 'give a plain object, for example with Object.fromEntries');
  }
  for (const key of names) {
    const member = (value as Readonly<Record<string, unknown>>)[key];
    if (member === undefined || isJsonLeaf(member)) continue;
    places.push({ subject, value: member, key, parent });
  }
  return places;
}

/** Whether a value needs no check: most values of an object are such strings and numbers. */
function isJsonLeaf(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value);
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
  throw new OperatorError(
    'InvalidValue',
    `${subject}: ${what} has no JSON form, got ${got}; ${remedy}`,
  );
}
