import { createHash } from 'node:crypto';
import { readDataFile } from '../kinds/data-file.js';
import { rawDefinition } from '../kinds/definitions.js';
import type { RawSchema } from '../kinds/definitions.js';
import { discoveryData } from '../kinds/discovery-data.js';
import type { KindRegistry } from '../kinds/kind-registry.js';
import type { ServedKind } from '../kinds/served-kind.js';
import { customDefinitions, customPaths } from './custom-openapi.js';

type Paths = Readonly<Record<string, unknown>>;

/** `/openapi/v3`: where the documents are. */
export function openApiIndex(kinds: KindRegistry): object {
  const paths = Object.keys(builtinPaths()).map((name) => [name, entryOf(name, releaseHash())]);
  const custom = [...customVersions(kinds)].map(([name, served]) => [
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

function builtinPaths(): Readonly<Record<string, Paths>> {
  return readDataFile('paths') as Readonly<Record<string, Paths>>;
}

function customVersions(kinds: KindRegistry): ReadonlyMap<string, readonly ServedKind[]> {
  const versions = new Map<string, ServedKind[]>();
  for (const kind of kinds.all()) {
    if (kind.custom === undefined) continue;
    const name = `apis/${kind.type.group}/${kind.type.version}`;
    versions.set(name, [...(versions.get(name) ?? []), kind]);
  }
  return versions;
}

/**
 * `/openapi/v3/<name>`, for example `apis/apps/v1`: the paths of a version and every definition that
 * they lead to. @returns undefined: there is no such version.
 */
export function openApiDocument(kinds: KindRegistry, name: string): object | undefined {
  const builtin = builtinPaths()[name];
  if (builtin !== undefined) return document(builtin, {});
  const served = customVersions(kinds).get(name);
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

/** The definitions that `roots` refer to, and those that these refer to. */
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
