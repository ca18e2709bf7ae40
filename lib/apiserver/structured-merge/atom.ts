import {
  elementJson,
  fieldElement,
  isJsonObject,
  memberOf,
  setMember,
} from '../../object/index.js';
import type { PathElement, Schema } from '../../object/index.js';

/** The type of a scalar; `untyped` allows all of them. */
export type Scalar = 'numeric' | 'string' | 'boolean' | 'untyped';

/**
 * The merge rules of a type: the shapes that a value may have, and whether its parts have managers of their
 * own. Where the schema leaves the shape open, several shapes are set.
 */
export interface Atom {
  readonly scalar: Scalar | undefined;
  readonly list: ListType | undefined;
  readonly map: MapType | undefined;
}

/** A list: atomic (one leaf), a list-map (with keys) or a set (without). */
export interface ListType {
  readonly atomic: boolean;
  /** The key fields of a list-map, sorted by name; empty for a set of scalars. */
  readonly keys: readonly string[];
  readonly items: TypeRef;
}

/** A struct, a map or both: declared fields, and the type of all others. */
export interface MapType {
  readonly atomic: boolean;
  readonly fields: ReadonlyMap<string, TypeRef>;
  /** The type of undeclared fields. If undefined, undeclared fields are an error. */
  readonly others: TypeRef | undefined;
}

/** A type that is resolved at its first use, because types may contain themselves. */
class TypeRef {
  /** The default of a field. It replaces a missing key of a list-map. */
  readonly defaultValue: unknown;
  /** The path element of a declared field, made once because its text is needed for each object. */
  readonly element: PathElement | undefined;
  readonly #resolve: () => Atom;
  #atom: Atom | undefined;

  constructor(resolve: () => Atom, field?: { readonly name: string; readonly schema: Schema }) {
    this.#resolve = resolve;
    this.defaultValue = field?.schema.default;
    this.element = field && fieldElement(field.name);
  }

  get atom(): Atom {
    return (this.#atom ??= this.#resolve());
  }
}

/** The shape as which a merge treats a value. */
export type Shape = 'scalar' | 'list' | 'map';

/** The type of the items of a list of unknown type: everything is a leaf. */
const untypedAtom: Atom = {
  scalar: 'untyped',
  list: { atomic: true, keys: [], items: new TypeRef(() => untypedAtom) },
  map: { atomic: true, fields: new Map(), others: new TypeRef(() => untypedAtom) },
};

/** The type of a value without a schema: maps are granular, lists atomic. */
const deducedAtom: Atom = {
  scalar: 'untyped',
  list: { atomic: true, keys: [], items: new TypeRef(() => untypedAtom) },
  map: { atomic: false, fields: new Map(), others: new TypeRef(() => deducedAtom) },
};

/** The type of an undeclared field: no value fits it. */
export const noAtom: Atom = { scalar: undefined, list: undefined, map: undefined };

const untyped = new TypeRef(() => untypedAtom);
const deduced = new TypeRef(() => deducedAtom);

// Atoms by schema. `lenient` holds atoms below a schema that preserves unknown fields. They preserve unknown fields
// too.
const strict = new WeakMap<Schema, Atom>();
const lenient = new WeakMap<Schema, Atom>();

/** Returns the atom of `schema`. It is computed once per schema object. */
export function atomOf(schema: Schema | undefined, keepsUnknown = false): Atom {
  if (schema === undefined) return deducedAtom;
  const keeps = keepsUnknown || schema['x-kubernetes-preserve-unknown-fields'] === true;
  const known = keeps ? lenient : strict;
  let atom = known.get(schema);
  if (atom === undefined) known.set(schema, (atom = makeAtom(schema, keeps)));
  return atom;
}

/** Returns the shape to read `value` as: its own shape if the type allows that, else a shape of the type. */
export function shapeOf(atom: Atom, value: unknown): Shape | undefined {
  if (Array.isArray(value)) {
    if (atom.list !== undefined) return 'list';
  } else if (typeof value === 'object') {
    if (value !== null && atom.map !== undefined) return 'map';
  } else if (value !== undefined && atom.scalar !== undefined) return 'scalar';
  if (atom.map !== undefined) return 'map';
  if (atom.scalar !== undefined) return 'scalar';
  return atom.list === undefined ? undefined : 'list';
}

export function fieldAtom(map: MapType, name: string): Atom {
  return (map.fields.get(name) ?? map.others)?.atom ?? noAtom;
}

/** Returns the path element of the field or map key `name`. */
export function elementOfField(map: MapType, name: string): PathElement {
  return map.fields.get(name)?.element ?? fieldElement(name);
}

function makeAtom(schema: Schema, keeps: boolean): Atom {
  const [only] = schema.allOf ?? [];
  // OpenAPI v3 allows nothing next to a `$ref`, so the `$ref` is the only entry of an `allOf`.
  if (schema.type === undefined && only !== undefined && schema.allOf?.length === 1) {
    return overridden(atomOf(only), schema);
  }
  const type: Schema['type'] | undefined = schema.type;
  switch (type) {
    case 'object':
      return { ...noAtom, map: mapType(schema, keeps) };
    case 'array':
      return { ...noAtom, list: listType(schema, keeps) };
    case 'boolean':
      return { ...noAtom, scalar: 'boolean' };
    case 'integer':
    case 'number':
      return { ...noAtom, scalar: 'numeric' };
    case 'string':
      return { ...noAtom, scalar: stringScalar(schema) };
    case undefined:
      return { scalar: 'untyped', list: listType(schema, keeps), map: mapType(schema, keeps) };
  }
}

function stringScalar(schema: Schema): Scalar {
  const { format } = schema;
  // A Quantity: `cpu: 8` and `cpu: "8"` are both valid.
  if (schema['x-kubernetes-int-or-string'] === true) return 'untyped';
  return format === undefined || format === '' || format === 'byte' ? 'string' : 'untyped';
}

function overridden(atom: Atom, schema: Schema): Atom {
  const mapType = schema['x-kubernetes-map-type'];
  if (mapType === undefined) return atom;
  const atomic = mapType === 'atomic';
  if (atom.map !== undefined) return { ...atom, map: { ...atom.map, atomic } };
  return atom.list === undefined ? atom : { ...atom, list: { ...atom.list, atomic } };
}

function mapType(schema: Schema, keeps: boolean): MapType {
  const { properties = {} } = schema;
  const fields = new Map<string, TypeRef>();
  for (const name of Object.keys(properties)) {
    const property = memberOf(properties, name) as Schema;
    fields.set(name, new TypeRef(() => atomOf(property, keeps), { name, schema: property }));
  }
  const atomic = schema['x-kubernetes-map-type'] === 'atomic';
  return { atomic, fields, others: otherFields(schema, keeps) };
}

function otherFields(schema: Schema, keeps: boolean): TypeRef | undefined {
  const { additionalProperties, properties = {} } = schema;
  if (typeof additionalProperties === 'object') return refTo(additionalProperties, keeps);
  if (additionalProperties !== undefined) return additionalProperties ? deduced : undefined;
  return keeps || Object.keys(properties).length === 0 ? deduced : undefined;
}

function listType(schema: Schema, keeps: boolean): ListType {
  const items = schema.items === undefined ? untyped : refTo(schema.items, keeps);
  const keys = associativeKeys(schema);
  return { atomic: keys === undefined, keys: keys ?? [], items };
}

function associativeKeys(schema: Schema): readonly string[] | undefined {
  const type: Schema['x-kubernetes-list-type'] | undefined = schema['x-kubernetes-list-type'];
  switch (type) {
    case 'map':
      return (schema['x-kubernetes-list-map-keys'] ?? []).toSorted();
    case 'set':
      return [];
    case 'atomic':
      return undefined;
    case undefined:
      return patchKeys(schema);
  }
}

// For a list without `x-kubernetes-list-type`: the markers of strategic merge patch define how it merges.
function patchKeys(schema: Schema): readonly string[] | undefined {
  const strategies = schema['x-kubernetes-patch-strategy']?.split(',') ?? [];
  if (!strategies.includes('merge')) return undefined;
  const key = schema['x-kubernetes-patch-merge-key'];
  return key === undefined ? [] : [key];
}

function refTo(schema: Schema, keeps: boolean): TypeRef {
  return new TypeRef(() => atomOf(schema, keeps));
}

/** The path element of an entry of a list-map or set, or the reason why it has none. */
type ListElement =
  { readonly element: PathElement } | { readonly problem: string; readonly element?: undefined };

/** Returns the path element of `item`, an entry of the list-map or set `list`. */
export function listElement(list: ListType, item: unknown): ListElement {
  return list.keys.length > 0 ? keyedElement(list, item) : setElement(item);
}

/** {@link listElement} for lists that are already checked. Returns undefined for entries without an element. */
export function elementOfItem(list: ListType, item: unknown): PathElement | undefined {
  return listElement(list, item).element;
}

function keyedElement(list: ListType, item: unknown): ListElement {
  if (item === null || item === undefined) {
    return { problem: 'associative list with keys may not have a null element' };
  }
  if (!isJsonObject(item)) {
    return { problem: 'associative list with keys may not have non-map elements' };
  }
  const fields = list.items.atom.map?.fields;
  let text = '';
  for (const key of list.keys) {
    const own = memberOf(item, key);
    const value = own === undefined ? fields?.get(key)?.defaultValue : own;
    // An entry without this key differs from every entry that has it.
    if (value === undefined) continue;
    text += `${text === '' ? '' : ','}${elementJson(key)}:${elementJson(value)}`;
  }
  return text === '' ? { problem: withoutKeys(list.keys) } : { element: `k:{${text}}` };
}

function withoutKeys(keys: readonly string[]): string {
  const names = keys.map((key) => JSON.stringify(key)).join(' ');
  return (
    `associative list with keys has an element that omits all key fields [${names}] ` +
    `(and doesn't have default values for any key fields)`
  );
}

function setElement(item: unknown): ListElement {
  if (item === null || item === undefined) {
    return { problem: "associative list without keys has an element that's an explicit null" };
  }
  if (Array.isArray(item)) {
    return { problem: 'not supported: associative list with lists as elements' };
  }
  if (typeof item === 'object') {
    return { problem: "associative list without keys has an element that's a map type" };
  }
  return { element: `v:${elementJson(item)}` };
}

const zeros = new WeakMap<Schema, Readonly<Record<string, unknown>>>();

/**
 * Returns the zero value of a built-in kind's Go struct as JSON, from which a create starts. Non-pointer
 * structs exist in it, and required lists and maps are null. The creator does not own these fields.
 */
export function zeroObject(schema: Schema | undefined): Readonly<Record<string, unknown>> {
  if (schema === undefined) return {};
  const known = zeros.get(schema);
  if (known !== undefined) return known;
  const zero = zeroStruct(schema);
  zeros.set(schema, zero);
  return zero;
}

function zeroStruct(schema: Schema): Record<string, unknown> {
  const { properties = {}, required = [] } = schema;
  const zero: Record<string, unknown> = {};
  for (const name of Object.keys(properties)) {
    const property = memberOf(properties, name) as Schema;
    const value = zeroOf(property, required.includes(name));
    if (value !== undefined) setMember(zero, name, value);
  }
  return zero;
}

function zeroOf(schema: Schema, required: boolean): unknown {
  const type = schema.type ?? schema.allOf?.[0]?.type;
  // In the OpenAPI document, the default `{}` marks a non-pointer struct, which always exists.
  if (type === 'object' && isJsonObject(schema.default)) {
    return zeroStruct(schema.allOf?.[0] ?? schema);
  }
  if (!required) return undefined;
  return type === 'object' || type === 'array' ? null : schema.default;
}
