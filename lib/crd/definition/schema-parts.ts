import mapValues from 'lodash/mapValues.js';
import { isJsonObject } from '../../object/index.js';
import type { Schema } from '../../object/index.js';

/** JSON Schema keywords that CRDs do not support. */
export const unsupported = [
  'additionalItems',
  'definitions',
  'dependencies',
  'id',
  'patternProperties',
  '$ref',
];

export const preserves = 'x-kubernetes-preserve-unknown-fields';

/** Returns whether a schema or a schema within it has the keyword `$schema`, which CRDs do not support. */
export function namesDialect(schema: Schema): boolean {
  const { $schema = '' } = schema as { readonly $schema?: unknown };
  return $schema !== '' || allParts(schema).some(([, part]) => namesDialect(part));
}

/**
 * Returns whether a schema can be read as a structural one. If not, the API server does not check the other rules of
 * structural schemas.
 */
export function isReadable(schema: Schema): boolean {
  const given = schema as Readonly<Record<string, unknown>>;
  if (unsupported.some((keyword) => given[keyword] !== undefined)) return false;
  if (Array.isArray(schema.items) || schema[preserves] === false) return false;
  const { $schema = '' } = schema as { readonly $schema?: unknown };
  return $schema === '' && allParts(schema).every(([, part]) => isReadable(part));
}

type Parts<T> = readonly (readonly [path: string, part: T])[];

/** A schema as a caller gives it, not checked yet. */
type Written = Readonly<Record<string, unknown>>;

/** Returns the values given as schemas of members, items and map values, each with its path. */
export function writtenParts(schema: Written): Parts<unknown> {
  const { properties, items, additionalProperties } = schema;
  const members = isJsonObject(properties) ? Object.entries(properties) : [];
  const isOpen = additionalProperties !== undefined && typeof additionalProperties !== 'boolean';
  return [
    ...members.map(([name, part]) => [`properties[${name}]`, part] as const),
    // Skip a list of schemas here: another check reports it, as on the API server.
    ...(items === undefined || Array.isArray(items) ? [] : [['items', items] as const]),
    ...(isOpen ? [['additionalProperties', additionalProperties] as const] : []),
  ];
}

/** Returns what is in `allOf`, `anyOf`, `oneOf` and `not`, each with its path. */
export function writtenJunctors(schema: Written): Parts<unknown> {
  const lists = (['allOf', 'anyOf', 'oneOf'] as const).flatMap((keyword): Parts<unknown> => {
    const { [keyword]: list = [] } = schema;
    if (!Array.isArray(list)) return [[keyword, list]];
    return list.map((part: unknown, index) => [`${keyword}[${index}]`, part] as const);
  });
  return schema['not'] === undefined ? lists : [...lists, ['not', schema['not']]];
}

/** Returns the schemas in `allOf`, `anyOf`, `oneOf` and `not`, each with its path. */
export function junctorParts(schema: Schema): Parts<Schema> {
  return writtenJunctors(schema as Written).filter(isSchema);
}

/** Returns all schemas directly within a schema, each with its path. */
export function allParts(schema: Schema): Parts<Schema> {
  return [...writtenParts(schema as Written).filter(isSchema), ...junctorParts(schema)];
}

function isSchema(entry: Parts<unknown>[0]): entry is Parts<Schema>[0] {
  return isJsonObject(entry[1]);
}

/** The parts of a schema, in any representation. */
interface SchemaParts<T> {
  readonly properties?: Readonly<Record<string, T>> | undefined;
  readonly items?: T | undefined;
  readonly additionalProperties?: T | boolean | undefined;
}

/** Returns the schemas of properties, items and map values within a schema, each replaced by the result of `map`. */
export function mappedParts<T extends object, R>(
  { properties, items, additionalProperties }: SchemaParts<T>,
  map: (part: T) => R,
): { properties?: Record<string, R>; items?: R; additionalProperties?: R | boolean } {
  return {
    ...(properties !== undefined && { properties: mapValues(properties, map) }),
    ...(items !== undefined && { items: map(items) }),
    ...(additionalProperties !== undefined && {
      additionalProperties:
        typeof additionalProperties === 'object' ? map(additionalProperties) : additionalProperties,
    }),
  };
}
