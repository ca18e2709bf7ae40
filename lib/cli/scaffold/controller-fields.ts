import { deepEqual } from '../../object/deep-equal.js';
import { defaultFields } from '../../crd/validation/prune.js';
import type { CustomResourceDefinition } from '../../object/kinds.js';
import type { Schema } from '../../object/schema.js';
import type { TemplateFile } from './template.js';
import { sampleContent, isAccepted, literalOf, schemaOf } from './sample-content.js';
import type { Content } from './sample-content.js';
import type { ProjectResource } from './project-file.js';

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
  // In types, fields with a default are required.
  if (content !== undefined) defaultFields(content, schema);
  return files.map(({ path, text }) => {
    if (controllerFile.test(path)) return { path, text: withConstants(text, lacking) };
    if (!controllerTest.test(path) || content === undefined) return { path, text };
    return { path, text: withContent(text, resource.kind, content) };
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

function withContent(text: string, kind: string, content: Content): string {
  const fields = Object.keys(content);
  const isSpec = deepEqual(fields, ['spec']);
  const keys = fields.map((field) => `'${field}'`).join(' | ');
  const type = isSpec ? `${kind}['spec']` : `Pick<${kind}, ${keys === '' ? 'never' : keys}>`;
  const start = `const ${isSpec ? 'spec' : 'content'}: ${type} = `;
  const value = isSpec ? content['spec'] : content;
  const literal = literalOf(value, { indentation: '  ', taken: start.length + 1 });
  return text
    .replace(/^( +)const spec = \{ image: .*\};$/m, (_, by) => `${String(by)}${start}${literal};`)
    .replaceAll(', spec })', isSpec ? ', spec })' : ', ...content })')
    .replace(/^ +assert\.equal\(made\.spec\?\.replicas, 2\);\n/m, '')
    .replace(
      'assert.equal(made.status?.readyReplicas, 2);',
      'assert.equal(made.status?.readyReplicas ?? 0, made.spec?.replicas);',
    );
}
