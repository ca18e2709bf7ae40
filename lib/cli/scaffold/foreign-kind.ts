import { join } from 'node:path';
import omit from 'lodash/omit.js';
import { isJsonObject, dns1123SubdomainProblem } from '../../object/index.js';
import type { CustomResourceDefinition, ResourceType } from '../../object/index.js';
import { UsageError } from '../command-context.js';
import type { CommandContext } from '../command-context.js';
import { definitionsAt } from '../definition-sources.js';
import { controllerRole } from './api-files.js';
import { builtInContent, builtInKind, valuesOf } from './api-values.js';
import type { BuiltInKind } from './api-values.js';
import { initFiles } from './init-project.js';
import { insertionsOf } from './insertions.js';
import { approvalAnnotation, isProtectedGroup, minimalValue } from '../../crd/internal.js';
import { checkPlural, englishPlural, kebabCase } from './names.js';
import { textIfExists } from './plan-files.js';
import type { WantedFile } from './plan-files.js';
import type { Project, ProjectResource } from './project-file.js';
import { schemaOf, withContentOfTest } from './sample-content.js';
import { readTemplate } from './template.js';
import type { TemplateFile } from './template.js';
import { SchemaTypes } from '../types/schema-types.js';

/** Names of a kind that the project does not define. */
export interface ForeignOptions {
  /** Full group name; `core` for the group of Pods. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural?: string | undefined;
  readonly namespaced: boolean;
  /** The file with the CustomResourceDefinition of another operator's kind. */
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
 * @throws UsageError the kind is not one of Kubernetes, and both a definition and a full group name are missing
 * @throws OperatorError `InvalidConfig`: the file can't be read, or has no complete definitions
 */
export async function foreignKind(
  options: ForeignOptions,
  context: CommandContext,
): Promise<ForeignKind> {
  const { group, version, kind, crdFile } = options;
  const builtIn = builtInKind(options);
  if (builtIn !== undefined) {
    return { resource: foreignResource(options, builtIn.type), definition: undefined };
  }
  if (crdFile !== undefined) {
    const definition = await definitionIn(crdFile, options, context);
    const { names, scope } = definition.spec;
    checkPlural(names.plural, `--crd-file: ${crdFile}: plural`);
    const where = { plural: names.plural, namespaced: scope === 'Namespaced' };
    return { resource: foreignResource(options, where), definition };
  }
  if (!group.includes('.') || dns1123SubdomainProblem(group) !== undefined) {
    const what = `the project has no ${kind} ${version} of ${group}, and Kubernetes has no such kind to watch`;
    const remedy =
      'leave out --no-resource to create it, or pass the full group of a kind of another operator';
    throw new UsageError(`${what}; ${remedy}`);
  }
  const { plural = englishPlural(kind.toLowerCase()), namespaced } = options;
  const resource = foreignResource(options, { plural, namespaced });
  return { resource, definition: openDefinition(resource) };
}

/** Returns the entry of a kind for the file `PROJECT`. */
export function foreignResource(
  { group, version, kind }: Pick<ForeignOptions, 'group' | 'version' | 'kind'>,
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
  // Without this annotation, a server refuses groups of Kubernetes, such as that of the Gateway API.
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
  const wanted = files.flatMap(({ path, text }): readonly WantedFile[] => {
    if (path.startsWith('config/')) return [];
    if (path === 'src/operator.ts') {
      return [{ type: 'insert', path, insertions: insertionsOf(before, text) }];
    }
    if (path.startsWith('src/api/')) return typeFile({ path, text }, resource, definition);
    const whole = path.startsWith('test/') ? foreignTest(text, resource, definition) : text;
    return [{ type: 'whole', path, text: ofBuiltIn(whole, resource) }];
  });
  return [
    ...wanted,
    ...definitionFile(resource, definition),
    ...(await controllerRole(folder, files)),
  ];
}

function definitionFile(
  { kind }: ProjectResource,
  definition: CustomResourceDefinition | undefined,
): readonly WantedFile[] {
  if (definition === undefined) return [];
  const text = `${JSON.stringify(definition, undefined, 2)}\n`;
  return [{ type: 'whole', path: `test/crds/${kebabCase(kind)}.json`, text }];
}

/** Returns the file with the type of a foreign kind, unless the package has one. */
export function typeFile(
  { path, text }: TemplateFile,
  resource: ProjectResource,
  definition: CustomResourceDefinition | undefined,
): readonly WantedFile[] {
  const builtIn = builtInKind(resource);
  if (builtIn?.hasConstant === true || (builtIn ?? definition) === undefined) return [];
  const typed = builtIn ? withBuiltInFields(text, builtIn) : withFields(text, resource, definition);
  const { scope } = resource;
  const scoped =
    scope === 'Cluster' ? typed.replace('namespaced: true', 'namespaced: false') : typed;
  return [{ type: 'whole', path, text: scoped }];
}

/** Names of the generated files of types. */
const usedNames = ['KubernetesObject', 'Readonly', 'Record', 'ResourceType'];

/** Adds the fields of the definition to the type of another operator's kind. */
function withFields(
  text: string,
  { version, kind }: ProjectResource,
  definition: CustomResourceDefinition | undefined,
): string {
  const { properties = {} } = schemaOf(definition, version) ?? {};
  const types = new SchemaTypes([kind, ...usedNames]);
  const typed = ['Spec', 'Status'].reduce((changed, name) => {
    const field = `readonly ${name.toLowerCase()}?: `;
    const own = types.typeOf(properties[name.toLowerCase()] ?? { type: 'object' }, kind + name);
    return changed.replace(`${field}Readonly<Record<string, unknown>>;`, () => `${field}${own};`);
  }, text);
  return withInterfaces(typed, types);
}

/** Adds the fields of a built-in kind, which need not have a `spec`. */
function withBuiltInFields(text: string, { type: { kind }, schema }: BuiltInKind): string {
  const types = new SchemaTypes([kind, ...usedNames]);
  const properties = omit(schema.properties, ['apiVersion', 'kind', 'metadata']);
  const fields = types.fields({ ...schema, properties }, kind);
  const typed = text
    .replace(/( {2}readonly (?:spec|status)\?: .*\n)+/, () => `${fields.join('\n')}\n`)
    .replace('of a kind that another operator defines', 'of a kind of Kubernetes');
  return withInterfaces(typed, types);
}

function withInterfaces(text: string, { interfaces }: SchemaTypes): string {
  const all = interfaces.map((each) => `${each}\n\n`).join('');
  return text.replace('/** An object of', (start) => all + start);
}

/** Returns a test whose objects the API server accepts. */
export function foreignTest(
  text: string,
  resource: ProjectResource,
  definition: CustomResourceDefinition | undefined,
): string {
  if (definition === undefined) {
    return withContentOfTest(text, { content: builtInContent(resource), document: undefined });
  }
  const made = minimalValue(schemaOf(definition, resource.version) ?? {});
  const { spec } = (isJsonObject(made) ? made : {}) as { readonly spec?: unknown };
  return withContentOfTest(text, { content: { spec: spec ?? {} }, document: undefined });
}

/** Returns code for a built-in kind: without a definition, and with the package's own type if the package has one. */
export function ofBuiltIn(text: string, resource: ProjectResource): string {
  const builtIn = builtInKind(resource);
  if (builtIn === undefined) return text;
  const bare = text.replace(
    'EmbeddedCluster.start({ crds: [definition] })',
    'EmbeddedCluster.start()',
  );
  if (!builtIn.hasConstant) return bare;
  const file = `/api/${resource.version}/${kebabCase(resource.kind)}.js'`;
  return bare.replaceAll(
    new RegExp(`from '[./a-z]*${file.replaceAll('.', '\\.')}`, 'g'),
    "from 'operator-builder'",
  );
}

/** Reads the definition that a foreign kind's tests install; undefined for built-in kinds. */
export async function testDefinition(
  folder: string,
  { kind }: ProjectResource,
): Promise<CustomResourceDefinition | undefined> {
  const text = await textIfExists(join(folder, `test/crds/${kebabCase(kind)}.json`));
  return text === undefined ? undefined : (JSON.parse(text) as CustomResourceDefinition);
}
