import { createHash } from 'node:crypto';
import { readDocument, rawDefinition, discoveryData } from '../kinds/documents.js';
import type { RawSchema } from '../kinds/documents.js';
import type { ServesGroup } from '../discovery/group-versions.js';
import type { KindRegistry, ServedKind } from '../kinds/served-kind.js';
import { customDefinitions, customPaths } from './custom-openapi.js';

type Paths = Readonly<Record<string, unknown>>;

/** The kinds in OpenAPI documents. */
export interface OpenApiSource {
  readonly kinds: KindRegistry;
  /**
   * Returns whether a group is included. If undefined, all groups and the paths without a group are
   * included.
   */
  readonly serves: ServesGroup | undefined;
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
  return { paths: Object.fromEntries([...paths, ...custom]) as Record<string, unknown> };
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
export function builtinPaths({ serves }: OpenApiSource): Readonly<Record<string, Paths>> {
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
 * @returns undefined: the document is not that of a version
 */
function groupOfDocument(name: string): string | undefined {
  const [root, ...rest] = name.split('/');
  if (root === 'api' && rest.length === 1) return '';
  return root === 'apis' && rest.length === 2 ? rest[0] : undefined;
}

/** Returns the custom kinds in the documents. */
export function* customKinds({ kinds, serves }: OpenApiSource): Generator<ServedKind> {
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
 * @returns undefined: the version does not exist
 */
export function openApiDocument(source: OpenApiSource, name: string): object | undefined {
  const builtin = builtinPaths(source)[name];
  if (builtin !== undefined) return document(builtin, {});
  const served = customVersions(source).get(name);
  if (served === undefined) return undefined;
  const paths = Object.assign({}, ...served.map(customPaths)) as Paths;
  const own = Object.assign({}, ...served.map(customDefinitions)) as Record<string, RawSchema>;
  return document(paths, own);
}

function document(paths: Paths, own: Readonly<Record<string, RawSchema>>): object {
  const version = discoveryData().version;
  return {
    openapi: '3.0.0',
    info: { title: 'Kubernetes', version: `${version['major'] ?? ''}.${version['minor'] ?? ''}` },
    paths,
    components: {
      schemas: reachable([paths, own], own),
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
