import { isJsonObject, memberOf, setMember } from '../../object/json.js';

/** A JSON object that is ours alone: it is changed in place. */
export type Json = Record<string, unknown>;

/** The member of an object as an object of its own; what is no object counts as absent. */
export function objectAt(object: Json, name: string): Json | undefined {
  const value = memberOf(object, name);
  return isJsonObject(value) ? value : undefined;
}

/** The member of an object as an object; made where it is missing. */
export function objectMadeAt(object: Json, name: string): Json {
  const found = objectAt(object, name);
  if (found !== undefined) return found;
  const made: Json = {};
  setMember(object, name, made);
  return made;
}

/** The objects in a list that is the member of an object; empty: there is no such list. */
export function objectsAt(object: Json, name: string): readonly Json[] {
  const value = memberOf(object, name);
  return Array.isArray(value) ? value.filter((one): one is Json => isJsonObject(one)) : [];
}

/** The member of an object as a text; empty: there is none. */
export function textAt(object: Json | undefined, name: string): string {
  const value = object === undefined ? undefined : memberOf(object, name);
  return typeof value === 'string' ? value : '';
}

/** Texts by their names, of a member of an object: labels, annotations. */
export function textsAt(object: Json | undefined, name: string): Readonly<Record<string, string>> {
  const found = object === undefined ? undefined : objectAt(object, name);
  const pairs = Object.entries(found ?? {}).filter(([, value]) => typeof value === 'string');
  return Object.fromEntries(pairs) as Record<string, string>;
}

/** Whether a value is null, or not there. */
export function isNothing(value: unknown): value is null | undefined {
  return value === null || value === undefined;
}

/** A text or a number, as YAML writes it; empty: it is neither. */
export function scalarText(value: unknown): string {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
}
