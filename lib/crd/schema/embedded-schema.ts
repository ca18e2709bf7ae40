import type { Schema } from '../../object/index.js';
import { mappedParts } from '../definition/schema-parts.js';
import { rawDefinition } from '../openapi/definitions.js';
import type { RawSchema } from '../openapi/definitions.js';
import { builtInType, definitionOf } from './typed-schema.js';
import type { TypedSchema } from './typed-schema.js';

const referencePrefix = '#/components/schemas/';

/** Keywords of built-in types to copy; schemas nested in other keywords are copied one by one. */
const kept = [
  ...['type', 'format', 'enum', 'required'],
  ...['x-kubernetes-list-type', 'x-kubernetes-list-map-keys', 'x-kubernetes-map-type'],
] as const;

const text: Schema = { type: 'string' };
const textMap: Schema = { type: 'object', additionalProperties: text };

const intOrString: Schema = {
  anyOf: [{ type: 'integer' }, { type: 'string' }],
  'x-kubernetes-int-or-string': true,
};

/** The API server's pattern for a quantity. */
export const quantityPattern =
  '^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$';

/** metav1.Condition with its validation markers as controller-gen generates it; OpenAPI omits them. */
const condition: Schema = {
  type: 'object',
  required: ['type', 'status', 'lastTransitionTime', 'reason', 'message'],
  properties: {
    lastTransitionTime: { type: 'string', format: 'date-time' },
    message: { type: 'string', maxLength: 32_768 },
    observedGeneration: { type: 'integer', format: 'int64', minimum: 0 },
    reason: {
      type: 'string',
      minLength: 1,
      maxLength: 1_024,
      pattern: '^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$',
    },
    status: { type: 'string', enum: ['True', 'False', 'Unknown'] },
    type: {
      type: 'string',
      maxLength: 316,
      pattern:
        '^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$',
    },
  },
};

/** Types whose JSON differs from their definition's keywords. */
const special: Readonly<Partial<Record<string, Schema>>> = {
  'io.k8s.apimachinery.pkg.api.resource.Quantity': { ...intOrString, pattern: quantityPattern },
  'io.k8s.apimachinery.pkg.util.intstr.IntOrString': intOrString,
  'io.k8s.apimachinery.pkg.runtime.RawExtension': {
    type: 'object',
    'x-kubernetes-preserve-unknown-fields': true,
  },
  'io.k8s.apimachinery.pkg.apis.meta.v1.Condition': condition,
  // Declared so that the API server does not prune the metadata of pod templates.
  'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta': {
    type: 'object',
    properties: {
      annotations: textMap,
      finalizers: { type: 'array', items: text },
      labels: textMap,
      name: text,
      namespace: text,
    },
  },
};

/**
 * Returns the structural schema of a built-in type for use in a CRD, with references resolved and
 * descriptions removed. Keeps only the defaults that Kubernetes intends: the defaults of list map keys (a
 * port's `protocol`), which the API server requires. Drops Go's zero values.
 */
function embeddedSchema(definition: string): Schema {
  const known = special[definition];
  if (known !== undefined) return structuredClone(known);
  const raw = rawDefinition(definition);
  return raw === undefined ? {} : embed(raw);
}

function embed(raw: RawSchema): Schema {
  const [inner] = raw.allOf ?? [];
  const reference = raw.$ref ?? (raw.allOf?.length === 1 ? inner?.$ref : undefined);
  if (reference !== undefined) {
    const type = embeddedSchema(reference.slice(referencePrefix.length));
    return { ...type, ...ownKeywords(raw) };
  }
  const schema: Schema = { ...ownKeywords(raw), ...mappedParts(raw, embed) };
  const { items } = schema;
  return items && raw.items ? { ...schema, items: withKeyDefaults(items, raw.items, raw) } : schema;
}

function ownKeywords(raw: RawSchema): Schema {
  const entries = kept.filter((keyword) => raw[keyword] !== undefined);
  const schema = Object.fromEntries(entries.map((keyword) => [keyword, raw[keyword]])) as Schema;
  const { default: value } = raw;
  const isMeant = typeof value === 'string' ? value !== '' : typeof value === 'number' && value > 0;
  return isMeant ? { ...schema, default: value } : schema;
}

/** Keys of a list map must be required or have a default. */
function withKeyDefaults(item: Schema, rawItem: RawSchema, list: RawSchema): Schema {
  const keys = list['x-kubernetes-list-map-keys'] as readonly string[] | undefined;
  if (keys === undefined || item.properties === undefined) return item;
  const raw = definitionBehind(rawItem);
  const properties = { ...item.properties };
  for (const key of keys) {
    const property = properties[key];
    const value = raw.properties?.[key]?.['default'];
    if (property === undefined || item.required?.includes(key) === true) continue;
    if (property.default === undefined) properties[key] = { ...property, default: value ?? '' };
  }
  return { ...item, properties };
}

function definitionBehind(raw: RawSchema): RawSchema {
  const [inner] = raw.allOf ?? [];
  const reference = raw.$ref ?? inner?.$ref;
  if (reference === undefined) return raw;
  return rawDefinition(reference.slice(referencePrefix.length)) ?? raw;
}

/** Returns a copy of a schema as plain JSON, with references to built-in types resolved. */
export function materialize(schema: TypedSchema<unknown>): Schema {
  const { [builtInType]: name, properties, items, additionalProperties, ...rest } = schema;
  // Symbol keys are internal marks that JSON cannot hold.
  const own = Object.fromEntries(Object.entries(rest)) as Schema;
  const builtIn = name === undefined ? {} : embeddedSchema(definitionOf(name));
  return {
    ...builtIn,
    ...own,
    ...mappedParts({ properties, items, additionalProperties }, materialize),
  };
}
