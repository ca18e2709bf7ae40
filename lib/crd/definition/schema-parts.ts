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
 * Returns whether a schema can be read as a structural one. The API server does not check further whether
 * others are structural.
 */
export function isReadable(schema: Schema): boolean {
  const given = schema as Readonly<Record<string, unknown>>;
  if (unsupported.some((keyword) => given[keyword] !== undefined)) return false;
  if (Array.isArray(schema.items) || schema[preserves] === false) return false;
  const { $schema = '' } = schema as { readonly $schema?: unknown };
  return $schema === '' && allParts(schema).every(([, part]) => isReadable(part));
}

type Parts = readonly (readonly [path: string, part: Schema])[];

/** Returns the schemas in `allOf`, `anyOf`, `oneOf` and `not`. */
export function junctorParts(schema: Schema): Parts {
  const { not } = schema;
  const lists = (['allOf', 'anyOf', 'oneOf'] as const).flatMap((keyword) =>
    (schema[keyword] ?? []).map((part, index) => [`${keyword}[${index}]`, part] as const),
  );
  return not === undefined ? lists : [...lists, ['not', not] as const];
}

/** Returns all schemas directly within a schema, each with its path. */
export function allParts(schema: Schema): Parts {
  const { properties = {}, items, additionalProperties } = schema;
  const others = Object.entries({ items, additionalProperties } as Record<string, unknown>);
  return [
    ...Object.entries(properties).map(([name, part]) => [`properties[${name}]`, part] as const),
    ...others.flatMap(([path, part]) =>
      isJsonObject(part) ? [[path, part as Schema] as const] : [],
    ),
    ...junctorParts(schema),
  ];
}
