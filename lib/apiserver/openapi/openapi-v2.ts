import { rawDefinition } from '../kinds/definitions.js';
import type { RawSchema } from '../kinds/definitions.js';
import { discoveryData } from '../kinds/discovery-data.js';
import { customDefinitions } from './custom-openapi.js';
import { builtinPaths, customKinds } from './openapi-v3.js';
import type { OpenApiSource } from './openapi-v3.js';
import { withoutMembers } from '../without-members.js';

/**
 * `/openapi/v2`: every definition in the form of Swagger 2.0, without paths. This is the JSON; see
 * {@link emptySwaggerProto} for the protobuf form.
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

/** What a client of {@link emptySwaggerProto} asks for. */
export const swaggerProtoType = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';

/**
 * The same in protobuf, without any definition. Kubectl asks for it where version 3 does not know a
 * kind, and checks nothing of what is not in it, so that it comes to say which kind is missing.
 */
export function emptySwaggerProto(): string {
  const { version } = discoveryData();
  const info = textField(1, 'Kubernetes') + textField(2, `${version['major']}.${version['minor']}`);
  return textField(1, '2.0') + textField(2, info);
}

/** Of fewer than 16 fields, and texts of fewer than 128 characters of ASCII. */
function textField(field: number, text: string): string {
  return String.fromCharCode((field << 3) | 2, text.length) + text;
}

function* allDefinitions(source: OpenApiSource): Generator<[string, RawSchema]> {
  const custom = [...customKinds(source)].map((kind) => customDefinitions(kind));
  const seen = new Set<string>();
  // Where no built-in kind is served, those of custom ones lead to what they need.
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

/** Swagger knows neither defaults beside a `$ref` nor alternatives. */
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
