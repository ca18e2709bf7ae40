import omit from 'lodash/omit.js';
import { approvalAnnotation } from '../../crd/internal.js';
import { dns1035LabelProblem, dns1123SubdomainProblem, isJsonObject } from '../../object/index.js';
import type { CustomResourceDefinition, Schema } from '../../object/index.js';
import { OperatorError } from '../../system/index.js';
import { schemaOf } from '../evolution/versions.js';
import type { CrdVersion } from '../evolution/versions.js';
import { kebabCase } from '../scaffold/names.js';
import { SchemaTypes } from './schema-types.js';
import {
  comment,
  isIdentifier,
  lineWidth,
  literal,
  memberLines,
  TypedValue,
} from './source-text.js';

/**
 * Generates a module for each served version of a definition, with its path in the output folder:
 * `cert-manager.io/v1/certificate.ts`.
 * @throws OperatorError `InvalidConfig`: a name in the definition can't be used in code, or as the name of a file
 */
export function typeModules(crd: CustomResourceDefinition) {
  refuseNames(crd);
  const { group, names, versions } = crd.spec;
  return versions
    .filter(({ served }) => served)
    .map((version) => ({
      path: `${group}/${version.name}/${kebabCase(names.kind)}.ts`,
      text: moduleText(crd, version),
    }));
}

/** Definitions of other operators may come from anywhere: their names become paths and code. */
function refuseNames({ metadata, spec }: CustomResourceDefinition): void {
  const { group, names, versions } = spec;
  const { name = '' } = metadata;
  const refuse = (field: string, problem: string | undefined): void => {
    if (problem === undefined) return;
    const which = `CustomResourceDefinition ${JSON.stringify(name)}`;
    throw new OperatorError(
      'InvalidConfig',
      `${which}: ${field}: ${problem}; correct the definition`,
    );
  };
  refuse('metadata.name', dns1123SubdomainProblem(name));
  refuse('spec.group', dns1123SubdomainProblem(group));
  const isType = isIdentifier(names.kind);
  refuse(
    'spec.names.kind',
    isType ? undefined : `can't name a type: ${JSON.stringify(names.kind)}`,
  );
  // A definition that was created as apiextensions.k8s.io/v1beta1 may have no schemas.
  const mayLackSchemas = spec.preserveUnknownFields === true;
  for (const [index, version] of versions.entries()) {
    refuse(`spec.versions[${index}].name`, dns1035LabelProblem(version.name));
    const isWhole = mayLackSchemas || isJsonObject(version.schema?.openAPIV3Schema);
    refuse(`spec.versions[${index}].schema.openAPIV3Schema`, isWhole ? undefined : 'is missing');
  }
}

/** Names that a module uses besides those of its kind. */
const usedNames = [
  ...['CustomResource', 'ObjectMeta', 'ResourceType', 'Schema'],
  ...['Fields', 'Input', 'NonNullable', 'Omit', 'Record'],
];

/** Returns the name of a kind's type within its module, which uses some names itself. */
function localName(kind: string): string {
  return usedNames.includes(kind) ? `${kind}Kind` : kind;
}

function declared(kind: string): string {
  return localName(kind) === kind ? 'export ' : '';
}

function moduleText(crd: CustomResourceDefinition, version: CrdVersion): string {
  const { kind } = crd.spec.names;
  const local = localName(kind);
  const parts = partsOf(version);
  const types = new SchemaTypes([...usedNames, kind, local]);
  const object = objectInterface({ crd, version, types, parts });
  const resource = `}) as CustomResource<${local}, Input> & ResourceType<${local}>;`;
  const text = [
    `// Made by \`operator-builder types\` from ${crd.metadata.name ?? kind}. Do not edit.`,
    "import type { ResourceType } from 'operator-builder';",
    "import { defineResource, s, type CustomResource, type Schema } from 'operator-builder/crd';",
    "import type { ObjectMeta } from 'operator-builder/types';",
    '',
    ...object,
    '',
    ...types.interfaces.flatMap((each) => [each, '']),
    `const schema: Schema = ${literal(withoutTexts(parts.schema))};`,
    '',
    ...(parts.status === undefined
      ? []
      : [`const status: Schema = ${literal(withoutTexts(parts.status))};`, '']),
    `type Fields = Omit<${local}, 'apiVersion' | 'kind' | 'metadata' | 'status'>;`,
    `type Input = Omit<${local}, 'apiVersion' | 'kind' | 'status'>;`,
    '',
    `/** The kind ${kind} of ${crd.spec.group}/${version.name}, for watches, clients, validation and tests. */`,
    ...definitionLines(crd, version, { hasStatus: parts.status !== undefined }),
    resource.length > lineWidth ? resource.replace(' & ', ' &\n  ') : resource,
    ...(local === kind ? [] : ['', `export { ${local} as ${kind} };`]),
  ];
  return `${text.join('\n')}\n`;
}

interface Parts {
  /** The fields other than apiVersion, kind, metadata and status. */
  readonly schema: Schema;
  readonly status: Schema | undefined;
}

/** Splits the schema of a version into the arguments of `defineResource`. */
function partsOf(version: CrdVersion): Parts {
  const whole = schemaOf(version);
  const { status, metadata } = whole.properties ?? {};
  const properties = omit(whole.properties, 'apiVersion', 'kind', 'metadata', 'status');
  const restricted = metadata?.properties === undefined ? {} : { metadata };
  // The server requires `apiVersion`, `kind` and `metadata` in every object.
  const required = whole.required?.filter((name) => Object.hasOwn(properties, name)) ?? [];
  const beside: Schema = { ...whole, properties: { ...restricted, ...properties } };
  return {
    schema: required.length > 0 ? { ...beside, required } : omit(beside, 'required'),
    status,
  };
}

interface ObjectParts {
  readonly crd: CustomResourceDefinition;
  readonly version: CrdVersion;
  readonly types: SchemaTypes;
  readonly parts: Parts;
}

function objectInterface({ crd, version, types, parts }: ObjectParts): readonly string[] {
  const { group, names } = crd.spec;
  const properties = omit(parts.schema.properties, 'metadata');
  const all = parts.status === undefined ? properties : { ...properties, status: parts.status };
  const required = parts.schema.required ?? [];
  const fields = types.fields(
    { type: 'object', properties: all, required: required.filter((name) => name !== 'status') },
    names.kind,
  );
  const open = parts.schema['x-kubernetes-preserve-unknown-fields'] === true;
  return [
    ...comment(schemaOf(version).description, ''),
    `${declared(names.kind)}interface ${localName(names.kind)} {`,
    `  apiVersion: '${group}/${version.name}';`,
    `  kind: '${names.kind}';`,
    '  metadata: ObjectMeta;',
    ...fields,
    ...(open ? ['  [field: string]: unknown;'] : []),
    '}',
  ];
}

/** Leaves out the texts, which validate nothing: the doc comments of the types contain them. */
function withoutTexts(schema: Schema): unknown {
  const copy = (value: unknown, isNames: boolean): unknown => {
    if (Array.isArray(value)) return value.map((item) => copy(item, false));
    if (!isJsonObject(value)) return value;
    const members = Object.entries(value)
      .filter(([name]) => isNames || !texts.has(name))
      .map(([name, member]) => {
        if (!isNames && verbatim.has(name)) return [name, member] as const;
        const own = copy(member, !isNames && name === 'properties');
        // If a field has the name of a member of `Object.prototype`, TypeScript would use the type of that member.
        const isOfAll = isNames && name in Object.prototype && isJsonObject(own);
        return [name, isOfAll ? new TypedValue(own, 'Schema') : own] as const;
      });
    return Object.fromEntries(members);
  };
  return copy(schema, false);
}

const texts: ReadonlySet<string> = new Set(['description', 'title', 'example', 'externalDocs']);
/** Keywords whose values are not schemas. */
const verbatim: ReadonlySet<string> = new Set(['default', 'enum']);

/** Returns the lines of `defineResource({…}`. */
function definitionLines(
  crd: CustomResourceDefinition,
  version: CrdVersion,
  { hasStatus }: { readonly hasStatus: boolean },
): readonly string[] {
  const { group, names, scope } = crd.spec;
  const { kind, plural, singular, listKind, shortNames, categories } = names;
  const { additionalPrinterColumns, selectableFields, subresources, deprecated } = version;
  const { [approvalAnnotation]: approval } = crd.metadata.annotations ?? {};
  const annotations = approval === undefined ? undefined : { [approvalAnnotation]: approval };
  const resource = {
    ...{ group, kind, plural, singular, listKind, scope, shortNames, categories, annotations },
  };
  const columns = additionalPrinterColumns?.map((column) => omit(column, 'description'));
  const settings = {
    printerColumns: columns,
    selectableFields: selectableFields?.map(({ jsonPath }) => jsonPath),
    scale: subresources?.scale,
    deprecated,
  };
  return [
    `${declared(kind)}const ${localName(kind)} = defineResource({`,
    ...memberLines(resource, '  '),
    '  versions: [',
    '    {',
    `      name: '${version.name}',`,
    '      schema: s.typed<Fields>(schema),',
    ...(hasStatus
      ? [`      status: s.typed<NonNullable<${localName(kind)}['status']>>(status),`]
      : []),
    ...memberLines(settings, '      '),
    '    },',
    '  ],',
  ];
}
