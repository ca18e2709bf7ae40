import { memberOf } from '../../object/json.js';
import type { Schema } from '../../object/schema.js';

/** The type of a scalar; `untyped` allows all of them. */
export type Scalar = 'numeric' | 'string' | 'boolean' | 'untyped';

/**
 * The merge rules of a type: the shapes that a value may have (several, where the schema leaves it
 * open), and whether each part has its own manager or the whole has one.
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
export class TypeRef {
  /** The default of a field. It replaces a missing key of a list-map. */
  readonly defaultValue: unknown;
  readonly #resolve: () => Atom;
  #atom: Atom | undefined;

  constructor(resolve: () => Atom, defaultValue?: unknown) {
    this.#resolve = resolve;
    this.defaultValue = defaultValue;
  }

  get atom(): Atom {
    return (this.#atom ??= this.#resolve());
  }
}

/** The shape that a merge treats a value as. */
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

// By schema. `lenient` has the types below one that preserves unknown fields: they preserve them
// too.
const strict = new WeakMap<Schema, Atom>();
const lenient = new WeakMap<Schema, Atom>();

/** Returns the atom of `schema`. It is computed once per schema object. */
export function atomOf(schema: Schema | undefined, keepsUnknown = false): Atom {
  if (schema === undefined) return deducedAtom;
  const keeps = keepsUnknown || schema['x-kubernetes-preserve-unknown-fields'] === true;
  const known = keeps ? lenient : strict;
  const atom = known.get(schema) ?? makeAtom(schema, keeps);
  known.set(schema, atom);
  return atom;
}

/**
 * Returns the shape to read `value` as: its own shape if the type allows that, else a shape of the
 * type.
 */
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

/** Returns the type of the field `name`. */
export function fieldAtom(map: MapType, name: string): Atom {
  return (map.fields.get(name) ?? map.others)?.atom ?? noAtom;
}

function makeAtom(schema: Schema, keeps: boolean): Atom {
  const [only] = schema.allOf ?? [];
  // OpenAPI v3 allows nothing beside a `$ref`, so the `$ref` stands in an `allOf` of one.
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
    fields.set(name, refTo(property, keeps));
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

// Types that are older than list types: the strategic merge patch markers say how they merge.
function patchKeys(schema: Schema): readonly string[] | undefined {
  const strategies = schema['x-kubernetes-patch-strategy']?.split(',') ?? [];
  if (!strategies.includes('merge')) return undefined;
  const key = schema['x-kubernetes-patch-merge-key'];
  return key === undefined ? [] : [key];
}

function refTo(schema: Schema, keeps: boolean): TypeRef {
  return new TypeRef(() => atomOf(schema, keeps), schema.default);
}
