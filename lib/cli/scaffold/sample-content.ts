import { join, resolve } from 'node:path';
import merge from 'lodash/merge.js';
import omit from 'lodash/omit.js';
import { isMap, parseAllDocuments, parseDocument } from 'yaml';
import type { Document } from 'yaml';
import { FieldErrors, defaultFields, prune, validateResource } from '../../crd/internal.js';
import { deepEqual, isJsonObject, checkYamlDepth } from '../../object/index.js';
import type { CustomResourceDefinition, Schema } from '../../object/index.js';
import { OperatorError } from '../../system/index.js';
import { loadOperator } from '../load-operator.js';
import { minimalValue } from '../../crd/internal.js';
import { literal } from '../types/source-text.js';
import { textIfExists } from './plan-files.js';
import type { ProjectResource } from './project-file.js';
import type { TemplateFile } from './template.js';

/** The fields of an object except apiVersion, kind, metadata and status. */
type Content = Readonly<Record<string, unknown>>;

/** Content that a kind's schema accepts, and its source sample. */
interface SampleContent {
  readonly content: Content;
  /** The sample as YAML with its comments; undefined if there is no sample. */
  readonly document: Document | undefined;
}

/**
 * Returns the current CustomResourceDefinition of a kind from a project's sources; undefined if they can't be
 * loaded, for example before `npm install`.
 */
export async function definedNow(
  folder: string,
  { group, kind }: { readonly group: string; readonly kind: string },
): Promise<CustomResourceDefinition | undefined> {
  try {
    const { operator } = await loadOperator(resolve(folder));
    return operator.resources?.find((one) => one.group === group && one.kind === kind)?.crd;
  } catch {
    // User code may throw any error; the project's files are the fallback.
    return undefined;
  }
}

/**
 * Checks that a project's sources define a kind in the group that `PROJECT` gives it. Sources that can't be loaded are
 * not checked.
 * @throws OperatorError `InvalidConfig`: the sources define the kind in a group with the same short name and another
 *   domain
 */
export async function refuseOtherDomain(
  folder: string,
  { group, kind }: { readonly group: string; readonly kind: string },
  short: string,
): Promise<void> {
  const { operator } = await loadOperator(resolve(folder)).catch(() => ({ operator: undefined }));
  const groups = (operator?.resources ?? [])
    .filter((one) => one.kind === kind)
    .map((one) => one.group);
  const other = groups.find((one) => one.startsWith(`${short}.`));
  if (other === undefined || groups.includes(group)) return;
  const remedy = `set domain to ${other.slice(short.length + 1)} in PROJECT, or change the group in src/api first`;
  const message = `PROJECT has ${kind} in the group ${group}, but src/api defines it in ${other}; ${remedy}`;
  throw new OperatorError('InvalidConfig', message);
}

/**
 * Returns content for objects of a version: the project's sample, completed or replaced by a minimal object
 * if the schema rejects it. Undefined without a sample and a definition.
 */
export async function sampleContent(
  folder: string,
  { group, version, kind }: ProjectResource,
  crd: CustomResourceDefinition | undefined,
): Promise<SampleContent | undefined> {
  const path = `config/samples/${group}_${version}_${kind.toLowerCase()}.yaml`;
  const document = documentOf((await textIfExists(join(folder, path))) ?? '', kind);
  const own = document === undefined ? undefined : contentOf(document);
  const schema = schemaOf(crd, version);
  if (schema === undefined) return own && { content: own, document };
  return { content: acceptedContent(own ?? {}, schema), document };
}

function documentOf(text: string, kind: string): Document | undefined {
  const documents = parseAllDocuments(checkYamlDepth(text, 'sample'));
  return [...documents].find(
    (one) => one.errors.length === 0 && isMap(one.contents) && one.get('kind') === kind,
  );
}

function contentOf(document: Document): Content {
  return omit(document.toJS() as Content, ['apiVersion', 'kind', 'metadata', 'status']);
}

/** Returns the schema of a version; undefined if it is unknown. */
export function schemaOf(
  crd: CustomResourceDefinition | undefined,
  version: string,
): Schema | undefined {
  const found = crd?.spec.versions.find(({ name }) => name === version);
  return found?.schema?.openAPIV3Schema as Schema | undefined;
}

function acceptedContent(own: Content, schema: Schema): Content {
  const whole = omit(minimalValue(schema) as Content, ['apiVersion', 'kind', 'metadata', 'status']);
  const { value } = prune(own, schema);
  const completed = merge(structuredClone(whole), value);
  return [own, completed].find((one) => isAccepted(one, schema)) ?? whole;
}

function isAccepted(content: Content, schema: Schema): boolean {
  const { value, unknownFields } = prune(content, schema);
  if (unknownFields.length > 0 || !isJsonObject(value)) return false;
  defaultFields(value, schema);
  const errors = new FieldErrors();
  const named = { apiVersion: 'example.com/v1', kind: 'Sample', metadata: { name: 'sample' } };
  validateResource({ ...named, ...value }, { schema, errors });
  return errors.empty;
}

/** Puts content into a sample. Values keep the comments of the sample that they come from. */
export function withContent(text: string, { content, document: own }: SampleContent): string {
  const document = parseDocument(checkYamlDepth(text, 'sample'));
  const before = own === undefined ? {} : contentOf(own);
  document.delete('spec');
  for (const [name, value] of Object.entries(content)) {
    const isSame = deepEqual(before[name], value);
    document.set(name, isSame ? own?.get(name, true) : document.createNode(value));
  }
  return document.toString({ lineWidth: 0 });
}

const contentOfTests = /^const content: object = .*;$/m;

/** Puts content into a test's objects. */
export function withContentOfTest(text: string, { content }: SampleContent): string {
  const start = 'const content: object = ';
  return text.replace(contentOfTests, () => `${start}${literal(content, start)};`);
}

/** A field that controller templates read from an object's spec. */
interface TemplateField {
  readonly name: string;
  readonly type: Schema['type'];
  /** Value in the template's test. */
  readonly value: unknown;
  /** Code that replaces the field where objects lack it. */
  readonly constant: string;
}

const image = 'registry.example/app:1';
const templateFields: readonly TemplateField[] = [
  { name: 'image', type: 'string', value: image, constant: `'${image}'` },
  { name: 'replicas', type: 'integer', value: 2, constant: '1' },
];
const templateContent = {
  spec: Object.fromEntries(templateFields.map(({ name, value }) => [name, value])),
};

const controllerFile = /^src\/controllers\//;
const controllerTest = /^test\/.*-controller\.test\.ts$/;

/** Adapts the files of a controller to an existing kind: code and tests use only fields that the kind has. */
export async function withFieldsOfKind(
  files: readonly TemplateFile[],
  folder: string,
  { resource, crd }: { readonly resource: ProjectResource; readonly crd: CustomResourceDefinition },
): Promise<readonly TemplateFile[]> {
  const schema = schemaOf(crd, resource.version) ?? {};
  const lacking = templateFields.filter((field) => !hasField(schema, field));
  const sample = isAccepted(templateContent, schema)
    ? undefined
    : await sampleContent(folder, resource, crd);
  const content = structuredClone(sample?.content);
  // Fill in the defaults, because the TypeScript type requires fields with a default.
  if (content !== undefined) defaultFields(content, schema);
  return files.map(({ path, text }) => {
    if (controllerFile.test(path)) return { path, text: withConstants(text, lacking) };
    if (!controllerTest.test(path) || content === undefined) return { path, text };
    return { path, text: withContentOfController(text, resource.kind, content) };
  });
}

/** Whether every object has the field: an optional field can't be a Deployment's value. */
function hasField(schema: Schema, { name, type }: TemplateField): boolean {
  const { properties = {}, required = [] } = schema.properties?.['spec'] ?? {};
  const field = properties[name];
  return field?.type === type && (required.includes(name) || field?.default !== undefined);
}

function withConstants(text: string, lacking: readonly TemplateField[]): string {
  const read = templateFields.filter((field) => !lacking.includes(field));
  const names = read.map(({ name }) => name).join(', ');
  const lines = [
    ...(names === '' ? [] : [`const { ${names} } = object.spec;`]),
    ...lacking.map(({ name, constant }) => `const ${name} = ${constant};`),
  ];
  const destructured = text.replace(/^( *)const \{ image, replicas \} = object\.spec;$/m, (_, by) =>
    lines.map((line) => `${String(by)}${line}`).join('\n'),
  );
  return lacking.reduce(
    (code, { name, constant }) => code.replaceAll(`object.spec.${name}`, constant),
    destructured,
  );
}

function withContentOfController(text: string, kind: string, content: Content): string {
  const fields = Object.keys(content);
  const isSpec = deepEqual(fields, ['spec']);
  const keys = fields.map((field) => `'${field}'`).join(' | ');
  const type = isSpec ? `${kind}['spec']` : `Pick<${kind}, ${keys === '' ? 'never' : keys}>`;
  const start = `const ${isSpec ? 'spec' : 'content'}: ${type} = `;
  const value = isSpec ? content['spec'] : content;
  return text
    .replace(
      /^( +)const spec = \{ image: .*\};$/m,
      (_, by: string) => `${by}${start}${literal(value, by + start)};`,
    )
    .replaceAll(', spec })', isSpec ? ', spec })' : ', ...content })')
    .replace(/^ +assert\.equal\(made\.spec\?\.replicas, 2\);\n/m, '')
    .replace(
      'assert.equal(made.status?.readyReplicas, 2);',
      'assert.equal(made.status?.readyReplicas ?? 0, made.spec?.replicas);',
    );
}
