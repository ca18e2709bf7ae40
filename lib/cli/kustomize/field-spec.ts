import { isJsonObject, memberOf, setMember } from '../../object/json.js';
import type { Json } from './json-values.js';
import { isNothing, textAt } from './json-values.js';
import { groupVersionOf, isOfKind } from './resource-id.js';
import type { KindSelector } from './resource-id.js';

/** A field of objects of some kinds. */
export interface FieldSpec extends KindSelector {
  /** Names with slashes between; lists on the way count with each of their items. `\/` is a slash. */
  readonly path: string;
  /** Whether it is made where it is missing. */
  readonly create?: boolean | undefined;
}

/** A place of a value: an object and its member, or a list and its index. */
export interface Place {
  readonly value: unknown;
  readonly set: (value: unknown) => void;
}

/** What is put where a path ends in nothing, for a field that is made. */
type Made = () => unknown;

/**
 * Calls `visit` with every place that a field has in an object of one of its kinds.
 * @param made - makes the value of a field that is missing; undefined: none is made
 */
export function visitField(
  object: Json,
  spec: FieldSpec,
  { visit, made }: { readonly visit: (place: Place) => void; readonly made?: Made | undefined },
): void {
  const id = { ...groupVersionOf(textAt(object, 'apiVersion')), kind: textAt(object, 'kind') };
  if (!isOfKind(id, spec)) return;
  const make = spec.create === true ? made : undefined;
  descend(object, splitPath(spec.path), { visit, made: make });
}

/** The names of a path, with slashes between. */
export function splitPath(path: string, separator = '/'): readonly string[] {
  const hidden = path.replaceAll(`\\${separator}`, '\0');
  return hidden.split(separator).map((name) => name.replaceAll('\0', separator));
}

interface Descent {
  readonly visit: (place: Place) => void;
  readonly made: Made | undefined;
}

function descend(value: unknown, path: readonly string[], descent: Descent): void {
  if (Array.isArray(value)) {
    for (const item of value as readonly unknown[]) descend(item, path, descent);
    return;
  }
  const [first, ...rest] = path;
  if (first === undefined || !isJsonObject(value)) return;
  const object = value as Json;
  const name = first.replace(/\[\]$/, '');
  const { visit, made } = first === name ? descent : { ...descent, made: undefined };
  if (isNothing(memberOf(object, name))) {
    if (made === undefined) return;
    setMember(object, name, rest.length === 0 ? made() : {});
  }
  if (rest.length > 0) {
    descend(memberOf(object, name), rest, descent);
    return;
  }
  visit({ value: memberOf(object, name), set: (to) => setMember(object, name, to) });
}
