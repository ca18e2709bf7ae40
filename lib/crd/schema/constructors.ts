import type { IntOrString, JsonValue, ObjectMeta, Schema, SchemaRule } from '../../object/index.js';
import type {
  BuiltInTypeName,
  BuiltInTypes,
  InputOf,
  ObjectInput,
  ObjectValue,
  Presence,
  Properties,
  TypedSchema,
  ValueOf,
} from './typed-schema.js';
import type { StandardJSONSchemaV1, StandardTypedV1 } from '@standard-schema/spec';
import { structuralSchema } from './from-json-schema.js';
import { quantityPattern } from './embedded-schema.js';
import { differingType, withNull } from './union-schema.js';
import { builtInType, presence } from './typed-schema.js';
import {
  OperatorError,
  errorMessage,
  isOperatorError,
  refuseNonList,
  refuseUnknownOptions,
} from '../../system/index.js';
import type { OptionNames } from '../../system/index.js';

/**
 * The keywords allowed within `allOf`, `anyOf`, `oneOf` and `not`: restrictions on values. Types and rules
 * belong outside; the API server rejects them here.
 */
export interface ValueSchema extends Pick<
  Schema,
  | 'format'
  | 'required'
  | 'enum'
  | 'pattern'
  | 'minimum'
  | 'maximum'
  | 'exclusiveMinimum'
  | 'exclusiveMaximum'
  | 'multipleOf'
  | 'minLength'
  | 'maxLength'
  | 'minItems'
  | 'maxItems'
  | 'minProperties'
  | 'maxProperties'
> {
  readonly properties?: Record<string, ValueSchema>;
  readonly items?: ValueSchema;
  readonly allOf?: readonly ValueSchema[];
  readonly anyOf?: readonly ValueSchema[];
  readonly oneOf?: readonly ValueSchema[];
  readonly not?: ValueSchema;
  /** Rejected, like every keyword that defines a value's structure. */
  readonly type?: never;
  readonly description?: never;
  readonly default?: never;
  readonly nullable?: never;
  readonly additionalProperties?: never;
}

/** Options of every schema. */
export interface SchemaOptions {
  /** Text that `kubectl explain` shows. @defaultValue none */
  readonly description?: string | undefined;
  /** CEL rules on the value: expressions, or rules with a message. @defaultValue none */
  readonly rules?: readonly (string | SchemaRule)[] | undefined;
  /** Further schemas, all of which the value must match. @defaultValue none */
  readonly allOf?: readonly ValueSchema[] | undefined;
  /** Further schemas, at least one of which the value must match. @defaultValue none */
  readonly anyOf?: readonly ValueSchema[] | undefined;
  /** Further schemas, exactly one of which the value must match. @defaultValue none */
  readonly oneOf?: readonly ValueSchema[] | undefined;
  /** A schema that the value must not match. @defaultValue none */
  readonly not?: ValueSchema | undefined;
}

/** Options of a string schema. */
export interface StringOptions<E extends string = string> extends SchemaOptions {
  /** The allowed strings. @defaultValue any */
  readonly enum?: readonly E[] | undefined;
  /** The minimum length, in code points. @defaultValue 0 */
  readonly minLength?: number | undefined;
  /**
   * The maximum length, in code points. Set it if rules use the string: their estimated cost depends on it.
   * @defaultValue no limit
   */
  readonly maxLength?: number | undefined;
  /** A regular expression in Go's syntax that the string must match. @defaultValue any string */
  readonly pattern?: string | undefined;
  /** The format, such as `date-time`, `duration`, `byte`, `ipv4`, `uri` or `uuid`. @defaultValue any string */
  readonly format?: string | undefined;
}

/** Options of a number schema. */
export interface NumberOptions<E extends number = number> extends SchemaOptions {
  /** The allowed numbers. @defaultValue any */
  readonly enum?: readonly E[] | undefined;
  /** The lower limit, itself allowed unless `exclusiveMinimum` is set. @defaultValue no limit */
  readonly minimum?: number | undefined;
  /** The upper limit, itself allowed unless `exclusiveMaximum` is set. @defaultValue no limit */
  readonly maximum?: number | undefined;
  /** Excludes `minimum` itself. @defaultValue false */
  readonly exclusiveMinimum?: boolean | undefined;
  /** Excludes `maximum` itself. @defaultValue false */
  readonly exclusiveMaximum?: boolean | undefined;
  /** The number of which each value must be a multiple. @defaultValue any */
  readonly multipleOf?: number | undefined;
  /** The format: `int32`, `int64`, `float` or `double`. @defaultValue none */
  readonly format?: string | undefined;
}

/** Options of a list schema. */
export interface ArrayOptions extends SchemaOptions {
  /** The minimum number of items. @defaultValue 0 */
  readonly minItems?: number | undefined;
  /**
   * The maximum number of items. Set it if the list or its items have rules: their estimated cost depends on it.
   * @defaultValue no limit
   */
  readonly maxItems?: number | undefined;
  /**
   * Ownership of the list in server-side apply. An `atomic` list has one owner; each entry of a `set` or
   * `map` has its own. `listMapKeys` identify the entries of a `map`.
   * @defaultValue 'atomic'
   */
  readonly listType?: 'atomic' | 'set' | 'map' | undefined;
  /** The properties that identify an entry. Each must be required or have a default. */
  readonly listMapKeys?: readonly string[] | undefined;
}

/** Options of an object schema. */
export interface ObjectOptions extends SchemaOptions {
  /**
   * Ownership in server-side apply: per field (`granular`) or as a whole (`atomic`). @defaultValue 'granular'
   */
  readonly mapType?: 'atomic' | 'granular' | undefined;
  /** Keeps fields that the schema does not define. @defaultValue false: they are pruned */
  readonly preserveUnknownFields?: boolean | undefined;
  /** The minimum number of properties. @defaultValue 0 */
  readonly minProperties?: number | undefined;
  /** The maximum number of properties. @defaultValue no limit */
  readonly maxProperties?: number | undefined;
}

/** Options of a map schema. */
export type MapOptions = Omit<ObjectOptions, 'preserveUnknownFields'>;

/** Options of the schema of an embedded resource. */
export interface EmbeddedResourceOptions extends SchemaOptions {
  /** The fields of the resource other than apiVersion, kind and metadata. @defaultValue any */
  readonly properties?: Properties | undefined;
}

type Required<T, I = T> = TypedSchema<T, I, 'required'>;

/** Maps options to schema keywords. */
const keywords: Readonly<Partial<Record<string, keyof Schema>>> = {
  rules: 'x-kubernetes-validations',
  listType: 'x-kubernetes-list-type',
  listMapKeys: 'x-kubernetes-list-map-keys',
  mapType: 'x-kubernetes-map-type',
  preserveUnknownFields: 'x-kubernetes-preserve-unknown-fields',
};

const common: OptionNames<SchemaOptions> = {
  ...{ description: true, rules: true, allOf: true, anyOf: true, oneOf: true, not: true },
};
const ofText: OptionNames<StringOptions> = {
  ...{ ...common, enum: true, minLength: true, maxLength: true, pattern: true, format: true },
};
const ofNumber: OptionNames<NumberOptions> = {
  ...{ ...common, enum: true, minimum: true, maximum: true, exclusiveMinimum: true },
  ...{ exclusiveMaximum: true, multipleOf: true, format: true },
};
const ofEither: OptionNames<StringOptions & NumberOptions> = { ...ofText, ...ofNumber };
const ofEmbedded: OptionNames<EmbeddedResourceOptions> = { ...common, properties: true };
const ofList: OptionNames<ArrayOptions> = {
  ...{ ...common, minItems: true, maxItems: true, listType: true, listMapKeys: true },
};
const ofMap: OptionNames<MapOptions> = {
  ...{ ...common, mapType: true, minProperties: true, maxProperties: true },
};
const ofObject: OptionNames<ObjectOptions> = { ...ofMap, preserveUnknownFields: true };

/** Returns the options of a constructor; rejects options outside `names`. */
function checked<T extends object>(constructor: string, options: T, names: OptionNames<T>): T {
  refuseUnknownOptions(`s.${constructor}`, options, names);
  // A string has a length and can be iterated, so other code could treat it as a list.
  const lists = ['enum', 'listMapKeys', 'allOf', 'anyOf', 'oneOf'];
  for (const [name, value] of Object.entries(options)) {
    if (lists.includes(name)) refuseNonList(`s.${constructor}: ${name}`, value);
  }
  return options;
}

function schemaOf(type: Schema, options: object): Schema {
  const schema: Record<string, unknown> = { ...type };
  for (const [option, value] of Object.entries(options as Record<string, unknown>)) {
    // Omits `false`: absence means the same, and some keywords reject `false`.
    if (value === undefined || value === false) continue;
    schema[keywords[option] ?? option] = option === 'rules' ? rulesOf(value) : value;
  }
  return schema;
}

function rulesOf(rules: unknown): readonly SchemaRule[] {
  // The definition check rejects a value that is not a list.
  if (!Array.isArray(rules)) return rules as readonly SchemaRule[];
  return (rules as readonly (string | SchemaRule)[]).map((rule) =>
    typeof rule === 'string' ? { rule } : rule,
  );
}

function string<const E extends string = string>(options: StringOptions<E> = {}): Required<E> {
  return schemaOf({ type: 'string' }, checked('string', options, ofText));
}

function integer<const E extends number = number>(options: NumberOptions<E> = {}): Required<E> {
  return schemaOf({ type: 'integer' }, checked('integer', options, ofNumber));
}

function number<const E extends number = number>(options: NumberOptions<E> = {}): Required<E> {
  return schemaOf({ type: 'number' }, checked('number', options, ofNumber));
}

function boolean(options: SchemaOptions = {}): Required<boolean> {
  return schemaOf({ type: 'boolean' }, checked('boolean', options, common));
}

function array<S extends TypedSchema<unknown>>(
  items: S,
  options: ArrayOptions = {},
): Required<ValueOf<S>[], InputOf<S>[]> {
  return schemaOf({ type: 'array', items }, checked('array', options, ofList));
}

function map<S extends TypedSchema<unknown>>(
  values: S,
  options: MapOptions = {},
): Required<Record<string, ValueOf<S>>, Record<string, InputOf<S>>> {
  return schemaOf({ type: 'object', additionalProperties: values }, checked('map', options, ofMap));
}

function object<P extends Properties>(
  properties: P,
  options: ObjectOptions = {},
): Required<ObjectValue<P>, ObjectInput<P>> {
  const required = Object.keys(properties).filter((name) => {
    const { [presence]: given = 'required' } = properties[name] ?? {};
    return given === 'required';
  });
  const base: Schema = { type: 'object', ...(required.length > 0 && { required }) };
  return schemaOf({ ...base, properties }, checked('object', options, ofObject));
}

function optional<S extends TypedSchema<unknown>>(
  schema: S,
): TypedSchema<ValueOf<S>, InputOf<S>, 'optional'> {
  return { ...schema, [presence]: 'optional' } as TypedSchema<ValueOf<S>, InputOf<S>, 'optional'>;
}

function defaulted<S extends TypedSchema<unknown>>(
  schema: S,
  value: InputOf<S>,
): TypedSchema<ValueOf<S>, InputOf<S>, 'defaulted'> {
  if (value === null) {
    const why = 's.defaulted: the API server does not accept null as a default; use s.optional';
    throw new OperatorError('InvalidDefinition', why);
  }
  const marked = { ...schema, default: value, [presence]: 'defaulted' };
  return marked as TypedSchema<ValueOf<S>, InputOf<S>, 'defaulted'>;
}

function nullable<S extends TypedSchema<unknown>, P extends Presence = 'required'>(
  schema: S & TypedSchema<unknown, unknown, P>,
): TypedSchema<ValueOf<S> | null, InputOf<S> | null, P> {
  return withNull(schema) as TypedSchema<ValueOf<S> | null, InputOf<S> | null, P>;
}

function intOrString(options: StringOptions & NumberOptions = {}): Required<IntOrString> {
  const base: Schema = {
    anyOf: [{ type: 'integer' }, { type: 'string' }],
    'x-kubernetes-int-or-string': true,
  };
  return schemaOf(base, checked('intOrString', options, ofEither));
}

function quantity(options: SchemaOptions = {}): Required<IntOrString> {
  return intOrString({ pattern: quantityPattern, ...options });
}

function unknown(options: SchemaOptions = {}): Required<JsonValue> {
  return schemaOf(
    { 'x-kubernetes-preserve-unknown-fields': true },
    checked('unknown', options, common),
  );
}

function unknownObject(options: SchemaOptions = {}): Required<Record<string, unknown>> {
  const base: Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  return schemaOf(base, checked('unknownObject', options, common));
}

function embeddedResource(options: EmbeddedResourceOptions = {}): Required<{
  apiVersion: string;
  kind: string;
  metadata?: ObjectMeta;
  [field: string]: unknown;
}> {
  const { properties, ...rest } = checked('embeddedResource', options, ofEmbedded);
  const base: Schema = { type: 'object', 'x-kubernetes-embedded-resource': true };
  if (properties === undefined) {
    return schemaOf({ ...base, 'x-kubernetes-preserve-unknown-fields': true }, rest);
  }
  return schemaOf({ ...base, ...object(properties) }, rest);
}

function builtIn<N extends BuiltInTypeName>(
  name: N,
  options: SchemaOptions = {},
): Required<BuiltInTypes[N]> {
  return {
    ...schemaOf({ type: 'object' }, checked('builtIn', options, common)),
    [builtInType]: name,
  };
}

type Conditions = readonly BuiltInTypes['Condition'][];

function conditions(): TypedSchema<Conditions, Conditions, 'optional'> {
  const description = 'The current service state of the object.';
  return optional(
    array(builtIn('Condition'), { listType: 'map', listMapKeys: ['type'], description }),
  );
}

/** The properties of every `s.status`. */
export type StatusProperties = {
  readonly observedGeneration: TypedSchema<number, number, 'optional'>;
  readonly conditions: ReturnType<typeof conditions>;
};

function status(): Required<ObjectValue<StatusProperties>, ObjectInput<StatusProperties>>;
function status<P extends Properties>(
  properties: P,
): Required<ObjectValue<StatusProperties & P>, ObjectInput<StatusProperties & P>>;
function status(properties: Properties = {}): Required<unknown> {
  const usual: StatusProperties = {
    observedGeneration: optional(
      integer({
        format: 'int64',
        description: 'The generation of the spec that the status describes.',
      }),
    ),
    conditions: conditions(),
  };
  return object({ ...usual, ...properties });
}

function typed<T>(schema: Schema): Required<T> {
  return schema;
}

function fromJsonSchema<T = JsonValue, I = T>(schema: object | boolean): Required<T, I> {
  return structuralSchema(schema);
}

function fromStandard<S extends StandardJSONSchemaV1>(
  schema: S,
): Required<StandardTypedV1.InferOutput<S>, StandardTypedV1.InferInput<S>> {
  const { vendor, jsonSchema } = schema['~standard'];
  const target = { target: 'draft-2020-12' };
  try {
    // A custom resource never passes through the transformations of the schema: the API server stores the input.
    const output = structuralSchema(jsonSchema.output(target));
    const input = structuralSchema(jsonSchema.input(target), { isTyped: true });
    const changed = differingType(input, output);
    if (changed === undefined) return input;
    const what = changed === '' ? 'values' : changed;
    const why = `it changes the type of ${what}, but the API server stores what is written; remove the transformation`;
    throw new OperatorError('InvalidDefinition', `s.fromStandard: ${vendor}: ${why}`);
  } catch (error) {
    if (isOperatorError(error)) throw error;
    const why = `${vendor} has no JSON Schema for it: ${errorMessage(error)}`;
    throw new OperatorError('InvalidDefinition', `s.fromStandard: ${why}`, { cause: error });
  }
}

/**
 * Constructors of schemas. Each makes plain JSON, a structural schema of OpenAPI v3 with Kubernetes'
 * extensions, and gives it the TypeScript type of its values.
 *
 * @example
 * ```ts
 * const spec = s.object({
 *   replicas: s.defaulted(s.integer({ minimum: 0 }), 1),
 *   image: s.string(),
 *   env: s.optional(s.array(s.builtIn('EnvVar'), { listType: 'map', listMapKeys: ['name'] })),
 * });
 * ```
 */
export const s = {
  /** A string; with `enum`, one of the listed strings. */
  string,
  /** An integer. */
  integer,
  /** A number. */
  number,
  /** A boolean. */
  boolean,
  /** A list. */
  array,
  /** An object with arbitrary keys and values of one schema. */
  map,
  /** An object with named properties: required, unless they are `optional` or `defaulted`. */
  object,
  /** A property that may be omitted. */
  optional,
  /** A property with a default that the API server fills in. */
  defaulted,
  /** A value that may also be null. */
  nullable,
  /** An integer or a string, such as `25%`. */
  intOrString,
  /** A quantity, such as `500m` or `1Gi`. */
  quantity,
  /** Any JSON, neither validated nor pruned. */
  unknown,
  /** Any JSON object. */
  unknownObject,
  /** An API object whose apiVersion, kind and metadata are validated. */
  embeddedResource,
  /** A Kubernetes type such as `PodTemplateSpec`, by reference; resolved when the CRD is built. */
  builtIn,
  /** The usual `status.conditions`: a list map by `type`, optional. */
  conditions,
  /** The usual `status`: `observedGeneration`, `conditions`, and properties of your own. */
  status,
  /** A handwritten schema with an unchecked type assertion. */
  typed,
  /**
   * A JSON Schema (draft 7 to 2020-12) as a structural schema; `T` is not checked against it. References are
   * inlined, alternatives merged into one structure, and `x-kubernetes-…` keywords kept.
   * @throws OperatorError `InvalidDefinition`: no structural schema accepts the same values.
   */
  fromJsonSchema,
  /**
   * A schema of a library with Standard JSON Schema, such as zod from 4.2, with its types. Keywords of
   * Kubernetes are metadata: `z.array(item).meta({ 'x-kubernetes-list-type': 'map', … })`.
   * @throws OperatorError `InvalidDefinition`: it transforms values, or no structural schema accepts the same.
   */
  fromStandard,
} as const;
