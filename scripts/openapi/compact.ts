// Compacts a dump of a real server's discovery and OpenAPI documents into the modules
// lib/apiserver/data/documents.ts and lib/crd/data/definitions.ts:
//   tsx scripts/openapi/compact.ts <dump-dir>
// Facts that OpenAPI lacks (pointers, omitempty, names of Go types) come from the Go modules of the same
// release, which must be in the module cache.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';
import { readGoTypes } from './go-types.js';
import type { FieldNumbers, GoPackage, GoTypes } from './go-types.js';

interface Document {
  paths?: Record<string, unknown>;
  components?: { schemas?: Record<string, unknown> };
}

const lib = join(import.meta.dirname, '../../lib');

function main(dump: string): void {
  const read = (file: string): unknown => JSON.parse(readFileSync(join(dump, file), 'utf8'));
  const documents = new Map<string, Document>();
  for (const file of readdirSync(join(dump, 'v3')).sort()) {
    if (/^(api|apis_.*)_v\d.*\.json$/.test(file)) {
      const path = file.slice(0, -'.json'.length).replaceAll('_', '/');
      documents.set(path, read(`v3/${file}`) as Document);
    }
  }
  const version = read('version.json') as { gitVersion: string };
  const core = read('discovery-api.json') as { items: unknown[] };
  const groups = read('discovery-apis.json') as { items: unknown[] };
  const paths = [...documents].map(([path, document]) => [path, document.paths]);
  const names = ['bootstrap-roles', 'discovery', 'field-numbers', 'go-types', 'paths'];
  const go = goTypes(version.gitVersion, definitionNames(documents));
  writeModule('apiserver/data/documents.ts', {
    name: 'packedDocuments',
    doc: 'Documents of a real API server by name',
    type: `Record<${names.map((name) => `'${name}'`).join(' | ')}, string>`,
    entries: {
      'bootstrap-roles': bootstrapRoles(read),
      discovery: { version, core: core.items, groups: groups.items },
      'field-numbers': go.numbers,
      'go-types': go.types,
      paths: Object.fromEntries(paths) as unknown,
    },
  });
  // These types can also be part of custom resources.
  writeModule('crd/data/definitions.ts', {
    name: 'packedDefinitions',
    doc: 'OpenAPI definitions of Kubernetes by package',
    type: 'Partial<Record<string, string>>',
    entries: definitionsByPackage(documents),
  });
}

interface Role {
  readonly metadata: {
    readonly name: string;
    readonly labels?: object;
    readonly annotations?: object;
  };
}

/** Returns the default roles for users and operators, without those of the cluster's own programs. */
function bootstrapRoles(read: (file: string) => unknown): unknown {
  const items = ['clusterroles', 'clusterrolebindings'].map((plural) =>
    (read(`${plural}.json`) as { items: readonly Role[] }).items
      .filter(
        ({ metadata: { name } }) => !/^system:(controller:|kube-|node|certificates)/.test(name),
      )
      .map(({ metadata: { name, labels, annotations }, ...rest }) => ({
        metadata: { name, labels, annotations },
        ...rest,
      })),
  );
  return { roles: items[0], bindings: items[1] };
}

function definitionsByPackage(documents: ReadonlyMap<string, Document>): Record<string, unknown> {
  const packages = new Map<string, Record<string, unknown>>();
  for (const document of documents.values()) {
    for (const [name, schema] of Object.entries(document.components?.schemas ?? {})) {
      const pack = name.slice(0, name.lastIndexOf('.'));
      const definitions = packages.get(pack) ?? {};
      packages.set(pack, definitions);
      // The first document is the core group's: it lists every kind that uses a shared definition.
      definitions[name] ??= schema;
    }
  }
  return Object.fromEntries(packages);
}

function definitionNames(documents: ReadonlyMap<string, Document>): string[] {
  const all = [...documents.values()].flatMap((one) => Object.keys(one.components?.schemas ?? {}));
  return [...new Set(all)];
}

/** Go's import path for the package part of an OpenAPI definition's name. */
const importPaths: readonly (readonly [RegExp, string])[] = [
  [/^io\.k8s\.apimachinery\.pkg\.apis\.meta\.v1$/, 'k8s.io/apimachinery/pkg/apis/meta/v1'],
  [
    /^io\.k8s\.apiextensions-apiserver\.pkg\.apis\.(.*)$/,
    'k8s.io/apiextensions-apiserver/pkg/apis/',
  ],
  [/^io\.k8s\.kube-aggregator\.pkg\.apis\.(.*)$/, 'k8s.io/kube-aggregator/pkg/apis/'],
  [/^io\.k8s\.api\.(.*)$/, 'k8s.io/api/'],
];

function goTypes(
  release: string,
  definitions: readonly string[],
): { readonly types: GoTypes; readonly numbers: FieldNumbers } {
  const moduleVersion = release.replace(/^v1\./, 'v0.');
  const cache = execFileSync('go', ['env', 'GOMODCACHE'], { encoding: 'utf8' }).trim();
  const packages = new Map<string, GoPackage>();
  const add = (importPath: string, name: string): void => {
    const [host, module, ...rest] = importPath.split('/');
    const directory = join(cache, `${host}/${module}@${moduleVersion}`, ...rest);
    if (!existsSync(directory)) throw new Error(`${directory} is missing: fetch that module first`);
    packages.set(importPath, { directory, name, importPath });
  };
  add('k8s.io/apimachinery/pkg/types', 'types');
  for (const name of definitions) {
    const pack = name.slice(0, name.lastIndexOf('.'));
    for (const [pattern, path] of importPaths) {
      const match = pattern.exec(pack);
      if (match === null) continue;
      const rest = match[1]?.replaceAll('.', '/') ?? '';
      add(path + rest, rest === '' ? 'meta/v1' : rest);
      break;
    }
  }
  const all = readGoTypes([...packages.values()]);
  const types = withoutUnreachable(all.types, definitions);
  const kept = Object.entries(all.numbers).filter(([name]) => name in types);
  return { types, numbers: Object.fromEntries(kept) };
}

/** Drops types that no served definition refers to, such as internal lists and options of other packages. */
function withoutUnreachable(all: GoTypes, definitions: readonly string[]): GoTypes {
  const kept: GoTypes = {};
  const visit = (name: string): void => {
    const type = all[name];
    if (type === undefined || name in kept) return;
    kept[name] = type;
    const expressions = typeof type === 'string' ? [type] : Object.values(type);
    for (const expression of expressions) {
      for (const [used] of expression.matchAll(/[\w./-]+\.\w+/g)) visit(used);
    }
  };
  for (const name of definitions) visit(goTypeName(name));
  return kept;
}

function goTypeName(definition: string): string {
  const parts = definition.split('.');
  const [type = '', version = '', group = ''] = parts.reverse();
  return `${group}/${version}.${type}`;
}

/** A module of the package that holds JSON documents. */
interface PackedModule {
  readonly name: string;
  readonly doc: string;
  readonly type: string;
  readonly entries: Readonly<Record<string, unknown>>;
}

function writeModule(path: string, { name, doc, type, entries }: PackedModule): void {
  const lines = Object.keys(entries)
    .sort()
    .map((key) => `  '${key}':\n    '${packed(entries[key])}',`);
  const text = [
    '// Generated by scripts/openapi/compact.ts.',
    '',
    `/** ${doc}: JSON, compressed with Brotli, as Base64. */`,
    `export const ${name}: Readonly<${type}> = {`,
    ...lines,
    '};',
  ];
  writeFileSync(join(lib, path), `${text.join('\n')}\n`);
}

function packed(value: unknown): string {
  const text = Buffer.from(JSON.stringify(value));
  const bytes = brotliCompressSync(text, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
      [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
      [constants.BROTLI_PARAM_SIZE_HINT]: text.length,
    },
  });
  return bytes.toString('base64');
}

const [dump] = process.argv.slice(2);
if (dump === undefined) throw new Error('usage: compact.ts <dump-dir>');
main(dump);
