import { isJsonObject, memberOf, setMember } from '../object/index.js';

/** A JSON object that the caller owns and may change in place. */
export type Json = Record<string, unknown>;

/** Returns an object's member if it is an object; otherwise undefined. */
export function objectAt(object: Json, name: string): Json | undefined {
  const value = memberOf(object, name);
  return isJsonObject(value) ? value : undefined;
}

/** Returns an object's member that is an object; creates it if missing. */
export function objectMadeAt(object: Json, name: string): Json {
  const found = objectAt(object, name);
  if (found !== undefined) return found;
  const made: Json = {};
  setMember(object, name, made);
  return made;
}

/** Returns the objects in an object's list; empty if it is not a list. */
export function objectsAt(object: Json, name: string): readonly Json[] {
  const value = memberOf(object, name);
  return Array.isArray(value) ? value.filter((one): one is Json => isJsonObject(one)) : [];
}

/** Returns the strings in a list; empty if it is not a list. */
export function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
}

/** Returns a member of an object as a string; empty if it is not one. */
export function textAt(object: Json | undefined, name: string): string {
  const value = object === undefined ? undefined : memberOf(object, name);
  return typeof value === 'string' ? value : '';
}
