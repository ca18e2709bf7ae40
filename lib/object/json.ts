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
 * Returns the member `name` of `object`, or undefined. Only own members count, so that a document's
 * `constructor` or `__proto__` never reaches JavaScript's.
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

/** Returns a copy of `object` without the member `name`. */
export function withoutMember<T extends Readonly<Record<string, unknown>>>(
  object: T,
  name: string,
): T {
  // `fromEntries` defines members instead of assigning them: `__proto__` stays data.
  return Object.fromEntries(Object.entries(object).filter(([member]) => member !== name)) as T;
}

/**
 * Sets the members of `from` in `object`, one by one. A spread would create objects that use a third more
 * memory in V8, and half as much again once frozen, which matters for caches (measured with ConfigMaps, Node
 * 20).
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
