import { isJsonObject, memberOf, setMember } from '../../object/json.js';
import type { Json } from './json-values.js';
import { isNothing, textAt } from './json-values.js';
import { groupVersionOf, isOfKind } from './resource-id.js';
import type { KindSelector } from './resource-id.js';

/** A field of objects of some kinds. */
export interface FieldSpec extends KindSelector {
  /** Names separated by slashes; a list applies to each of its items. `\/` is a slash in a name. */
  readonly path: string;
  /** Whether a missing field is created. */
  readonly create?: boolean | undefined;
}

/** The place of a value: an object and a member, or a list and an index. */
export interface Place {
  readonly value: unknown;
  readonly set: (value: unknown) => void;
}

/** Makes the value of a missing field. */
type Made = () => unknown;

/**
 * Calls `visit` with every place of a field in an object of a matching kind.
 * @param made - makes the value of a missing field; undefined: missing fields stay missing
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

/** Splits a path into its names. */
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
