import { brotliDecompressSync } from 'node:zlib';
import { isJsonObject } from '../../object/index.js';
import type { Schema } from '../../object/index.js';
import { packedDefinitions } from '../data/definitions.js';
import { mappedParts } from '../definition/schema-parts.js';

/** A definition in the OpenAPI document, with `$ref`s. */
export interface RawSchema {
  readonly $ref?: string;
  readonly type?: string;
  readonly allOf?: readonly RawSchema[];
  readonly oneOf?: readonly RawSchema[];
  readonly properties?: Readonly<Record<string, RawSchema>>;
  readonly items?: RawSchema;
  readonly additionalProperties?: RawSchema | boolean;
  readonly [keyword: string]: unknown;
}

// Constants shared by the whole process; never modified.
const packages = new Map<string, Readonly<Partial<Record<string, RawSchema>>>>();
const resolved = new Map<string, Schema>();
/** Variants of the types for fields that are always present: with the default `{}`. */
const embedded = new Map<string, Schema>();
const prefix = '#/components/schemas/';

/** Returns the definition `name` from the document. @returns undefined if it does not exist */
export function rawDefinition(name: string): RawSchema | undefined {
  const pack = name.slice(0, name.lastIndexOf('.'));
  return definitionsOf(pack)[name];
}

/** Returns the definitions of all packages, unpacked on first use. */
export function builtInDefinitions(): readonly RawSchema[] {
  return Object.keys(packedDefinitions).flatMap((pack) =>
    Object.values(definitionsOf(pack)).filter((each) => each !== undefined),
  );
}

/** Returns the definitions of a package, unpacked on first use. */
function definitionsOf(pack: string): Readonly<Partial<Record<string, RawSchema>>> {
  let definitions = packages.get(pack);
  if (definitions === undefined) {
    const packed = packedDefinitions[pack];
    definitions = packed === undefined ? {} : (unpack(packed) as Record<string, RawSchema>);
    packages.set(pack, definitions);
  }
  return definitions;
}

/**
 * Returns the definition `name` with its `$ref`s resolved: one shared `Schema` object per type. Unpacks
 * packages on first reference.
 */
export function definition(name: string): Schema {
  const known = resolved.get(name);
  if (known !== undefined) return known;
  const schema: Schema = {};
  const always: Schema = {};
  // Register before filling: JSONSchemaProps refers to itself.
  resolved.set(name, schema);
  embedded.set(name, always);
  Object.assign(schema, special[name] ?? resolve(rawDefinition(name) ?? {}, false));
  Object.assign(always, schema, { default: {} });
  return schema;
}

/** Types whose JSON differs from their definition's keywords. */
const special: Readonly<Partial<Record<string, Schema>>> = {
  'io.k8s.apimachinery.pkg.api.resource.Quantity': {
    type: 'string',
    'x-kubernetes-int-or-string': true,
  },
  'io.k8s.apimachinery.pkg.util.intstr.IntOrString': {
    format: 'int-or-string',
    'x-kubernetes-int-or-string': true,
  },
  'io.k8s.apimachinery.pkg.runtime.RawExtension': {
    type: 'object',
    'x-kubernetes-map-type': 'atomic',
    'x-kubernetes-preserve-unknown-fields': true,
  },
};

function resolve(raw: RawSchema, shareable: boolean): Schema {
  const [inner] = raw.allOf ?? [];
  const reference = raw.$ref ?? (raw.allOf?.length === 1 ? inner?.$ref : undefined);
  if (reference !== undefined) return resolveReference(raw, reference, shareable);
  return { ...(raw as Schema), ...mappedParts(raw, (part) => resolve(part, true)) };
}

// Returns the shared schema of the type if the field has only a description beside its `$ref`. With other keywords,
// such as `x-kubernetes-patch-strategy` of a Deployment's strategy, the field needs a schema of its own.
function resolveReference(raw: RawSchema, reference: string, shareable: boolean): Schema {
  const name = reference.slice(prefix.length);
  const type = definition(name);
  const own = Object.entries(raw).filter(([keyword]) => !notOwn.includes(keyword));
  if (shareable && own.length === 0) return type;
  const [first] = own;
  const always = own.length === 1 && first?.[0] === 'default' && isJsonObject(first[1]);
  if (shareable && always) return embedded.get(name) ?? type;
  return { ...type, ...(Object.fromEntries(own) as Schema) };
}

const notOwn = ['$ref', 'allOf', 'description'];

/** Returns the JSON value in a string of a generated data module: Brotli as Base64. */
export function unpack(packed: string): unknown {
  return JSON.parse(brotliDecompressSync(Buffer.from(packed, 'base64')).toString('utf8'));
}
