import { createHash } from 'node:crypto';
import { discoveryData, rawDefinition, readDocument } from '../kinds/documents.js';
import type { RawSchema } from '../kinds/documents.js';
import type { KindRegistry, ServedKind } from '../kinds/served-kind.js';
import { isJsonObject, withoutMembers } from '../../object/index.js';
import type { ServesGroup } from './discovery.js';

type Paths = Readonly<Record<string, unknown>>;

/** The kinds in OpenAPI documents. */
export interface OpenApiSource {
  readonly kinds: KindRegistry;
  /** Returns whether a group is included. If undefined, all groups and the paths without a group are included. */
  readonly serves: ServesGroup | undefined;
  /** The addresses of the documents of extension servers, by name. */
  readonly elsewhere: ReadonlyMap<string, string>;
}

/** Returns `/openapi/v3`: the index of the documents. */
export function openApiIndex(source: OpenApiSource): object {
  const paths = Object.keys(builtinPaths(source)).map((name) => [
    name,
    entryOf(name, releaseHash()),
  ]);
  const custom = [...customVersions(source)].map(([name, served]) => [
    name,
    entryOf(name, hashOf(served.map((kind) => kind.schema()))),
  ]);
  const elsewhere = [...source.elsewhere].map(([name, url]) => [name, { serverRelativeURL: url }]);
  const all = [...paths, ...custom, ...elsewhere];
  return { paths: Object.fromEntries(all) as Record<string, unknown> };
}

function entryOf(name: string, hash: string): object {
  return { serverRelativeURL: `/openapi/v3/${name}?hash=${hash}` };
}

function releaseHash(): string {
  return hashOf(discoveryData().version.gitVersion);
}

function hashOf(value: unknown): string {
  const text = JSON.stringify(value, (_name, one: unknown) => one ?? null);
  return createHash('sha512').update(text).digest('hex').toUpperCase();
}

/** Returns the paths of built-in kinds, by the name of their document. */
function builtinPaths({ serves }: OpenApiSource): Readonly<Record<string, Paths>> {
  const all = readDocument('paths') as Readonly<Record<string, Paths>>;
  if (serves === undefined) return all;
  const served = Object.entries(all).filter(([name]) => {
    const group = groupOfDocument(name);
    return group !== undefined && serves(group);
  });
  return Object.fromEntries(served);
}

/**
 * Returns the group of `apis/apps/v1` or `api/v1`.
 * @returns undefined if the document does not describe a version
 */
function groupOfDocument(name: string): string | undefined {
  const [root, ...rest] = name.split('/');
  if (root === 'api' && rest.length === 1) return '';
  return root === 'apis' && rest.length === 2 ? rest[0] : undefined;
}

function* customKinds({ kinds, serves }: OpenApiSource): Generator<ServedKind> {
  for (const kind of kinds.all()) {
    if (kind.custom !== undefined && serves?.(kind.type.group) !== false) yield kind;
  }
}

function customVersions(source: OpenApiSource): ReadonlyMap<string, readonly ServedKind[]> {
  const versions = new Map<string, ServedKind[]>();
  for (const kind of customKinds(source)) {
    const name = `apis/${kind.type.group}/${kind.type.version}`;
    versions.set(name, [...(versions.get(name) ?? []), kind]);
  }
  return versions;
}

/**
 * Returns `/openapi/v3/<name>`, for example `apis/apps/v1`: the paths of a version and every
 * definition that they refer to.
 * @returns undefined if the version does not exist
 */
export function openApiDocument(source: OpenApiSource, name: string): object | undefined {
  const builtin = builtinPaths(source)[name];
  if (builtin !== undefined) return document(builtin, {}, name);
  const served = customVersions(source).get(name);
  if (served === undefined) return undefined;
  const paths = Object.assign({}, ...served.map(customPaths)) as Paths;
  const own = Object.assign({}, ...served.map(customDefinitions)) as Record<string, RawSchema>;
  return document(paths, own, name);
}

function document(paths: Paths, own: Readonly<Record<string, RawSchema>>, name: string): object {
  return {
    openapi: '3.0.0',
    info: documentInfo(),
    paths,
    components: {
      schemas: withOwnOptions(reachable([paths, own], own), name),
      securitySchemes: {
        BearerToken: {
          type: 'apiKey',
          description: 'Bearer Token authentication',
          name: 'authorization',
          in: 'header',
        },
      },
    },
  };
}

const metaTypes = ['DeleteOptions', 'WatchEvent'] as const;

/** Names the group and version of a document in its schemas of DeleteOptions and WatchEvent. */
function withOwnOptions(
  schemas: Readonly<Record<string, RawSchema>>,
  name: string,
): Readonly<Record<string, RawSchema>> {
  const [root, group, version] = name.split('/');
  if (root !== 'apis' || version === undefined) return schemas;
  const registered = metaTypes.flatMap((kind): [string, RawSchema][] => {
    const type = `io.k8s.apimachinery.pkg.apis.meta.v1.${kind}`;
    const { [type]: schema } = schemas;
    if (schema === undefined) return [];
    const core = { group: '', kind, version: 'v1' };
    const identity = [core, { group, kind, version }];
    return [[type, { ...schema, 'x-kubernetes-group-version-kind': identity }]];
  });
  return { ...schemas, ...(Object.fromEntries(registered) as Record<string, RawSchema>) };
}

function documentInfo(): { readonly title: string; readonly version: string } {
  const { version } = discoveryData();
  return { title: 'Kubernetes', version: `${version['major'] ?? ''}.${version['minor'] ?? ''}` };
}

const reference = /"#\/components\/schemas\/([^"]+)"/g;

/** Returns the definitions that `roots` refer to, directly or through others. */
function reachable(
  roots: unknown,
  own: Readonly<Record<string, RawSchema>>,
): Record<string, RawSchema> {
  const found = new Map<string, RawSchema>(Object.entries(own));
  const pending = [JSON.stringify(roots)];
  for (let text = pending.pop(); text !== undefined; text = pending.pop()) {
    for (const [, name = ''] of text.matchAll(reference)) {
      if (found.has(name)) continue;
      const definition = rawDefinition(name);
      if (definition === undefined) continue;
      found.set(name, definition);
      pending.push(JSON.stringify(definition));
    }
  }
  const sorted = [...found].sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(sorted);
}

/**
 * Returns `/openapi/v2` as JSON: every definition as Swagger 2.0, without paths. See
 * {@link emptySwaggerProto} for protobuf.
 */
export function swaggerDocument(source: OpenApiSource): object {
  const custom = Object.assign({}, ...[...customKinds(source)].map(customDefinitions)) as Record<
    string,
    RawSchema
  >;
  const definitions = Object.entries(reachable([builtinPaths(source), custom], custom)).map(
    ([name, schema]) => [name, swaggerSchema(schema)],
  );
  return {
    swagger: '2.0',
    info: documentInfo(),
    paths: {},
    definitions: Object.fromEntries(definitions) as Record<string, unknown>,
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
 * Returns the OpenAPI v2 document in protobuf, without definitions. kubectl requests this document if OpenAPI v3 lacks
 * a kind, and skips the validation of kinds that the document lacks. kubectl then continues and reports that the server
 * does not serve the kind.
 */
export function emptySwaggerProto(): string {
  const { title, version } = documentInfo();
  const info = textField(1, title) + textField(2, version);
  return textField(1, '2.0') + textField(2, info);
}

/**
 * Encodes a string field. The field number must be below 16, and the text must be ASCII and shorter
 * than 128 characters.
 */
function textField(field: number, text: string): string {
  return String.fromCharCode((field << 3) | 2, text.length) + text;
}

const openApiPrefix = '#/components/schemas/';

/** Converts a schema to Swagger, which allows neither defaults next to a `$ref` nor `oneOf`, `anyOf` and `not`. */
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

/** Returns the name of a custom kind's definition: `com.example.stable.v1.CronTab`. */
function customDefinitionName({ type }: ServedKind): string {
  return [...type.group.split('.').reverse(), type.version, type.kind].join('.');
}

const metaPrefix = '#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1';
const conventions =
  'More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md';

function customDefinitions(kind: ServedKind): Record<string, RawSchema> {
  const name = customDefinitionName(kind);
  const { group, version, kind: own } = kind.type;
  const schema = (kind.schema() ?? { type: 'object' }) as RawSchema;
  // The descriptions of `apiVersion` and `kind` are the same for all kinds.
  const { apiVersion = {}, kind: typeName = {} } =
    rawDefinition('io.k8s.api.core.v1.ConfigMap')?.properties ?? {};
  const typeMeta = { apiVersion, kind: typeName };
  const metadata = (type: string, description: string): RawSchema => ({
    description: `Standard ${description}`,
    allOf: [{ $ref: `${metaPrefix}.${type}` }],
  });
  const ofObject = metadata('ObjectMeta', `object's metadata. ${conventions}#metadata`);
  const ofList = metadata('ListMeta', `list metadata. ${conventions}#types-kinds`);
  const identity = (kindName: string): RawSchema => ({
    'x-kubernetes-group-version-kind': [{ group, kind: kindName, version }],
  });
  const items = {
    description: `List of ${kind.type.plural}. ${conventions}`,
    type: 'array',
    items: { $ref: `#/components/schemas/${name}` },
  };
  return {
    [name]: {
      ...schema,
      properties: { ...schema.properties, ...typeMeta, metadata: ofObject },
      ...identity(own),
    },
    [`${name}List`]: {
      description: `${kind.listKind} is a list of ${own}`,
      type: 'object',
      required: ['items'],
      properties: { ...typeMeta, items, metadata: ofList },
      ...identity(kind.listKind),
    },
  };
}

interface Template {
  readonly document: string;
  readonly group: string;
  readonly kind: string;
  readonly plural: string;
  readonly definition: string;
}

// The paths of a custom kind are copies of the paths of one of these built-in kinds, with other names.
const namespaced: Template = {
  document: 'apis/apps/v1',
  group: 'apps',
  kind: 'Deployment',
  plural: 'deployments',
  definition: 'io.k8s.api.apps.v1.Deployment',
};
const clusterScoped: Template = {
  document: 'apis/apiregistration.k8s.io/v1',
  group: 'apiregistration.k8s.io',
  kind: 'APIService',
  plural: 'apiservices',
  definition: 'io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.APIService',
};

/**
 * Removes strategic merge patches: kubectl sends the types in the document, and custom resources do not
 * support strategic merge patches.
 */
function withoutStrategicPatch(key: string, value: unknown): unknown {
  return key === 'application/strategic-merge-patch+json' ? undefined : value;
}

function customPaths(kind: ServedKind): Paths {
  const template = kind.type.namespaced ? namespaced : clusterScoped;
  const own = copiedPaths(kind, template);
  // APIService, the template of cluster-scoped kinds, has no scale: adapt the scale of Deployment.
  return kind.type.namespaced ? own : { ...own, ...copiedPaths(kind, namespaced, clusterScale) };
}

/** Returns the scale paths of a namespaced kind in the form for cluster-scoped kinds. */
function clusterScale(paths: Paths): Paths {
  const scales = Object.entries(paths).filter(([path]) => path.endsWith('/{name}/scale'));
  const text = JSON.stringify(Object.fromEntries(scales))
    .replaceAll('/namespaces/{namespace}', '')
    .replaceAll('Namespaced', '');
  return JSON.parse(text, (_, value: unknown) =>
    Array.isArray(value) ? value.filter((one) => !isNamespaceParameter(one)) : value,
  ) as Paths;
}

/**
 * Returns the paths of a built-in kind with the names of a custom kind, and with the subresources that it serves.
 * @param selected - picks the paths of the built-in kind to copy, and may change them. @defaultValue all, unchanged
 */
function copiedPaths(
  kind: ServedKind,
  template: Template,
  selected = (paths: Paths): Paths => paths,
): Paths {
  const { group, version, plural, kind: name } = kind.type;
  const documents = readDocument('paths') as Readonly<Record<string, Paths>>;
  const own = Object.entries(documents[template.document] ?? {}).filter(([path]) => {
    const [, rest] = path.split(`/${template.plural}`);
    if (rest === undefined || path.includes('/watch/')) return false;
    const subresource = /\/\{name\}\/(\w+)$/.exec(rest)?.[1];
    return subresource === undefined || kind.subresources.has(subresource);
  });
  const renamed: Readonly<Record<string, string>> = {
    [template.definition]: customDefinitionName(kind),
    [`/${template.document}/`]: `/apis/${group}/${version}/`,
    [`"group":"${template.group}","version":"v1"`]: `"group":"${group}","version":"${version}"`,
    [template.kind]: name,
    [template.plural]: plural,
  };
  // Replace all names in one step: a new name may contain one of the old names.
  const text = JSON.stringify(selected(Object.fromEntries(own))).replace(
    anyOf(Object.keys(renamed)),
    (found) => renamed[found] ?? found,
  );
  return JSON.parse(text, withoutStrategicPatch) as Paths;
}

function isNamespaceParameter(value: unknown): boolean {
  return isJsonObject(value) && value['in'] === 'path' && value['name'] === 'namespace';
}

/** Returns an expression that matches any of `texts`; where two of them match, the first one counts. */
function anyOf(texts: readonly string[]): RegExp {
  return new RegExp(texts.map((text) => text.replace(/[.{}]/g, '\\$&')).join('|'), 'g');
}
