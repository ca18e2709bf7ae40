import { isJsonObject, setMember } from '../../object/index.js';
import { readDocument } from '../kinds/documents.js';
import {
  DecodeError,
  Decoding,
  bytesType,
  intOrStringGoType,
  microTimeGoType,
  quantityGoType,
  rawGoType,
  scalarType,
  timeGoType,
} from './decoding.js';
import type { DecodedField, GoType } from './decoding.js';

type Declaration = string | Readonly<Record<string, string>>;

/** Types with their own JSON encoding. */
const custom: ReadonlyMap<string, (name: string) => GoType> = new Map<
  string,
  (name: string) => GoType
>([
  ['meta/v1.Time', () => timeGoType],
  ['meta/v1.MicroTime', () => microTimeGoType],
  ['meta/v1.Duration', () => scalarType('string', 'v1.Duration')],
  ['meta/v1.FieldsV1', () => rawGoType],
  ['apiextensions/v1.JSON', () => rawGoType],
  ['apiextensions/v1.JSONSchemaPropsOrBool', () => schemaOrBoolType(goType(schemaProps))],
  ['apiextensions/v1.JSONSchemaPropsOrArray', () => schemaOrArrayType(goType(schemaProps))],
  ['apiextensions/v1.JSONSchemaPropsOrStringArray', () => schemaOrStringsType(goType(schemaProps))],
  ['k8s.io/apimachinery/pkg/api/resource.Quantity', () => quantityGoType],
  ['k8s.io/apimachinery/pkg/util/intstr.IntOrString', () => intOrStringGoType],
  ['k8s.io/apimachinery/pkg/runtime.RawExtension', () => rawGoType],
]);
const schemaProps = 'apiextensions/v1.JSONSchemaProps';
const compiled = new Map<string, GoType>();

/** Returns the type with this name or expression (`apps/v1.Deployment`, `[]string`), compiled once. */
export function goType(expression: string): GoType {
  let type = compiled.get(expression);
  if (type === undefined) {
    type = compile(expression);
    compiled.set(expression, type);
  }
  return type;
}

/** The types of the responses of webhooks, which no document of the server describes. */
const unlisted: Readonly<Record<string, Declaration>> = {
  'admission/v1.AdmissionReview': {
    '.TypeMeta': 'meta/v1.TypeMeta',
    response: '*admission/v1.AdmissionResponse?',
  },
  'admission/v1.AdmissionResponse': {
    uid: 'types.UID',
    allowed: 'bool',
    status: '*meta/v1.Status?',
    patch: '[]byte?',
    patchType: '*admissionregistration/v1.PatchType?',
    auditAnnotations: 'map[string]string?',
    warnings: '[]string?',
  },
  'apiextensions/v1.ConversionReview': {
    '.TypeMeta': 'meta/v1.TypeMeta',
    response: '*apiextensions/v1.ConversionResponse?',
  },
  'apiextensions/v1.ConversionResponse': {
    uid: 'types.UID',
    convertedObjects: '[]k8s.io/apimachinery/pkg/runtime.RawExtension',
    result: 'meta/v1.Status',
  },
};

let declared: Readonly<Record<string, Declaration>> | undefined;

function declarations(): Readonly<Record<string, Declaration>> {
  declared ??= { ...(readDocument('go-types') as Record<string, Declaration>), ...unlisted };
  return declared;
}

const basic = /^(?:string|bool|u?int\d*|float\d+)$/;

function compile(expression: string): GoType {
  if (basic.test(expression)) return scalarType(expression, expression);
  if (expression === '[]byte') return bytesType;
  const collection = collectionType(expression);
  if (collection !== undefined) return collection;
  const own = custom.get(expression);
  if (own !== undefined) return own(expression);
  const declared = declarations()[expression];
  if (declared === undefined) throw new Error(`go-types: ${expression} is missing in the data`);
  if (typeof declared !== 'string') {
    return structType(shortName(expression), () => fieldsOf(declared, []));
  }
  if (basic.test(declared)) return scalarType(declared, shortName(expression));
  return collectionType(declared, shortName(expression)) ?? goType(declared);
}

/**
 * Returns the type of a slice or a map, if the expression is one.
 * @param name - the name of a declared type in Go's messages. @defaultValue the expression
 */
function collectionType(expression: string, name?: string): GoType | undefined {
  if (expression.startsWith('[]') && expression !== '[]byte') {
    return listType(goType(expression.slice(2)), name);
  }
  const [, key = '', entry] = /^map\[([^\]]+)\](.+)$/.exec(expression) ?? [];
  if (entry === undefined) return undefined;
  const item = goType(entry);
  return mapType(item, name ?? `map[${shortName(key)}]${item.name}`);
}

/** Returns the name in Go's messages: `v1.PullPolicy` for `core/v1.PullPolicy`. */
function shortName(name: string): string {
  return name.slice(name.lastIndexOf('/') + 1);
}

function fieldsOf(declared: Readonly<Record<string, string>>, within: string[]): GoField[] {
  return Object.entries(declared).flatMap(([name, written]) => {
    const [, pointer, expression = '', flags = ''] = /^(\*?)(.*?)([?0]*)$/.exec(written) ?? [];
    if (name.startsWith('.')) {
      const embedded = declarations()[expression];
      if (typeof embedded !== 'object') throw new Error(`go-types: ${expression} is not a struct`);
      return fieldsOf(embedded, [...within, name.slice(1)]);
    }
    return {
      name,
      goPath: [...within, name],
      type: () => goType(expression),
      pointer: pointer === '*',
      omitEmpty: flags.includes('?'),
      omitZero: flags.includes('0'),
    };
  });
}

/** Returns a slice type. An empty slice that must be written is null. */
function listType(item: GoType, name = `[]${item.name}`): GoType {
  return {
    name,
    decode: (value, at) => {
      if (!Array.isArray(value)) throw at.mismatch(value, name, 'slice');
      return value.map((one: unknown, index) => {
        if (one === null) return item.zero();
        at.enter(index);
        const decoded = item.decode(one, at);
        at.leave();
        return decoded;
      });
    },
    zero: () => null,
    isEmpty: (value) => (value as readonly unknown[]).length === 0,
    inOrder: item.inOrder && ((value) => orderedItems(value, item)),
  };
}

function orderedItems(value: unknown, item: GoType): unknown {
  if (!Array.isArray(value)) return value;
  let items: unknown[] | undefined;
  for (const [index, one] of (value as readonly unknown[]).entries()) {
    const ordered = item.inOrder?.(one);
    if (ordered !== one) (items ??= [...(value as readonly unknown[])])[index] = ordered;
  }
  return items ?? (value as unknown[]);
}

/** Returns a map type with string keys. Decoding sorts the keys, as Go writes them. */
function mapType(item: GoType, name: string): GoType {
  return {
    name,
    decode: (value, at) => {
      if (!isJsonObject(value)) throw at.mismatch(value, name, 'map');
      const decoded: Record<string, unknown> = {};
      const keys = Object.keys(value).sort();
      for (const key of keys) {
        const one = value[key];
        at.enter(key);
        setMember(decoded, key, one === null ? zeroEntry(item) : item.decode(one, at));
        at.leave();
      }
      const nulls = item === bytesType ? keys.filter((key) => value[key] === null) : [];
      if (nulls.length > 0) nullBytes.set(decoded, nulls);
      return decoded;
    },
    zero: () => null,
    isEmpty: (value) => Object.keys(value as object).length === 0,
    inOrder: item.inOrder && ((value) => orderedEntries(value, item)),
  };
}

function orderedEntries(value: unknown, item: GoType): unknown {
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).map(([key, one]) => [key, item.inOrder?.(one)] as const);
  return entries.every(([key, one]) => one === value[key]) ? value : Object.fromEntries(entries);
}

/** Returns the value of a null entry: an empty string for bytes, else the zero value. */
function zeroEntry(item: GoType): unknown {
  return item === bytesType ? '' : item.zero();
}

/** For each decoded map of bytes: the keys whose values were null. The map itself has empty bytes for them. */
const nullBytes = new WeakMap<object, readonly string[]>();

/** Returns whether a map of a decoded object has null bytes, which Go stores in another form than empty ones. */
export function hasNullBytes(object: object): boolean {
  return Object.values(object).some(
    (map: unknown) =>
      isJsonObject(map) && (nullBytes.get(map) ?? []).some((key) => map[key] === ''),
  );
}

interface GoField extends DecodedField {
  readonly type: () => GoType;
  readonly pointer: boolean;
  /** The tag `omitempty`. */
  readonly omitEmpty: boolean;
  /** The tag `omitzero`. */
  readonly omitZero: boolean;
}

/** Returns a struct type. `fields` is called once, at the first use of the type, because types are recursive. */
function structType(name: string, fields: () => readonly GoField[]): GoType {
  let plan: StructPlan | undefined;
  const planned = (): StructPlan => (plan ??= planOf(fields()));
  const shortName = name.slice(name.lastIndexOf('.') + 1);
  return {
    name,
    decode: (value, at) => {
      if (!isJsonObject(value)) throw at.mismatch(value, name, 'struct');
      return decodeStruct(value, { at, shortName, plan: planned() });
    },
    zero: () => zeroStruct(planned()),
    isEmpty: () => false,
    inOrder: (value) => (isJsonObject(value) ? orderedStruct(value, planned()) : value),
  };
}

interface PlannedField extends GoField {
  readonly goType: GoType;
  /** The position of the field in the Go struct. */
  readonly position: number;
  /** True if the field is written even without a value. */
  readonly always: boolean;
}

interface StructPlan {
  readonly fields: readonly PlannedField[];
  readonly byName: ReadonlyMap<string, PlannedField>;
}

function planOf(fields: readonly GoField[]): StructPlan {
  const planned = fields.map((field, position) => {
    const goType = field.type();
    const leftOut = field.omitZero || (field.omitEmpty && (field.pointer || emptyZero(goType)));
    return { ...field, goType, position, always: !leftOut };
  });
  return { fields: planned, byName: new Map(planned.map((field) => [field.name, field])) };
}

/**
 * Returns whether `omitempty` omits the zero value of a type. Does not compute that value: for a struct, it may need a
 * type whose fields are not known yet.
 */
function emptyZero(type: GoType): boolean {
  return type.isEmpty('') || type.isEmpty(0) || type.isEmpty(false) || type.isEmpty([]);
}

interface StructDecoding {
  readonly at: Decoding;
  readonly shortName: string;
  readonly plan: StructPlan;
}

function decodeStruct(
  value: Readonly<Record<string, unknown>>,
  { at, shortName, plan }: StructDecoding,
): Record<string, unknown> {
  const outer = at.structName;
  const { fields, byName } = plan;
  /** The decoded values, by the positions of their fields. */
  const given = new Array<unknown>(fields.length);
  // Use the order of the document, which is the order of the reported problems.
  for (const name of Object.keys(value)) {
    const field = byName.get(name);
    if (field === undefined) {
      at.unknown(name);
      continue;
    }
    const raw = value[name];
    if (raw === undefined || raw === null) continue;
    at.structName = shortName;
    at.enter(field);
    given[field.position] = field.goType.decode(raw, at);
    at.leave();
  }
  at.structName = outer;
  const lost: string[] = [];
  const assembled = assemble(fields, { given, lost, at });
  keepEmptyMembers(assembled, lost, value);
  return assembled;
}

interface Assembly {
  /** The decoded values, by the positions of their fields. */
  readonly given: readonly unknown[];
  /** Receives the names of empty lists and maps that the JSON of the struct leaves out. */
  readonly lost: string[];
  readonly at: Decoding;
}

/** Returns the JSON of a struct in the order of its fields. */
function assemble(
  fields: readonly PlannedField[],
  { given, lost, at }: Assembly,
): Record<string, unknown> {
  const assembled: Record<string, unknown> = {};
  for (const { name, pointer, goType, omitEmpty, always, position } of fields) {
    const value = given[position];
    if (value === undefined) {
      if (always) assembled[name] = pointer ? null : goType.zero();
    } else if (pointer || !goType.isEmpty(value)) {
      assembled[name] = value;
    } else {
      // Go keeps empty bytes. Go keeps an empty list in a body, but reads an empty list in the storage as missing.
      const isKept = goType === bytesType || (Array.isArray(value) && !at.fromStorage);
      if (!omitEmpty) assembled[name] = isKept ? value : goType.zero();
      if (typeof value === 'object' && assembled[name] !== value) lost.push(name);
    }
  }
  return assembled;
}

function orderedStruct(
  struct: Readonly<Record<string, unknown>>,
  { fields, byName }: StructPlan,
): Readonly<Record<string, unknown>> {
  // Most structs are in order. Only the others need look-ups.
  let changed: Map<string, unknown> | undefined;
  let [isInOrder, isDeclared, next] = [true, true, 0];
  for (const name in struct) {
    let place = next;
    while (place < fields.length && fields[place]?.name !== name) place++;
    if (place < fields.length) next = place + 1;
    else isInOrder = false;
    const field = fields[place] ?? byName.get(name);
    if (field === undefined) isDeclared = false;
    const value = struct[name];
    const ordered = field?.goType.inOrder === undefined ? value : field.goType.inOrder(value);
    if (ordered !== value) (changed ??= new Map()).set(name, ordered);
  }
  if (isInOrder && changed === undefined) return struct;
  const built: Record<string, unknown> = {};
  for (const { name } of fields) {
    const value = changed?.get(name) ?? struct[name];
    if (value !== undefined) built[name] = value;
  }
  return isDeclared ? built : { ...built, ...struct, ...built };
}

/** The names of members that were empty lists or maps, by the decoded struct, which no longer has these members. */
const emptyMembers = new WeakMap<object, ReadonlySet<string>>();

/**
 * Records the empty lists and maps that decoding drops. Go distinguishes them from missing ones until it stores the
 * object.
 */
function keepEmptyMembers(
  assembled: Readonly<Record<string, unknown>>,
  lost: readonly string[],
  source: object,
): void {
  const before = emptyMembers.get(source);
  if (lost.length > 0 || before !== undefined) {
    emptyMembers.set(assembled, new Set([...(before ?? []), ...lost]));
  }
}

/** Returns whether a decoded struct has no member `name` because it was an empty list or map. */
export function hadEmptyMember(struct: object, name: string): boolean {
  return emptyMembers.get(struct)?.has(name) === true;
}

function zeroStruct(plan: StructPlan): Record<string, unknown> {
  const zero: Record<string, unknown> = {};
  for (const { name, always, pointer, goType } of plan.fields) {
    if (always) zero[name] = pointer ? null : goType.zero();
  }
  return zero;
}

// The union types in a CRD's schema: Go chooses the member of the union by the first character of the JSON.

/** Members of a union type are pointers in Go. A missing member is nil, and every other value is written. */
const union = { zero: () => null, isEmpty: () => false };

/** Returns the state for a nested decoder. Its unknown fields are not reported to the outer decoder. */
function ownDecoding({ fromStorage }: Decoding): Decoding {
  return new Decoding(fromStorage);
}

/** Returns the type `JSONSchemaPropsOrBool`. */
function schemaOrBoolType(schema: GoType): GoType {
  return {
    name: 'v1.JSONSchemaPropsOrBool',
    decode: (value, at) => {
      if (typeof value === 'boolean') return value;
      if (!isJsonObject(value)) throw new DecodeError('boolean or JSON schema expected');
      return schema.decode(value, ownDecoding(at));
    },
    ...union,
    inOrder: schema.inOrder,
  };
}

/** Returns the type `JSONSchemaPropsOrArray`. */
function schemaOrArrayType(schema: GoType): GoType {
  return {
    name: 'v1.JSONSchemaPropsOrArray',
    decode: (value, at) => {
      if (Array.isArray(value) && value.length > 0)
        return value.map((one: unknown) => schema.decode(one, ownDecoding(at)));
      // An empty list, or a value of another type, counts as a missing member.
      return isJsonObject(value) ? schema.decode(value, ownDecoding(at)) : undefined;
    },
    ...union,
    inOrder: (value) =>
      Array.isArray(value) ? orderedItems(value, schema) : schema.inOrder?.(value),
  };
}

/** Returns the type `JSONSchemaPropsOrStringArray`. */
function schemaOrStringsType(schema: GoType): GoType {
  return {
    name: 'v1.JSONSchemaPropsOrStringArray',
    decode: (value, at) => {
      if (Array.isArray(value)) return value as unknown[];
      return isJsonObject(value) ? schema.decode(value, ownDecoding(at)) : null;
    },
    ...union,
    inOrder: schema.inOrder,
  };
}
