import type { IntOrString } from '../../object/int-or-string.js';
import type { JsonValue } from '../../object/json.js';
import type { Schema, SchemaRule } from '../../object/schema.js';
import type { BuiltInTypeName, BuiltInTypes } from './built-in-types.js';
import { quantityPattern } from './embedded-schema.js';
import { builtInType, presence } from './typed-schema.js';
import type {
  InputOf,
  ObjectInput,
  ObjectValue,
  Presence,
  Properties,
  TypedSchema,
  ValueOf,
} from './typed-schema.js';
import { refuseUnknownOptions } from '../../system/known-options.js';
import type { OptionNames } from '../../system/known-options.js';

/**
 * What may be said within `allOf`, `anyOf`, `oneOf` and `not`: which values are valid. What a value
 * is, and its rules, are said outside; the API server refuses them here.
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
  /** Refused, as all that says what a value is. */
  readonly type?: never;
  readonly description?: never;
  readonly default?: never;
  readonly nullable?: never;
  readonly additionalProperties?: never;
}

/** What every schema can say. */
export interface SchemaOptions {
  /** What `kubectl explain` says. @defaultValue nothing */
  readonly description?: string | undefined;
  /** CEL rules on the value: texts, or rules with a message. @defaultValue none */
  readonly rules?: readonly (string | SchemaRule)[] | undefined;
  /** @defaultValue none */
  readonly allOf?: readonly ValueSchema[] | undefined;
  /** @defaultValue none */
  readonly anyOf?: readonly ValueSchema[] | undefined;
  /** @defaultValue none */
  readonly oneOf?: readonly ValueSchema[] | undefined;
  /** @defaultValue none */
  readonly not?: ValueSchema | undefined;
}

/** What the schema of a text can say. */
export interface StringOptions<E extends string = string> extends SchemaOptions {
  /** The texts that are allowed. @defaultValue any */
  readonly enum?: readonly E[] | undefined;
  /** In code points. @defaultValue 0 */
  readonly minLength?: number | undefined;
  /** In code points. Rules need it: their cost is estimated from it. @defaultValue no limit */
  readonly maxLength?: number | undefined;
  /** A regular expression of Go's. @defaultValue any */
  readonly pattern?: string | undefined;
  /** For example `date-time`, `duration`, `byte`, `ipv4`, `uri`, `uuid`. @defaultValue any */
  readonly format?: string | undefined;
}

/** What the schema of a number can say. */
export interface NumberOptions<E extends number = number> extends SchemaOptions {
  /** The numbers that are allowed. @defaultValue any */
  readonly enum?: readonly E[] | undefined;
  /** @defaultValue no limit */
  readonly minimum?: number | undefined;
  /** @defaultValue no limit */
  readonly maximum?: number | undefined;
  /** Whether `minimum` itself is refused. @defaultValue false */
  readonly exclusiveMinimum?: boolean | undefined;
  /** Whether `maximum` itself is refused. @defaultValue false */
  readonly exclusiveMaximum?: boolean | undefined;
  /** @defaultValue any */
  readonly multipleOf?: number | undefined;
  /** `int32`, `int64`, `float` or `double`. @defaultValue none */
  readonly format?: string | undefined;
}

/** What the schema of a list can say. */
export interface ArrayOptions extends SchemaOptions {
  /** @defaultValue 0 */
  readonly minItems?: number | undefined;
  /** Rules on or within the list need it: their cost is estimated from it. @defaultValue no limit */
  readonly maxItems?: number | undefined;
  /**
   * How appliers share the list: `atomic` has one owner, each entry of a `set` or a `map` its own;
   * entries of a `map` are told apart by `listMapKeys`. @defaultValue 'atomic'
   */
  readonly listType?: 'atomic' | 'set' | 'map' | undefined;
  /** The properties that name an entry: required ones, or with a default. */
  readonly listMapKeys?: readonly string[] | undefined;
}

/** What the schema of an object can say. */
export interface ObjectOptions extends SchemaOptions {
  /** Whether appliers share the object (`granular`) or own all of it. @defaultValue 'granular' */
  readonly mapType?: 'atomic' | 'granular' | undefined;
  /** Whether fields that the schema does not know are kept. @defaultValue false: they are pruned */
  readonly preserveUnknownFields?: boolean | undefined;
  /** @defaultValue 0 */
  readonly minProperties?: number | undefined;
  /** @defaultValue no limit */
  readonly maxProperties?: number | undefined;
}

/** What the schema of a map can say. */
export type MapOptions = Omit<ObjectOptions, 'preserveUnknownFields'>;

/** What the schema of an embedded resource can say. */
export interface EmbeddedResourceOptions extends SchemaOptions {
  /** Its fields beside apiVersion, kind and metadata. @defaultValue any */
  readonly properties?: Properties | undefined;
}

type Required<T, I = T> = TypedSchema<T, I, 'required'>;

/** Options by the keywords that a schema has for them. */
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

/** Options of a constructor: no others than those in `names`. */
function checked<T extends object>(constructor: string, options: T, names: OptionNames<T>): T {
  refuseUnknownOptions(`s.${constructor}`, options, names);
  return options;
}

function schemaOf(type: Schema, options: object): Schema {
  const schema: Record<string, unknown> = { ...type };
  for (const [option, value] of Object.entries(options as Record<string, unknown>)) {
    // `false` is what the keyword's absence says, and some keywords may not be there with it.
    if (value === undefined || value === false) continue;
    schema[keywords[option] ?? option] = option === 'rules' ? rulesOf(value) : value;
  }
  return schema;
}

function rulesOf(rules: unknown): readonly SchemaRule[] {
  // What is no list is refused with the definition.
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
  const marked = { ...schema, default: value, [presence]: 'defaulted' };
  return marked as TypedSchema<ValueOf<S>, InputOf<S>, 'defaulted'>;
}

function nullable<S extends TypedSchema<unknown>, P extends Presence = 'required'>(
  schema: S & TypedSchema<unknown, unknown, P>,
): TypedSchema<ValueOf<S> | null, InputOf<S> | null, P> {
  return { ...schema, nullable: true } as TypedSchema<ValueOf<S> | null, InputOf<S> | null, P>;
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

/** An object of the API within another one. */
interface Embedded {
  apiVersion: string;
  kind: string;
  metadata?: {
    name?: string;
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
  };
  [field: string]: unknown;
}

function embeddedResource(options: EmbeddedResourceOptions = {}): Required<Embedded> {
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
  return optional(array(builtIn('Condition'), { listType: 'map', listMapKeys: ['type'] }));
}

/** The properties that every `s.status` has. */
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
    observedGeneration: optional(integer({ format: 'int64' })),
    conditions: conditions(),
  };
  return object({ ...usual, ...properties });
}

function typed<T>(schema: Schema): Required<T> {
  return schema;
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
  /** A text; with `enum`, one of some texts. */
  string,
  /** A whole number. */
  integer,
  /** A number. */
  number,
  /** true or false. */
  boolean,
  /** A list. */
  array,
  /** An object with any names, and values of one schema. */
  map,
  /** An object with named properties: required, unless they are `optional` or `defaulted`. */
  object,
  /** A property that may be left out. */
  optional,
  /** A property that the API server fills in. */
  defaulted,
  /** null is a value too. */
  nullable,
  /** A whole number or a text, as `25%`. */
  intOrString,
  /** An amount, as `500m` or `1Gi`. */
  quantity,
  /** Any JSON: nothing is checked, nothing pruned. */
  unknown,
  /** Any JSON object. */
  unknownObject,
  /** An object of the API: apiVersion, kind and metadata are checked. */
  embeddedResource,
  /** A type of Kubernetes, as `PodTemplateSpec`: by reference, put in when the CRD is made. */
  builtIn,
  /** The usual `status.conditions`: a list map by `type`, optional. */
  conditions,
  /** The usual `status`: `observedGeneration`, `conditions`, and properties of your own. */
  status,
  /** A schema that is written out, with a type that is vouched for. */
  typed,
} as const;
