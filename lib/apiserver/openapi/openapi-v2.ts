import { rawDefinition, discoveryData } from '../kinds/documents.js';
import type { RawSchema } from '../kinds/documents.js';
import { customDefinitions } from './custom-openapi.js';
import { builtinPaths, customKinds } from './openapi-v3.js';
import type { OpenApiSource } from './openapi-v3.js';
import { withoutMembers } from '../../object/json.js';

/**
 * Returns `/openapi/v2` as JSON: every definition as Swagger 2.0, without paths. See
 * {@link emptySwaggerProto} for protobuf.
 */
export function swaggerDocument(source: OpenApiSource): object {
  const definitions: Record<string, unknown> = {};
  for (const [name, schema] of allDefinitions(source)) definitions[name] = swaggerSchema(schema);
  const { version } = discoveryData();
  return {
    swagger: '2.0',
    info: { title: 'Kubernetes', version: `${version['major'] ?? ''}.${version['minor'] ?? ''}` },
    paths: {},
    definitions,
    securityDefinitions: {
      BearerToken: {
        description: 'Bearer Token authentication',
        type: 'apiKey',
        name: 'authorization',
        in: 'header',
      },
    },
    security: [{ BearerToken: [] }],
  };
}

/** The media type of the document that {@link emptySwaggerProto} returns. */
export const swaggerProtoType = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';

/**
 * Returns the document in protobuf, without definitions. kubectl requests it if version 3 lacks a
 * kind, and skips validation for missing kinds. So it continues, and reports the missing kind.
 */
export function emptySwaggerProto(): string {
  const { version } = discoveryData();
  const info = textField(1, 'Kubernetes') + textField(2, `${version['major']}.${version['minor']}`);
  return textField(1, '2.0') + textField(2, info);
}

/**
 * Encodes a text field. The field number must be below 16, and the text must be ASCII and shorter
 * than 128 characters.
 */
function textField(field: number, text: string): string {
  return String.fromCharCode((field << 3) | 2, text.length) + text;
}

function* allDefinitions(source: OpenApiSource): Generator<[string, RawSchema]> {
  const custom = [...customKinds(source)].map((kind) => customDefinitions(kind));
  const seen = new Set<string>();
  // If no built-in kind is served, start from the definitions of custom kinds.
  const pending = [JSON.stringify(builtinPaths(source)), JSON.stringify(custom)];
  for (let text = pending.pop(); text !== undefined; text = pending.pop()) {
    for (const [, name = ''] of text.matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
      if (seen.has(name)) continue;
      seen.add(name);
      const schema = rawDefinition(name);
      if (schema === undefined) continue;
      pending.push(JSON.stringify(schema));
      yield [name, schema];
    }
  }
  for (const definitions of custom) yield* Object.entries(definitions);
}

const openApiPrefix = '#/components/schemas/';

/** Converts a schema to Swagger, which allows neither defaults beside a `$ref` nor alternatives. */
function swaggerSchema(schema: RawSchema): RawSchema {
  const { allOf, ...members } = schema;
  const rest: RawSchema = withoutMembers(members, 'oneOf', 'anyOf', 'not', 'nullable');
  const [only] = allOf ?? [];
  const reference = rest.$ref ?? (allOf?.length === 1 ? only?.$ref : undefined);
  if (reference !== undefined) {
    return {
      ...withoutMembers(rest, 'default'),
      $ref: reference.replace(openApiPrefix, '#/definitions/'),
    };
  }
  const intOrString = schema['oneOf'] !== undefined && schema.type === undefined;
  return {
    ...rest,
    ...(intOrString ? { type: 'string' } : {}),
    ...(rest.properties === undefined
      ? {}
      : {
          properties: Object.fromEntries(
            Object.entries(rest.properties).map(([name, one]) => [name, swaggerSchema(one)]),
          ),
        }),
    ...(rest.items === undefined ? {} : { items: swaggerSchema(rest.items) }),
    ...(typeof rest.additionalProperties === 'object'
      ? { additionalProperties: swaggerSchema(rest.additionalProperties) }
      : {}),
  };
}
