import { join } from 'node:path';
import { isJsonObject, dns1123SubdomainProblem } from '../../object/index.js';
import type { CustomResourceDefinition, ResourceType, Schema } from '../../object/index.js';
import { UsageError } from '../command-context.js';
import type { CommandContext } from '../command-context.js';
import { definitionsAt } from '../definition-sources.js';
import { mergedRole } from './api-files.js';
import { builtInContent, builtInType, valuesOf } from './api-values.js';
import { initFiles } from './init-project.js';
import { insertionsOf } from './insertions.js';
import {
  approvalAnnotation,
  isProtectedGroup,
  minimalValue,
  withOwnEnum,
} from '../../crd/internal.js';
import { checkPlural, englishPlural, kebabCase } from './names.js';
import { textIfExists } from './plan-files.js';
import type { WantedFile } from './plan-files.js';
import type { Project, ProjectResource } from './project-file.js';
import { withContentOfTest } from './sample-content.js';
import { readTemplate } from './template.js';
import { isIdentifier, literal } from '../types/source-text.js';

/** Names of a kind that the project does not define. */
interface ForeignOptions {
  /** Full group name; `core` for the group of Pods. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural?: string | undefined;
  readonly namespaced: boolean;
  /** File with the kind's CustomResourceDefinition. */
  readonly crdFile?: string | undefined;
}

/** A kind that the project does not define: built in, or another operator's. */
interface ForeignKind {
  readonly resource: ProjectResource;
  /** The definition that tests install; undefined for built-in kinds. */
  readonly definition: CustomResourceDefinition | undefined;
}

/**
 * Returns a kind that the project does not define.
 * @throws UsageError the kind is not built in, and both a definition and a full group name are missing
 * @throws OperatorError `InvalidConfig`: the file can't be read, or has no complete definitions
 */
export async function foreignKind(
  options: ForeignOptions,
  context: CommandContext,
): Promise<ForeignKind> {
  const { group, version, kind, crdFile } = options;
  const builtIn = builtInType(options);
  if (builtIn !== undefined) {
    const { plural, namespaced } = builtIn;
    return { resource: resourceOf(options, { plural, namespaced }), definition: undefined };
  }
  if (crdFile !== undefined) {
    const definition = await definitionIn(crdFile, options, context);
    const { names, scope } = definition.spec;
    checkPlural(names.plural, `--crd-file: ${crdFile}: plural`);
    const where = { plural: names.plural, namespaced: scope === 'Namespaced' };
    return { resource: resourceOf(options, where), definition };
  }
  if (!group.includes('.') || dns1123SubdomainProblem(group) !== undefined) {
    const what = `the project has no ${kind} ${version} of ${group}, and the kind is not built in`;
    const remedy = 'leave out --no-resource to create it, or pass the full group of a foreign kind';
    throw new UsageError(`${what}; ${remedy}`);
  }
  const { plural = englishPlural(kind.toLowerCase()), namespaced } = options;
  const resource = resourceOf(options, { plural, namespaced });
  return { resource, definition: openDefinition(resource) };
}

function resourceOf(
  { group, version, kind }: ForeignOptions,
  { plural, namespaced }: Pick<ResourceType, 'plural' | 'namespaced'>,
): ProjectResource {
  const scope = namespaced ? 'Namespaced' : 'Cluster';
  return { group, version, kind, plural, scope, external: true };
}

/** @throws UsageError the file does not define the kind and version */
async function definitionIn(
  path: string,
  { group, version, kind }: ForeignOptions,
  context: CommandContext,
): Promise<CustomResourceDefinition> {
  const definitions = await definitionsAt([path], context);
  const found = definitions.find(({ spec }) => spec.group === group && spec.names.kind === kind);
  if (found?.spec.versions.some(({ name }) => name === version) === true) return found;
  const what = `has no CustomResourceDefinition with ${kind} ${version} of ${group}`;
  throw new UsageError(`--crd-file: ${path} ${what}; pass the group as in the file`);
}

/** Returns a definition that accepts every object of a kind. */
function openDefinition({ group, version, kind, plural, scope }: ProjectResource) {
  const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec: open, status: open } } };
  const names = { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` };
  const versions = [
    { name: version, served: true, storage: true, schema, subresources: { status: {} } },
  ];
  // Without it, a server refuses groups of Kubernetes, such as that of the Gateway API.
  const approval = isProtectedGroup(group)
    ? { annotations: { [approvalAnnotation]: 'unapproved, for tests' } }
    : {};
  const metadata = { name: `${plural}.${group}`, ...approval };
  const spec = { group, scope, names, versions };
  return {
    ...{ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata, spec },
  } as CustomResourceDefinition;
}

/** Returns the files that a controller of a foreign kind adds to a project. */
export async function foreignFiles(
  project: Project,
  { resource, definition }: ForeignKind,
  folder: string,
): Promise<readonly WantedFile[]> {
  const values = valuesOf(project, resource);
  const files = await readTemplate('foreign', values);
  const bare = new Map((await initFiles(project)).map(({ path, text }) => [path, text]));
  const before = bare.get('src/operator.ts') ?? '';
  const wanted = files.flatMap(({ path, text }): WantedFile[] => {
    if (path.startsWith('config/')) return [];
    if (path === 'src/operator.ts') {
      return [{ type: 'insert', path, insertions: insertionsOf(before, text) }];
    }
    if (path.startsWith('src/api/')) {
      const typed = withFields(text, resource, definition);
      return definition === undefined ? [] : [{ type: 'whole', path, text: typed }];
    }
    const whole = path.startsWith('test/') ? foreignTest(text, resource, definition) : text;
    return [{ type: 'whole', path, text: ofBuiltIn(whole, resource) }];
  });
  return [...wanted, ...definitionFile(resource, definition), ...(await mergedRole(folder, files))];
}

function definitionFile(
  { kind }: ProjectResource,
  definition: CustomResourceDefinition | undefined,
): readonly WantedFile[] {
  if (definition === undefined) return [];
  const text = `${JSON.stringify(definition, undefined, 2)}\n`;
  return [{ type: 'whole', path: `test/crds/${kebabCase(kind)}.json`, text }];
}

/** Adds the fields of the definition to the type of a foreign kind. */
function withFields(
  text: string,
  { version, scope }: ProjectResource,
  definition: CustomResourceDefinition | undefined,
): string {
  const { properties = {} } = schemaOf(definition, version);
  const scoped = scope === 'Cluster' ? text.replace('namespaced: true', 'namespaced: false') : text;
  return ['spec', 'status'].reduce((changed, name) => {
    const field = `readonly ${name}?: `;
    const own = typeText(properties[name] ?? {}, '  ');
    return changed.replace(`${field}Readonly<Record<string, unknown>>;`, () => `${field}${own};`);
  }, scoped);
}

function schemaOf(definition: CustomResourceDefinition | undefined, version: string): Schema {
  const found = definition?.spec.versions.find(({ name }) => name === version);
  return (found?.schema?.openAPIV3Schema ?? {}) as Schema;
}

/** Returns a test whose objects the API server accepts. */
export function foreignTest(
  text: string,
  resource: ProjectResource,
  definition: CustomResourceDefinition | undefined,
): string {
  if (definition === undefined) {
    return withContentOfTest(text, { content: builtInContent(resource.kind), document: undefined });
  }
  const made = minimalValue(schemaOf(definition, resource.version));
  const { spec } = (isJsonObject(made) ? made : {}) as { readonly spec?: unknown };
  return withContentOfTest(text, { content: { spec: spec ?? {} }, document: undefined });
}

/** Returns code that imports the type of a built-in kind from the package. */
export function ofBuiltIn(text: string, resource: ProjectResource): string {
  if (builtInType(resource) === undefined) return text;
  const file = `/api/${resource.version}/${kebabCase(resource.kind)}.js'`;
  return text
    .replaceAll(
      new RegExp(`from '[./a-z]*${file.replaceAll('.', '\\.')}`, 'g'),
      "from 'operator-builder'",
    )
    .replace('EmbeddedCluster.start({ crds: [definition] })', 'EmbeddedCluster.start()');
}

/** Reads the definition that a foreign kind's tests install; undefined for built-in kinds. */
export async function testDefinition(
  folder: string,
  { kind }: ProjectResource,
): Promise<CustomResourceDefinition | undefined> {
  const text = await textIfExists(join(folder, `test/crds/${kebabCase(kind)}.json`));
  return text === undefined ? undefined : (JSON.parse(text) as CustomResourceDefinition);
}

const open = 'Readonly<Record<string, unknown>>';

/**
 * Returns the TypeScript type for values of a structural schema.
 * @param indentation - of the line with the type
 */
function typeText(schema: Schema, indentation: string): string {
  const { enum: choices = [] } = withOwnEnum(schema);
  const { type, items = {}, properties, additionalProperties } = schema;
  if (schema['x-kubernetes-int-or-string'] === true) return 'number | string';
  if (type === undefined) {
    return schema['x-kubernetes-preserve-unknown-fields'] === true ? 'unknown' : open;
  }
  const nullable = schema.nullable === true ? ' | null' : '';
  switch (type) {
    case 'boolean':
      return `boolean${nullable}`;
    case 'integer':
    case 'number':
      return `number${nullable}`;
    case 'string':
      return `${stringType(choices)}${nullable}`;
    case 'array': {
      const item = typeText(items, indentation);
      return `readonly ${isUnion(item) ? `(${item})` : item}[]${nullable}`;
    }
    case 'object':
      if (properties !== undefined) return `${objectType(schema, indentation)}${nullable}`;
      if (typeof additionalProperties !== 'object') return `${open}${nullable}`;
      return `Readonly<Record<string, ${typeText(additionalProperties, indentation)}>>${nullable}`;
  }
}

const texts = /'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"/g;

/** Whether a type is a union itself, not only a type within it. */
function isUnion(type: string): boolean {
  return type
    .replaceAll(texts, '')
    .replace(/\{[^]*\}|<[^]*>/, '')
    .includes('|');
}

/** Returns a union of the choices; `string` without choices, or if they do not fit on a line. */
function stringType(choices: readonly unknown[]): string {
  const union = choices
    .filter((one) => typeof one === 'string')
    .map((one) => literal(one))
    .join(' | ');
  return union === '' || union.length > 50 ? 'string' : union;
}

function objectType({ properties = {}, required = [] }: Schema, indentation: string): string {
  const inner = `${indentation}  `;
  const fields = Object.entries(properties).map(([name, property]) => {
    const key = isIdentifier(name) ? name : literal(name);
    const sign = required.includes(name) ? ':' : '?:';
    return `${inner}readonly ${key}${sign} ${typeText(property, inner)};\n`;
  });
  return fields.length === 0 ? open : `{\n${fields.join('')}${indentation}}`;
}
