import { heldBy, holdList } from './known-list.js';

/** Anything that JSON can say. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;

/** A JSON object. A member that is `undefined` counts as absent. */
export interface JsonObject {
  readonly [member: string]: JsonValue | undefined;
}

/** Whether `value` is an object in JSON's sense: neither null nor a list. */
export function isJsonObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * The member `name` of `object`, or undefined. Only own members count, so that a document's
 * `constructor` or `__proto__` never reaches JavaScript's.
 */
export function memberOf(object: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/**
 * Sets an own member of `object`. `__proto__` is data as any other name (a ConfigMap may have such
 * a key): an assignment would call JavaScript's setter instead.
 */
export function setMember(object: Record<string, unknown>, name: string, value: unknown): void {
  if (name === '__proto__') {
    const settings = { value, writable: true, enumerable: true, configurable: true };
    Object.defineProperty(object, name, settings);
  } else {
    object[name] = value;
  }
}

/** A copy of `object` with the member `name` set. */
export function withMember<T extends Readonly<Record<string, unknown>>>(
  object: T,
  name: string,
  value: unknown,
): T {
  const copy: Record<string, unknown> = { ...object };
  setMember(copy, name, value);
  return copy as T;
}

/** A copy of `object` without the member `name`. */
export function withoutMember<T extends Readonly<Record<string, unknown>>>(
  object: T,
  name: string,
): T {
  // `fromEntries` defines members, it does not assign: `__proto__` stays data.
  return Object.fromEntries(Object.entries(object).filter(([member]) => member !== name)) as T;
}

/**
 * Sets the members of `from` in `object`, one by one. A spread would be shorter, but makes objects that
 * take V8 a third more memory, and half as much again once they are frozen: it matters where many are
 * kept (ConfigMaps, Node 20).
 * @param except - the names of members that are left out
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

/** A deep copy of a JSON value. Unlike `structuredClone` it does not recurse: any depth will do. */
export function copyJson<T>(value: T): T {
  const open: [copy: object, source: object][] = [];
  const copyOf = (source: unknown): unknown => {
    if (typeof source !== 'object' || source === null) return source;
    const copy = Array.isArray(source) ? [] : {};
    open.push([copy, source]);
    return copy;
  };
  const copied = copyOf(value);
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [copy, source] = next;
    // The names of a list's members are its indexes, in order.
    for (const [name, inner] of Object.entries(source)) {
      setMember(copy as Record<string, unknown>, name, copyOf(inner));
    }
  }
  return copied as T;
}
