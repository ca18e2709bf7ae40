import { isJsonObject, memberSchemaOf } from '../../object/index.js';
import type { Schema } from '../../object/index.js';
import { DecodeError, Decoding } from '../go-json/decoding.js';
import { goType } from '../go-json/go-types.js';
import { definition } from '../kinds/documents.js';

/*
 * Objects inside custom resources (`x-kubernetes-embedded-resource`): their `apiVersion`, `kind` and
 * `metadata` have the types that they have in every object, whatever the schema says.
 */

const objectMeta = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta';

/** A part of a custom resource. */
interface Part {
  readonly schema: Schema;
  /** JSON path; empty for the whole object. */
  readonly path: string;
  /** Receives the paths of unknown fields. */
  readonly unknownFields: string[];
}

const containing = new WeakMap<Schema, boolean>();

/** Returns whether values of a schema may contain embedded objects. */
function containsEmbedded(schema: Schema): boolean {
  const known = containing.get(schema);
  if (known !== undefined) return known;
  const { properties = {}, items, additionalProperties } = schema;
  const inner = [...Object.values(properties), ...(items === undefined ? [] : [items])];
  if (typeof additionalProperties === 'object') inner.push(additionalProperties);
  const found = schema['x-kubernetes-embedded-resource'] === true || inner.some(containsEmbedded);
  containing.set(schema, found);
  return found;
}

/**
 * Returns a custom resource with decoded metadata in its embedded objects.
 * @throws DecodeError: a member of an embedded object has a wrong type.
 */
export function decodeEmbedded(value: unknown, part: Part): unknown {
  const { schema, path, unknownFields } = part;
  if (!containsEmbedded(schema)) return value;
  if (Array.isArray(value)) {
    const { items = {} } = schema;
    return value.map((item: unknown, index) =>
      decodeEmbedded(item, { schema: items, path: `${path}[${index}]`, unknownFields }),
    );
  }
  if (!isJsonObject(value)) return value;
  const own =
    schema['x-kubernetes-embedded-resource'] === true ? decodeMembers(value, part) : value;
  const decoded = Object.entries(own).map(([name, member]) => {
    const inner = memberSchemaOf(schema, name);
    const at = path === '' ? name : `${path}.${name}`;
    const kept = inner === undefined;
    return [
      name,
      kept ? member : decodeEmbedded(member, { schema: inner, path: at, unknownFields }),
    ];
  });
  return Object.fromEntries(decoded);
}

function decodeMembers(
  value: Readonly<Record<string, unknown>>,
  { path, unknownFields }: Part,
): Readonly<Record<string, unknown>> {
  for (const name of ['apiVersion', 'kind']) {
    const given = value[name];
    if (given === undefined || typeof given === 'string') continue;
    throw new DecodeError(
      `${path}.${name}: Invalid value: ${JSON.stringify(given)}: must be a string`,
    );
  }
  const { metadata } = value;
  if (metadata === undefined) return value;
  const at = new Decoding();
  const decoded = decodeMetadata(metadata, `${path}.metadata`, at);
  unknownFields.push(...at.unknownFields.map((name) => `${path}.metadata.${name}`));
  return { ...value, metadata: decoded };
}

function decodeMetadata(metadata: unknown, path: string, at: Decoding): unknown {
  try {
    return goType('meta/v1.ObjectMeta').decode(metadata ?? {}, at);
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw new DecodeError(`${path}: Invalid value: ${JSON.stringify(metadata)}: ${error.message}`);
  }
}

/**
 * Returns the schema of `metadata`, a reference to ObjectMeta. A referenced type does not inherit
 * `x-kubernetes-preserve-unknown-fields` from the schema around it: `metadata` has only the fields of ObjectMeta.
 */
export function metadataSchema(): Schema {
  return { allOf: [definition(objectMeta)] };
}

/** Returns a schema whose embedded objects have typed `apiVersion`, `kind` and `metadata`. */
export function withEmbeddedTypes(schema: Schema): Schema {
  if (!containsEmbedded(schema)) return schema;
  const { properties = {}, items, additionalProperties } = schema;
  const typed = Object.fromEntries(
    Object.entries(properties).map(([name, inner]) => [name, withEmbeddedTypes(inner)]),
  );
  return {
    ...schema,
    properties:
      schema['x-kubernetes-embedded-resource'] === true
        ? {
            ...typed,
            ...{ apiVersion: { type: 'string' }, kind: { type: 'string' } },
            metadata: metadataSchema(),
          }
        : typed,
    ...(items !== undefined && { items: withEmbeddedTypes(items) }),
    ...(typeof additionalProperties === 'object' && {
      additionalProperties: withEmbeddedTypes(additionalProperties),
    }),
  };
}
