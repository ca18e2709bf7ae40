import omit from 'lodash/omit.js';
import { isJsonObject } from '../../object/index.js';
import type { Schema } from '../../object/index.js';
import { OperatorError } from '../../system/index.js';
import { GoPattern, goPattern } from '../cel/go.js';
import { mappedParts } from '../definition/schema-parts.js';
import { isKnownFormat } from '../validation/schema-formats.js';
import { isFreeObject, mergedStructure, structureOf, valuesOf, withNull } from './union-schema.js';

type Json = Readonly<Record<string, unknown>>;

/**
 * Converts a JSON Schema (draft 7 to 2020-12, or OpenAPI 3.0) to a structural schema.
 *
 * References are inlined. `null` among the types becomes `nullable`; `const` becomes `enum`; a schema that
 * allows anything keeps unknown fields; integer or string becomes `x-kubernetes-int-or-string`. Alternatives
 * (`anyOf`, `oneOf`) are merged into one structure. Each alternative then only restricts the values of that
 * structure. A value has any type if an alternative does not state its type. The same holds for a field that an
 * alternative does not name, if that alternative names no field or keeps unknown ones. Otherwise, the field has its
 * type in all alternatives.
 * @param options - `isTyped`: refuses the default null. The type of the values says that fields with a default are
 * always present, but the API server does not fill in null
 * @throws OperatorError `InvalidDefinition`: no structural schema accepts the same values; names the path.
 */
export function structuralSchema(json: unknown, options = { isTyped: false }): Schema {
  const { isTyped } = options;
  return completed(new Conversion(json, isTyped).convert(json, { path: '', references: [] }));
}

/** Lets objects keep all fields if no part of their schema names a field, and lets an enum accept null. */
function completed(schema: Schema): Schema {
  return {
    ...(schema.nullable === true ? withNull(schema) : schema),
    ...(isFreeObject(schema) && anything),
    ...mappedParts(schema, completed),
  };
}

interface Place {
  /** Path in the JSON Schema, such as `properties.spec.items`. */
  readonly path: string;
  /** The `$ref`s that lead to this place. */
  readonly references: readonly string[];
}

/** Keywords without a counterpart in structural schemas. */
const inexpressible = [
  ...['prefixItems', 'contains', 'minContains', 'maxContains', 'patternProperties'],
  ...['dependentSchemas', 'dependentRequired', 'dependencies', 'if', 'then', 'else'],
  ...['unevaluatedProperties', 'unevaluatedItems', '$dynamicRef', '$recursiveRef'],
];

/** Keywords that are copied as they are. */
const copied = [
  ...['format', 'description', 'default', 'multipleOf', 'nullable', 'minLength', 'maxLength'],
  ...['minItems', 'maxItems', 'minProperties', 'maxProperties', 'minimum', 'maximum', 'required'],
];

class Conversion {
  readonly #root: unknown;
  readonly #isTyped: boolean;

  constructor(root: unknown, isTyped: boolean) {
    this.#root = root;
    this.#isTyped = isTyped;
  }

  convert(given: unknown, place: Place): Schema {
    if (given === true) return anything;
    if (!isJsonObject(given)) {
      const why = given === false ? 'accepts no value: leave the field out' : 'is not a schema';
      throw problem(place, why);
    }
    const { $ref, ...rest } = given;
    if ($ref !== undefined) return this.#referred($ref, rest, place);
    for (const keyword of inexpressible) {
      if (isEmptyKeyword(given[keyword])) continue;
      throw problem(place, `${keyword} has no counterpart in structural schemas: use a CEL rule`);
    }
    const types = typesOf(given);
    if (types.includes('null')) return this.#nullable(given, types, place);
    const alternatives = this.#alternatives(given, types, place);
    if (alternatives !== undefined) return alternatives;
    const parts = partsOf(given, 'allOf', place);
    const own = this.#plain(given, types, place);
    if (parts.length === 0) return own;
    const beside = omit(given, ['allOf']);
    const all = this.#parts(parts, 'allOf', types, place);
    const isOnlyParts = Object.keys(beside).every((name) => isAnnotation(name));
    const schemas = isOnlyParts ? all : [own, ...all];
    return { ...this.#merged(schemas, place), ...allOfValues(schemas), ...described(own) };
  }

  #referred(reference: unknown, rest: Json, place: Place): Schema {
    if (typeof reference !== 'string') throw problem(place, '$ref is not a string');
    if (place.references.includes(reference)) {
      throw problem(place, `${reference} contains itself: recursive schemas have no CRD`);
    }
    const references = [...place.references, reference];
    const target = resolved(this.#root, reference);
    if (target === undefined) throw problem(place, `${reference} refers to nothing in this schema`);
    const isAnnotated = Object.keys(rest).every((name) => isAnnotation(name) || name === 'default');
    const whole = isJsonObject(target) && isAnnotated ? { ...target, ...rest } : undefined;
    if (whole !== undefined) return this.convert(whole, { ...place, references });
    return this.convert({ allOf: [target, rest] }, { ...place, references });
  }

  #nullable(given: Json, types: readonly string[], place: Place): Schema {
    const others = types.filter((type) => type !== 'null');
    if (others.length === 0) throw problem(place, 'accepts null only: leave the field out');
    const values = given['enum'];
    const some = Array.isArray(values) && { enum: values.filter((value) => value !== null) };
    const rest = { ...given, type: others, ...some };
    return { ...this.convert(rest, place), nullable: true };
  }

  /** Converts `anyOf` and `oneOf`; undefined without them. */
  #alternatives(given: Json, types: readonly string[], place: Place): Schema | undefined {
    const keyword = given['oneOf'] === undefined ? 'anyOf' : 'oneOf';
    const parts = partsOf(given, keyword, place);
    if (parts.length === 0) return undefined;
    const beside = omit(given, [keyword]);
    const some = parts.filter((part) => !isNull(part));
    const isNullable = some.length < parts.length;
    const schemas = this.#parts(some, keyword, types, place);
    const isOnlyParts = Object.keys(beside).every((name) => isAnnotation(name) || name === 'type');
    const union = this.#union(schemas, keyword, place);
    const own = isOnlyParts ? [] : [this.convert(beside, place)];
    const whole = own.length === 0 ? union : this.#merged([...own, union], place);
    const restrictions = own.length === 0 ? {} : allOfValues([...own, union]);
    const descriptions = described(this.#plain(annotationsOf(beside), [], place, true));
    const nullable = isNullable && { nullable: true };
    return { ...whole, ...restrictions, ...descriptions, ...nullable };
  }

  /** Converts the schemas of a keyword; those without a type have the types next to the keyword. */
  #parts(
    parts: readonly unknown[],
    keyword: string,
    types: readonly string[],
    place: Place,
  ): Schema[] {
    const type = types.length === 0 ? {} : { type: types };
    return parts.map((part, index) => {
      const path = join(place.path, `${keyword}[${index}]`);
      const own = part === true ? {} : part;
      return this.convert(isJsonObject(own) ? { ...type, ...own } : own, { ...place, path });
    });
  }

  #union(schemas: readonly Schema[], keyword: 'anyOf' | 'oneOf', place: Place): Schema {
    const [first, ...others] = schemas;
    if (first === undefined) throw problem(place, 'accepts null only: leave the field out');
    if (others.length === 0) return first;
    if (isIntOrString(schemas)) return intOrString(schemas);
    const values = schemas.map(valuesOf);
    const structure = this.#merged(schemas, place, true);
    if (values.every((value) => Object.keys(value).join() === 'enum')) {
      return { ...structure, enum: [...new Set(values.flatMap((value) => value.enum ?? []))] };
    }
    // The alternatives lose their types here. Those that differed only in type now overlap, which `oneOf` would refuse.
    const exclusive = keyword === 'oneOf' && areDiscriminated(schemas) ? 'oneOf' : 'anyOf';
    const isRestricted = values.every((value) => Object.keys(value).length > 0);
    return isRestricted ? { ...structure, [exclusive]: values } : structure;
  }

  #merged(schemas: readonly Schema[], place: Place, areAlternatives = false): Schema {
    const [first = {}, ...others] = schemas.map(structureOf);
    const merged = others.reduce<Schema | string>(
      (one, other) =>
        typeof one === 'string' ? one : mergedStructure(one, other, { path: '', areAlternatives }),
      first,
    );
    if (typeof merged === 'string') throw problem(place, merged);
    return merged;
  }

  /** Converts a schema without references, alternatives and null. */
  #plain(given: Json, types: readonly string[], place: Place, isPart = false): Schema {
    const schema: Record<string, unknown> = {};
    for (const keyword of copied)
      if (given[keyword] !== undefined) schema[keyword] = given[keyword];
    if (schema['default'] === null) {
      const why = 'the API server does not fill in the default null: make it optional';
      if (this.#isTyped) throw problem(place, why);
      delete schema['default'];
    }
    for (const [keyword, value] of Object.entries(given)) {
      if (keyword.startsWith('x-kubernetes-')) schema[keyword] = value;
    }
    if (given['description'] === undefined && typeof given['title'] === 'string') {
      schema['description'] = given['title'];
    }
    if (given['contentEncoding'] === 'base64') schema['format'] = 'byte';
    this.#addLimits(schema, given);
    this.#addEnum(schema, given, place);
    if (isPart) return schema;
    this.#addType(schema, types, place);
    addPattern(schema, given['pattern'], place);
    this.#addItems(schema, given, place);
    this.#addProperties(schema, given, place);
    this.#addNot(schema, given, place);
    return schema;
  }

  #addLimits(schema: Record<string, unknown>, given: Json): void {
    for (const [exclusive, limit] of [
      ['exclusiveMinimum', 'minimum'],
      ['exclusiveMaximum', 'maximum'],
    ] as const) {
      const value = given[exclusive];
      if (value === undefined || value === false) continue;
      const { [limit]: other } = given;
      const isLower = limit === 'minimum';
      if (typeof value === 'number') {
        // If `minimum` or `maximum` is stricter, the exclusive limit has no effect.
        const isUseless = typeof other === 'number' && (isLower ? other > value : other < value);
        if (isUseless) continue;
        schema[limit] = value;
      }
      schema[exclusive] = true;
    }
  }

  #addEnum(schema: Record<string, unknown>, given: Json, place: Place): void {
    const values: unknown = 'const' in given ? [given['const']] : given['enum'];
    if (values === undefined) return;
    if (!Array.isArray(values)) throw problem(place, 'enum is not a list');
    schema['enum'] = values;
  }

  #addType(schema: Record<string, unknown>, types: readonly string[], place: Place): void {
    const [type, ...others] = types;
    if (others.length > 0) {
      const isEither = [...types].toSorted().join() === 'integer,string';
      if (!isEither) throw problem(place, `a value has one type, got ${types.join(' and ')}`);
      Object.assign(schema, intOrString([]));
    } else if (type !== undefined) {
      schema['type'] = type;
    } else if (schema['x-kubernetes-int-or-string'] !== true) {
      schema['x-kubernetes-preserve-unknown-fields'] = true;
    }
  }

  #addItems(schema: Record<string, unknown>, given: Json, place: Place): void {
    if (schema['type'] !== 'array') return;
    const { items = true, uniqueItems } = given;
    const path = join(place.path, 'items');
    const converted = this.convert(items, { ...place, path });
    schema['items'] = converted;
    if (uniqueItems !== true || schema['x-kubernetes-list-type'] !== undefined) return;
    if (converted.type === 'object' || converted.type === 'array') {
      throw problem(place, 'uniqueItems needs plain values: use x-kubernetes-list-type');
    }
    schema['x-kubernetes-list-type'] = 'set';
  }

  #addProperties(schema: Record<string, unknown>, given: Json, place: Place): void {
    if (schema['type'] !== 'object') return;
    const { properties, additionalProperties, propertyNames } = given;
    if (isJsonObject(properties)) {
      const members = Object.entries(properties).map(([name, property]) => {
        const path = join(place.path, `properties.${name}`);
        return [name, this.convert(property, { ...place, path })] as const;
      });
      schema['properties'] = Object.fromEntries(members);
    }
    if (!isAnyString(propertyNames)) {
      throw problem(
        place,
        'propertyNames has no counterpart in structural schemas: use a CEL rule',
      );
    }
    if (isAnything(additionalProperties)) schema['x-kubernetes-preserve-unknown-fields'] = true;
    else if (additionalProperties === false) schema['properties'] ??= {};
    else if (isJsonObject(additionalProperties)) {
      if (isJsonObject(properties) && Object.keys(properties).length > 0) {
        throw problem(place, 'has properties and additionalProperties: keep one of them');
      }
      const path = join(place.path, 'additionalProperties');
      delete schema['properties'];
      schema['additionalProperties'] = this.convert(additionalProperties, { ...place, path });
    }
  }

  #addNot(schema: Record<string, unknown>, given: Json, place: Place): void {
    if (given['not'] === undefined) return;
    const path = join(place.path, 'not');
    const type = given['type'] === undefined ? {} : { type: given['type'] };
    const not = isJsonObject(given['not']) ? { ...type, ...given['not'] } : given['not'];
    const values = valuesOf(this.convert(not, { ...place, path }));
    if (Object.keys(values).length === 0) {
      throw problem({ ...place, path }, 'restricts no values: leave not out, or use another type');
    }
    schema['not'] = values;
  }
}

const anything: Schema = { 'x-kubernetes-preserve-unknown-fields': true };

function problem({ path }: Place, why: string): OperatorError {
  const where = path === '' ? 'JSON Schema' : `JSON Schema at ${path}`;
  return new OperatorError('InvalidDefinition', `${where}: ${why}`);
}

function join(path: string, next: string): string {
  return path === '' ? next : `${path}.${next}`;
}

function isAnnotation(keyword: string): boolean {
  return ['description', 'title', '$schema', '$id', '$defs', 'definitions', 'id'].includes(keyword);
}

function annotationsOf(given: Json): Json {
  return Object.fromEntries(
    Object.entries(given).filter(([name]) => isAnnotation(name) || name === 'default'),
  );
}

function described({ description, default: value }: Schema): Schema {
  return {
    ...(description !== undefined && { description }),
    ...(value !== undefined && { default: value }),
  };
}

function isEmptyKeyword(value: unknown): boolean {
  if (value === undefined || value === true) return true;
  return isJsonObject(value) && Object.keys(value).length === 0;
}

function isAnything(schema: unknown): boolean {
  return schema === true || (isJsonObject(schema) && Object.keys(schema).length === 0);
}

/** Whether every name of a property satisfies the schema. */
function isAnyString(schema: unknown): boolean {
  if (schema === undefined || isAnything(schema)) return true;
  return (
    isJsonObject(schema) && Object.keys(schema).join() === 'type' && schema['type'] === 'string'
  );
}

function isNull(schema: unknown): boolean {
  if (!isJsonObject(schema)) return false;
  return typesOf(schema).join() === 'null';
}

/** Keywords that imply the type of a schema without one. */
const ofObjects = ['properties', 'required', 'additionalProperties', 'propertyNames'];

/** Returns the types that a schema names, or else those of its constants or members. */
function typesOf({ type, ...given }: Json): readonly string[] {
  if (typeof type === 'string') return [type];
  if (Array.isArray(type)) return type.filter((one): one is string => typeof one === 'string');
  const values = 'const' in given ? [given['const']] : given['enum'];
  if (Array.isArray(values)) return [...new Set(values.map(typeOfValue))];
  if (ofObjects.some((keyword) => given[keyword] !== undefined)) return ['object'];
  return given['items'] === undefined ? [] : ['array'];
}

function typeOfValue(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}

function partsOf(given: Json, keyword: string, place: Place): readonly unknown[] {
  const { [keyword]: parts = [] } = given;
  if (!Array.isArray(parts)) throw problem(place, `${keyword} is not a list`);
  return parts;
}

function allOfValues(schemas: readonly Schema[]): Schema {
  const allOf = schemas.map(valuesOf).filter((values) => Object.keys(values).length > 0);
  return allOf.length === 0 ? {} : { allOf };
}

function isIntOrString(schemas: readonly Schema[]): boolean {
  const types = new Set(schemas.map(({ type }) => type));
  return types.size === 2 && types.has('integer') && types.has('string');
}

/**
 * Returns an int-or-string schema with the restrictions of both types: those of integers do not apply to strings, and
 * vice versa.
 */
function intOrString(schemas: readonly Schema[]): Schema {
  const values = Object.assign({}, ...schemas.map(valuesOf)) as Schema;
  const enums = schemas.map((schema) => schema.enum);
  // If only one of the types lists constants, an enum of these would exclude all values of the other type.
  const isListed = enums.length > 0 && !enums.includes(undefined);
  return {
    ...omit(values, 'enum'),
    ...(isListed && { enum: enums.flatMap((list) => list ?? []) }),
    'x-kubernetes-int-or-string': true,
    anyOf: [{ type: 'integer' }, { type: 'string' }],
  };
}

/** Whether a required property with constants distinguishes the alternatives. */
function areDiscriminated([first, ...others]: readonly Schema[]): boolean {
  return (first?.required ?? []).some((name) => {
    const enums = [first, ...others].map((schema) => {
      const isRequired = schema?.required?.includes(name) === true;
      return isRequired ? schema.properties?.[name]?.enum : undefined;
    });
    const values = enums.flatMap((list) => list ?? []);
    return !enums.includes(undefined) && new Set(values).size === values.length;
  });
}

function resolved(root: unknown, reference: string): unknown {
  if (reference === '#') return root;
  if (!reference.startsWith('#/')) return undefined;
  const names = reference
    .slice(2)
    .split('/')
    .map((name) => decodeURIComponent(name).replaceAll('~1', '/').replaceAll('~0', '~'));
  return names.reduce<unknown>(
    (value, name) => (isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined),
    root,
  );
}

/**
 * Adds a pattern. Omits a pattern that Go refuses if the schema has a format that the API server supports: libraries
 * write a format also as a pattern, in some cases with a look-ahead, which Go does not support.
 */
function addPattern(schema: Record<string, unknown>, pattern: unknown, place: Place): void {
  if (pattern === undefined) return;
  const compiled = typeof pattern === 'string' ? goPattern(pattern) : undefined;
  if (compiled instanceof GoPattern) schema['pattern'] = pattern;
  else if (schema['format'] === undefined || !isKnownFormat(schema)) {
    const why = compiled === undefined ? 'not a string' : compiled.message;
    throw problem(place, `pattern is not a regular expression of Go: ${why}`);
  }
}
