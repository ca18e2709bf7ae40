import type { StandardSchemaV1 } from '@standard-schema/spec';
import {
  isJsonObject,
  dns1035LabelProblem,
  dns1123SubdomainProblem,
  memberSchemaOf,
  propertyOf,
} from '../../object/index.js';
import type { KubernetesObject, ResourceType, Schema } from '../../object/index.js';
import { materialize } from '../schema/embedded-schema.js';
import { builtInType } from '../schema/typed-schema.js';
import type { TypedSchema } from '../schema/typed-schema.js';
import { CustomResource } from './custom-resource.js';
import { keywordsWithoutStatus } from './schema-metadata.js';
import { InvalidDefinitionError, resolveDefinition } from './resource-definition.js';
import type {
  AnyResourceDefinition,
  DefinitionProblem,
  NamedVersion,
  PrinterColumn,
  ResolvedDefinition,
  ResolvedVersion,
  ResourceDefinition,
  StorageVersion,
  VersionDefinition,
  VersionInput,
  VersionObject,
} from './resource-definition.js';

/** The TypeScript type of a resource's objects. */
export type ObjectOf<R> = R extends ResourceType<infer T> ? T : never;

/** The type of the result of `defineResource`, for the versions of the definition. */
export type DefinedResource<V extends readonly VersionDefinition[]> = CustomResource<
  VersionObject<StorageVersion<V>>,
  VersionInput<StorageVersion<V>>
> &
  ResourceType<VersionObject<StorageVersion<V>>> &
  StandardSchemaV1<VersionInput<StorageVersion<V>>, VersionObject<StorageVersion<V>>>;

/**
 * Defines a custom resource: its TypeScript type, its CustomResourceDefinition and its validation come
 * from one value.
 *
 * @example
 * ```ts
 * export const CronTab = defineResource({
 *   group: 'example.com',
 *   kind: 'CronTab',
 *   versions: [
 *     {
 *       name: 'v1',
 *       schema: s.object({ spec: s.object({ schedule: s.string(), replicas: s.defaulted(s.integer(), 1) }) }),
 *       status: s.object({ conditions: s.conditions() }),
 *     },
 *   ],
 * });
 * export type CronTab = ObjectOf<typeof CronTab>;
 * ```
 * @throws InvalidDefinitionError a name, version, path or conversion is invalid. Problems of a schema or a
 * rule are thrown on first use: by `crd`, `schema` and `validate`.
 */
export function defineResource<
  const V extends readonly VersionDefinition[],
  const H extends V[number]['name'] = V[number]['name'],
>(definition: ResourceDefinition<V, H>): DefinedResource<V> {
  checkForm(definition);
  const resolved = resolveDefinition(definition as unknown as AnyResourceDefinition);
  checkDefinition(resolved);
  // The type of written objects is known only at compile time.
  return new CustomResource(resolved) as DefinedResource<V>;
}

/** Checks the types of the required fields: callers in plain JavaScript may pass anything. */
function checkForm(definition: unknown): void {
  const given = isJsonObject(definition) ? definition : {};
  const { group, kind, versions } = given;
  const problems: DefinitionProblem[] = [];
  for (const [field, value] of [
    ['group', group],
    ['kind', kind],
  ] as const) {
    if (typeof value !== 'string') problems.push({ field, message: 'must be a string' });
  }
  if (!Array.isArray(versions) || !versions.every(isJsonObject)) {
    problems.push({ field: 'versions', message: 'must be a list of versions' });
  }
  const name = typeof kind === 'string' ? kind : 'without a kind';
  if (problems.length > 0) throw new InvalidDefinitionError(name, problems);
}

/**
 * Returns another version of a resource, for clients and controllers.
 * @param version - the name of one of its versions
 * @throws OperatorError `InvalidOption`: unknown version
 */
export function versionOfResource<T extends KubernetesObject>(
  resource: CustomResource<KubernetesObject, never>,
  version: string,
): ResourceType<T> {
  resource.checkVersion(version);
  const { group, kind, plural, namespaced } = resource;
  // The writers of a status look for these members on the `ResourceType`, as `CustomResource` has them.
  const ofStatus: Pick<typeof resource, 'statusSchema' | 'statusProblem'> = {
    statusSchema: () => resource.statusSchema(version),
    statusProblem: (...given) => resource.statusProblem(...given),
  };
  return { group, version, kind, plural, namespaced, ...ofStatus };
}

/** The object type of one version of a definition, selected by the version's name. */
export type ObjectOfVersion<
  V extends readonly VersionDefinition[],
  N extends V[number]['name'],
> = VersionObject<NamedVersion<V, N>>;

/**
 * Checks names, versions, paths and conversion, without resolving built-in types or compiling rules.
 * @throws InvalidDefinitionError
 */
function checkDefinition(definition: ResolvedDefinition): void {
  const problems = [
    ...nameProblems(definition),
    ...scopeProblems(definition),
    ...versionProblems(definition),
    ...conversionProblems(definition),
  ];
  if (problems.length > 0) throw new InvalidDefinitionError(definition.kind, problems);
}

function problemAt(field: string, message: string | undefined): DefinitionProblem[] {
  return message === undefined ? [] : [{ field, message }];
}

function problemIf(isWrong: boolean, field: string, message: string): DefinitionProblem[] {
  return isWrong ? [{ field, message }] : [];
}

function nameProblems({ group, kind, plural, singular, listKind, ...rest }: ResolvedDefinition) {
  const names = [
    ['kind', kind.toLowerCase()],
    ['plural', plural],
    ['singular', singular],
    ['listKind', listKind.toLowerCase()],
    ...rest.shortNames.map((name, index) => [`shortNames[${index}]`, name]),
    ...rest.categories.map((name, index) => [`categories[${index}]`, name]),
  ];
  const grouped = group.includes('.')
    ? dns1123SubdomainProblem(group)
    : 'has no dot: use a domain of yours, such as example.com';
  return [
    ...problemAt('group', grouped),
    ...problemAt(`annotations[${approvalAnnotation}]`, approvalProblem(group, rest.annotations)),
    ...names.flatMap(([field = '', name = '']) => problemAt(field, dns1035LabelProblem(name))),
    ...problemIf(!/^[A-Z]/.test(kind), 'kind', 'must begin with a capital, such as CronTab'),
    ...problemIf(kind === listKind, 'listKind', 'must not be the kind: leave it out'),
  ];
}

/**
 * Callers in plain JavaScript may write `namespaced`. The kind would count as cluster-scoped, and the server would
 * refuse it.
 */
function scopeProblems({ scope }: ResolvedDefinition): DefinitionProblem[] {
  if (['Namespaced', 'Cluster'].includes(scope)) return [];
  return problemAt('scope', 'must be Namespaced or Cluster');
}

/** The annotation of definitions in the groups of the Kubernetes project. */
export const approvalAnnotation = 'api-approved.kubernetes.io';

/** Returns whether a group belongs to the Kubernetes project, so that a definition needs the annotation. */
export function isProtectedGroup(group: string): boolean {
  return /(?:^|\.)(?:k8s|kubernetes)\.io$/.test(group);
}

function approvalProblem(
  group: string,
  annotations: ResolvedDefinition['annotations'],
): string | undefined {
  if (!isProtectedGroup(group) || (annotations[approvalAnnotation] ?? '') !== '') return undefined;
  return `is missing: ${group} belongs to Kubernetes, use a domain of yours, or give the URL of the approval or "unapproved"`;
}

function versionProblems({ versions }: ResolvedDefinition): DefinitionProblem[] {
  const storage = versions.filter((version) => version.storage);
  const names = versions.map(({ name }) => name);
  const problems: DefinitionProblem[] = versions.flatMap((version, index) =>
    oneVersionProblems(version, `versions[${index}]`),
  );
  for (const [index, name] of names.entries()) {
    const message = `${name} is the name of another version: rename one`;
    problems.push(...problemIf(names.indexOf(name) !== index, `versions[${index}].name`, message));
  }
  if (versions.length === 0) problems.push(...problemAt('versions', 'give at least one version'));
  else if (storage.length !== 1) {
    const given =
      storage.length === 0 ? 'none has' : `${storage.map(({ name }) => name).join(' and ')} have`;
    const message = `exactly one version must have storage: true, ${given}`;
    problems.push(...problemAt('versions', message));
  } else if (!versions.some(({ served }) => served)) {
    problems.push(...problemAt('versions', 'no version is served: leave out served: false'));
  }
  return problems;
}

function oneVersionProblems(version: ResolvedVersion, field: string): DefinitionProblem[] {
  const { name, scale, selectableFields, printerColumns, deprecated } = version;
  // Callers in plain JavaScript may omit the schema.
  const schema = version.schema as ResolvedVersion['schema'] | undefined;
  if (schema === undefined)
    return problemAt(`${field}.schema`, 'is missing: give s.object({ spec })');
  const own = schema.type === 'object' ? undefined : 'must be an object: use s.object({ spec })';
  const misplaced = schema.properties?.['status'];
  const columns = printerColumns.flatMap((column, index) =>
    columnProblems(column, `${field}.printerColumns[${index}]`),
  );
  const fields = selectableFields.flatMap((path, index) => {
    const isRepeated = selectableFields.indexOf(path) !== index;
    const problem = isRepeated ? `${path} is already in the list: remove it` : undefined;
    const at = `${field}.selectableFields[${index}]`;
    return problemAt(at, problem ?? selectableProblem(version, path));
  });
  const isTooMany = selectableFields.length > mostSelectable;
  const tooMany = `are more than ${mostSelectable}: remove some`;
  const beside = version.status === undefined ? [] : keywordsWithoutStatus(schema);
  const refused = `has ${beside.join(' and ')}, which the API server refuses together with a status: move it to spec, or use rules`;
  return [
    ...problemAt(`${field}.name`, dns1035LabelProblem(name)),
    ...problemAt(`${field}.schema`, own),
    ...problemIf(
      misplaced !== undefined,
      `${field}.schema`,
      'has a status: define it as status, next to schema',
    ),
    ...problemIf(beside.length > 0, `${field}.schema`, refused),
    ...(scale === undefined ? [] : scaleProblems(version, scale, `${field}.scale`)),
    ...(typeof deprecated === 'string'
      ? problemAt(`${field}.deprecated`, warningProblem(deprecated))
      : []),
    ...columns,
    ...fields,
    ...problemIf(isTooMany, `${field}.selectableFields`, tooMany),
  ];
}

/** Maximum number of selectable fields of a version. */
const mostSelectable = 8;

/** Returns why the API server refuses the warning of a deprecated version. */
function warningProblem(warning: string): string | undefined {
  if (warning === '') return 'must not be empty: give a string, or true';
  const isPrintable = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]*$/u.test(warning);
  if (!isPrintable) return 'must be one line of printable characters';
  return Buffer.byteLength(warning) > 256 ? 'must not be longer than 256 bytes' : undefined;
}

const columnFormats = [
  ...['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password'],
];

const columnTypes: readonly PrinterColumn['type'][] = [
  ...(['string', 'integer', 'number', 'boolean', 'date'] as const),
];

function columnProblems(
  { name, type, jsonPath, format, priority = 0 }: PrinterColumn,
  field: string,
): DefinitionProblem[] {
  const isTitle = typeof (name as unknown) === 'string' && name !== '';
  const isPath = typeof (jsonPath as unknown) === 'string' && jsonPath.startsWith('.');
  const isFormat = format === undefined || format === '' || columnFormats.includes(format);
  const wholeNumber = `must be a whole number, got ${JSON.stringify(priority)}`;
  const oneOf = (values: readonly string[], got: string | undefined): string =>
    `must be one of ${values.join(', ')}, got ${got}`;
  return [
    ...problemIf(!isTitle, `${field}.name`, 'must be the title of the column'),
    ...problemIf(!Number.isInteger(priority), `${field}.priority`, wholeNumber),
    ...problemIf(!columnTypes.includes(type), `${field}.type`, oneOf(columnTypes, type)),
    ...problemIf(!isPath, `${field}.jsonPath`, 'must begin with a dot, such as .spec.replicas'),
    ...problemIf(!isFormat, `${field}.format`, oneOf(columnFormats, format)),
  ];
}

/**
 * The schema of a field. 'built-in': the field is in a built-in type. 'free': the schema only preserves the field.
 */
type Found = TypedSchema<unknown> | 'built-in' | 'free' | undefined;

/** Returns the schema at a path of names and dots, such as `.spec.node`. */
function schemaAt({ schema, status }: Pick<ResolvedVersion, 'schema' | 'status'>, path: string) {
  const [first = '', ...rest] = path.split('.').slice(1);
  return rest.reduce<Found>(memberOf, first === 'status' ? status : propertyOf(schema, first));
}

function memberOf(schema: Found, name: string): Found {
  if (schema === undefined || typeof schema === 'string') return schema;
  if (schema[builtInType] !== undefined) return 'built-in';
  const own = memberSchemaOf(schema, name);
  if (own !== undefined) return own;
  return schema['x-kubernetes-preserve-unknown-fields'] === true ? 'free' : undefined;
}

function selectableProblem(version: ResolvedVersion, path: string): string | undefined {
  if (!path.startsWith('.')) return 'must begin with a dot, such as .spec.node';
  if (path.includes('['))
    return `${path} must not have brackets: name fields only, such as .spec.node`;
  if (/^\.metadata(?:\.|$)/.test(path)) return `${path} is metadata: name a field of yours`;
  const declared = schemaAt(version, path);
  const found = declared === 'built-in' ? schemaAt(withBuiltIns(version), path) : declared;
  if (found === undefined) return `${path} is not a field of the schema: correct the path`;
  if (typeof found === 'string') return `${path} is not declared, only preserved: declare it`;
  const usable = ['string', 'integer', 'boolean'].includes(found.type ?? '');
  return usable
    ? undefined
    : `${path} is not a string, whole number or boolean: select another field`;
}

function withBuiltIns({ schema, status }: ResolvedVersion) {
  return {
    schema: materialize(schema) as TypedSchema<object, object>,
    status: status && materialize(status),
  };
}

function scaleProblems(
  version: ResolvedVersion,
  scale: NonNullable<ResolvedVersion['scale']>,
  field: string,
): DefinitionProblem[] {
  const paths = [
    ['specReplicasPath', scale.specReplicasPath, ['.spec.'], 'integer'],
    ['statusReplicasPath', scale.statusReplicasPath, ['.status.'], 'integer'],
    ['labelSelectorPath', scale.labelSelectorPath, ['.spec.', '.status.'], 'string'],
  ] as const;
  return paths.flatMap(([name, path, prefixes, type]) => {
    if (path === undefined) return [];
    const at = `${field}.${name}`;
    if (!prefixes.some((prefix) => path.startsWith(prefix))) {
      return problemAt(at, `${path} must begin with ${prefixes.join(' or ')}`);
    }
    const found = schemaAt(version, path);
    if (found === undefined) {
      return problemAt(at, `${path} is not a field of the schema: declare it, or correct the path`);
    }
    if (typeof found === 'string' || found.type === type) return [];
    return problemAt(at, `${path} must be of type ${type}`);
  });
}

function conversionProblems({ conversion, versions }: ResolvedDefinition): DefinitionProblem[] {
  if (conversion === undefined || conversion === 'prune') {
    return unconvertedProblems(versions, conversion);
  }
  const { hub, spokes } = conversion;
  const names = versions.map(({ name }) => name);
  const missing = names.filter((name) => name !== hub && spokes[name] === undefined);
  return [
    ...(names.includes(hub)
      ? []
      : problemAt('conversion.hub', `${hub} is not a version: use one of ${names.join(', ')}`)),
    ...missing.flatMap((name) =>
      problemAt(`conversion.spokes.${name}`, 'is missing: give toHub and fromHub'),
    ),
    ...Object.keys(spokes)
      .filter((name) => name === hub || !names.includes(name))
      .flatMap((name) =>
        problemAt(
          `conversion.spokes.${name}`,
          name === hub ? 'is the hub: remove it' : 'is not a version: remove it',
        ),
      ),
  ];
}

// Without a conversion the API server changes only apiVersion and drops the fields that a version lacks.
function unconvertedProblems(
  versions: readonly ResolvedVersion[],
  conversion: 'prune' | undefined,
): DefinitionProblem[] {
  // The API server also drops the fields that the stored version lacks, served or not.
  const [first, ...others] = versions.filter(({ served, storage }) => served || storage);
  if (first === undefined) return [];
  const isPruned = conversion === 'prune';
  return others.flatMap((other) => {
    const hasBoth = first.status !== undefined && other.status !== undefined;
    const pairs = [
      [first.schema, other.schema, ''] as const,
      ...(isPruned && !hasBoth ? [] : [[first.status, other.status, '.status'] as const]),
    ];
    const path = pairs
      .map(([one, two, at]) => differingPath(one, two, { path: at, isPruned }))
      .find((found) => found !== undefined);
    if (path === undefined) return [];
    const which = first.served && other.served ? 'served' : 'stored and served';
    const what = `${path} differs between the ${which} versions ${first.name} and ${other.name}`;
    return problemAt('conversion', isPruned ? prunedProblem(what) : missingConversion(what));
  });
}

function missingConversion(what: string): string {
  const remedies = [
    'give a conversion (operator-builder create webhook --conversion makes the place for it)',
    'or give both versions the same fields, or serve and store only one of them',
    "or accept the loss of optional fields by conversion: 'prune'",
  ];
  return `is missing, and ${what}: objects would lose data; ${remedies.join(', ')}`;
}

function prunedProblem(what: string): string {
  const only = 'versions may differ in optional fields only';
  return `is 'prune', and ${what}: ${only}; make it optional, or give functions that convert`;
}

/**
 * Returns the first path at which two schemas have different fields. Validation keywords may differ. With
 * `'prune'`, one side may lack optional fields.
 */
function differingPath(
  one: TypedSchema<unknown> | undefined,
  other: TypedSchema<unknown> | undefined,
  at: { readonly path: string; readonly isPruned: boolean },
): string | undefined {
  if (one === other) return undefined;
  const { path } = at;
  const here = path === '' ? '.' : path;
  if (one === undefined || other === undefined) return here;
  const isSame = shapeKeywords.every((keyword) => one[keyword] === other[keyword]);
  if (!isSame || one[builtInType] !== other[builtInType]) return here;
  const names = new Set(
    [one, other].flatMap(({ properties = {} }: Schema) => Object.keys(properties)),
  );
  const members = [...names]
    .filter((name) => !(at.isPruned && isOptionalOfOne(one, other, name)))
    .map((name) => [propertyOf(one, name), propertyOf(other, name), `${path}.${name}`] as const);
  const inner = [
    [one.items, other.items, `${path}[]`] as const,
    [valuesOf(one), valuesOf(other), `${path}.*`] as const,
  ];
  return [...members, ...inner]
    .map(([own, theirs, place]) => differingPath(own, theirs, { ...at, path: place }))
    .find((found) => found !== undefined);
}

function isOptionalOfOne(one: Schema, other: Schema, name: string): boolean {
  const owners = [one, other].filter((schema) => propertyOf(schema, name) !== undefined);
  return owners.length === 1 && !owners.some(({ required = [] }) => required.includes(name));
}

// A schema without a type either preserves unknown fields or is an integer or string.
const shapeKeywords = [
  ...(['type', 'x-kubernetes-preserve-unknown-fields'] as const),
  ...(['x-kubernetes-embedded-resource', 'nullable'] as const),
];

function valuesOf({ additionalProperties }: Schema): Schema | undefined {
  if (typeof additionalProperties === 'object') return additionalProperties;
  return additionalProperties === true ? {} : undefined;
}
