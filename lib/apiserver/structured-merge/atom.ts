import { memberOf } from '../../object/json.js';
import type { Schema } from '../../object/schema.js';

/** What a scalar may be; `untyped` is any of them. */
export type Scalar = 'numeric' | 'string' | 'boolean' | 'untyped';

/**
 * What a type means to merging: how a value of it may look (several, where the schema leaves it
 * open), and whether its parts belong to one manager or each to its own.
 */
export interface Atom {
  readonly scalar: Scalar | undefined;
  readonly list: ListType | undefined;
  readonly map: MapType | undefined;
}

/** A list: atomic (one leaf), a list-map (with keys) or a set (without). */
export interface ListType {
  readonly atomic: boolean;
  /** The key fields of a list-map, sorted by name; none: a set of scalars. */
  readonly keys: readonly string[];
  readonly items: TypeRef;
}

/** A struct, a map or both: declared fields, and the type of all others. */
export interface MapType {
  readonly atomic: boolean;
  readonly fields: ReadonlyMap<string, TypeRef>;
  /** Absent: undeclared fields are an error. */
  readonly others: TypeRef | undefined;
}

/** A type that is worked out when it is first needed, for types contain themselves. */
export class TypeRef {
  /** The default of a field, which stands in for a missing key of a list-map. */
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

/** The kind of thing that a value is taken for. */
export type Shape = 'scalar' | 'list' | 'map';

/** Lets everything be a leaf: what is in a list of unknown type. */
const untypedAtom: Atom = {
  scalar: 'untyped',
  list: { atomic: true, keys: [], items: new TypeRef(() => untypedAtom) },
  map: { atomic: true, fields: new Map(), others: new TypeRef(() => untypedAtom) },
};

/** Without a schema: maps are granular, lists atomic. */
const deducedAtom: Atom = {
  scalar: 'untyped',
  list: { atomic: true, keys: [], items: new TypeRef(() => untypedAtom) },
  map: { atomic: false, fields: new Map(), others: new TypeRef(() => deducedAtom) },
};

/** A type that nothing fits: that of an undeclared field. */
export const noAtom: Atom = { scalar: undefined, list: undefined, map: undefined };

const untyped = new TypeRef(() => untypedAtom);
const deduced = new TypeRef(() => deducedAtom);

// By schema: types that stand below one that keeps unknown fields keep them too.
const strict = new WeakMap<Schema, Atom>();
const lenient = new WeakMap<Schema, Atom>();

/** The atom of `schema`, worked out once for each schema object. */
export function atomOf(schema: Schema | undefined, keepsUnknown = false): Atom {
  if (schema === undefined) return deducedAtom;
  const keeps = keepsUnknown || schema['x-kubernetes-preserve-unknown-fields'] === true;
  const known = keeps ? lenient : strict;
  const atom = known.get(schema) ?? makeAtom(schema, keeps);
  known.set(schema, atom);
  return atom;
}

/** How `value` is to be read: as what it is where the type allows that, else as the type says. */
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

/** The type of the field `name`. */
export function fieldAtom(map: MapType, name: string): Atom {
  return (map.fields.get(name) ?? map.others)?.atom ?? noAtom;
}

function makeAtom(schema: Schema, keeps: boolean): Atom {
  const [only] = schema.allOf ?? [];
  // OpenAPI v3 can't put anything beside a `$ref`: it stands in an `allOf` of one.
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
  // A Quantity: `cpu: 8` is as good as `cpu: "8"`.
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

// Types from before list types: their strategic merge patch says how they merge.
function patchKeys(schema: Schema): readonly string[] | undefined {
  const strategies = schema['x-kubernetes-patch-strategy']?.split(',') ?? [];
  if (!strategies.includes('merge')) return undefined;
  const key = schema['x-kubernetes-patch-merge-key'];
  return key === undefined ? [] : [key];
}

function refTo(schema: Schema, keeps: boolean): TypeRef {
  return new TypeRef(() => atomOf(schema, keeps), schema.default);
}
