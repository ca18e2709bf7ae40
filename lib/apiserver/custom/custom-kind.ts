import type { FieldErrors } from '../../crd/internal.js';
import {
  compileJsonPath,
  readJsonPath,
  defaultFields,
  dropNulls,
  fillInDefaults,
  prune,
  validateScaleSpec,
  validateScaleStatus,
  validateResource,
} from '../../crd/internal.js';
import {
  deepEqual,
  deepFreeze,
  isJsonObject,
  setMember,
  versionOf,
  withoutMembers,
} from '../../object/index.js';
import type { UnstructuredObject, Schema } from '../../object/index.js';
import { Decoding } from '../go-json/decoding.js';
import { goType } from '../go-json/go-types.js';
import type { CustomColumn, Decoded, ServedKind, ServedSubresource } from '../kinds/served-kind.js';
import type { KindRules } from '../rules/kind-rules.js';
import type { ServerCore } from '../server-core.js';
import type { MvccLog } from '../storage/mvcc-log.js';
import { ageText, metadataDoc, nameColumn } from '../tables/table-column.js';
import type { TableColumn } from '../tables/table-column.js';
import { crdCollection, finalizerWarnings } from './crd.js';
import type { Crd, CrdVersion } from './crd.js';
import { compareVersions } from './crd-names.js';
import { decodeEmbedded, metadataSchema, withEmbeddedTypes } from './embedded-objects.js';
import { conversionAddress } from './in-process-conversion.js';
import { WebhookConverter } from './webhook-converter.js';

const verbs = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'];

/**
 * Returns the kinds of a CRD, one per version.
 * @param since - the revision of the last change of the spec
 */
export function customKinds(core: ServerCore, crd: Crd, since: number): readonly ServedKind[] {
  const { strategy, webhook } = crd.spec.conversion ?? {};
  const { conversionReviewVersions = ['v1'] } = webhook ?? {};
  const address =
    strategy === 'Webhook'
      ? webhook?.clientConfig
      : conversionAddress(core.connections, crd.metadata.name ?? '');
  const converter = address && new WebhookConverter(core, address, conversionReviewVersions);
  const convert: Convert = { converter, stored: new StoredObjects(core.log, crd), since };
  return crd.spec.versions.map((version) => customKind(core, { crd, version, convert }));
}

/** A version of a CRD. */
interface DefinedVersion {
  readonly crd: Crd;
  readonly version: CrdVersion;
  readonly convert: Convert;
}

/** The state that the versions of a kind share. */
interface Convert {
  readonly converter: WebhookConverter | undefined;
  readonly stored: StoredObjects;
  readonly since: number;
}

function customKind(core: ServerCore, { crd, version, convert }: DefinedVersion): ServedKind {
  const { metadata, spec } = crd;
  const { name = '' } = metadata;
  const { group, names, scope } = spec;
  const definitions = core.log.collection(crdCollection);
  const apiVersion = `${group}/${version.name}`;
  const schema = version.schema?.openAPIV3Schema;
  const storage = spec.versions.find((one) => one.storage) ?? version;
  const hasStatus = version.subresources?.status !== undefined;
  let full: Schema | undefined;
  return {
    type: {
      group,
      version: version.name,
      kind: names.kind,
      plural: names.plural,
      namespaced: scope === 'Namespaced',
    },
    singular: names.singular ?? names.kind.toLowerCase(),
    listKind: names.listKind ?? `${names.kind}List`,
    shortNames: names.shortNames ?? [],
    categories: names.categories ?? [],
    verbs,
    subresources: subresourcesOf(spec, version),
    collection: `${group}/${names.plural}`,
    isStorageVersion: storage === version,
    rules: customRules(spec, version, hasStatus),
    custom: {
      since: convert.since,
      scale: version.subresources?.scale,
      replicasPaths: replicasPathsOf(spec),
      hasStatus,
      columns: version.additionalPrinterColumns ?? [],
      get terminating() {
        return definitions.get(name)?.metadata.deletionTimestamp !== undefined;
      },
      dropNulls: (object) => dropNulls(object, schema),
    },
    schema: () =>
      schema === undefined ? undefined : (full ??= withTypeMeta(withEmbeddedTypes(schema))),
    decode: (value) => decodeCustom(value, { apiVersion, kind: names.kind, schema }),
    inOrder: (object) => object,
    ...conversionsOf(convert, apiVersion, `${group}/${storage.name}`),
  };
}

function replicasPathsOf({ group, versions }: Crd['spec']): ReadonlyMap<string, string> {
  return new Map(
    versions.flatMap(({ name, subresources }) => {
      const { specReplicasPath } = subresources?.scale ?? {};
      return specReplicasPath === undefined ? [] : [[`${group}/${name}`, specReplicasPath]];
    }),
  );
}

type Conversions = Pick<ServedKind, 'toStorage' | 'fromStorage' | 'conversions'>;

function conversionsOf(
  { converter, stored }: Convert,
  apiVersion: string,
  storage: string,
): Conversions {
  const convert = (object: UnstructuredObject, to: string): UnstructuredObject =>
    object.apiVersion === to
      ? object
      : stored.converted(converter?.convert(object, to) ?? { ...object, apiVersion: to });
  const toStorage = (object: UnstructuredObject): UnstructuredObject => convert(object, storage);
  const read = (object: UnstructuredObject): UnstructuredObject => stored.read(object);
  if (converter === undefined) {
    const shown = new WeakMap<UnstructuredObject, UnstructuredObject>();
    const fromStorage = (object: UnstructuredObject): UnstructuredObject => {
      const own = read(object);
      if (own.apiVersion === apiVersion) return own;
      return keptFor(shown, own, () => convert(own, apiVersion));
    };
    return { toStorage, fromStorage };
  }
  return {
    toStorage,
    fromStorage: (object) => convert(read(object), apiVersion),
    conversions: {
      convert: (object, to) => converter.convert(object, to),
      prepare: (objects) => converter.prepare(objects.map(read), apiVersion),
      fetch: (objects) => converter.fetch(objects.map(read), apiVersion),
      known: (object) => converter.known(read(object), apiVersion),
    },
  };
}

/** Adds `apiVersion`, `kind` and `metadata`, which the schema of a CRD may leave out. */
function withTypeMeta(schema: Schema): Schema {
  const text: Schema = { type: 'string' };
  const properties = {
    ...schema.properties,
    apiVersion: text,
    kind: text,
    metadata: metadataSchema(),
  };
  return { ...schema, properties };
}

function subresourcesOf(
  { group, names }: Crd['spec'],
  { name: version, subresources = {} }: CrdVersion,
): ReadonlyMap<string, ServedSubresource> {
  const writable = ['get', 'patch', 'update'];
  const served: ServedSubresource[] = [];
  if (subresources.status !== undefined) {
    served.push({ name: 'status', kind: { group, version, kind: names.kind }, verbs: writable });
  }
  if (subresources.scale !== undefined) {
    const kind = { group: 'autoscaling', version: 'v1', kind: 'Scale' };
    served.push({ name: 'scale', kind, verbs: writable });
  }
  return new Map(served.map((subresource) => [subresource.name, subresource]));
}

interface CustomType {
  readonly apiVersion: string;
  readonly kind: string;
  readonly schema: Schema | undefined;
}

function decodeCustom(value: Readonly<Record<string, unknown>>, type: CustomType): Decoded {
  const { metadata, kind } = value;
  const { apiVersion } = type;
  const at = new Decoding();
  const decodedMeta = goType('meta/v1.ObjectMeta').decode(metadata ?? {}, at) as object;
  const rest = withoutMembers(value, 'metadata', 'apiVersion', 'kind');
  const unknownFields = at.unknownFields.map((path) => `metadata.${path}`);
  const given = typeof kind === 'string' ? kind : type.kind;
  // The schema does not apply to an object of another kind, such as a list. The validation of the write refuses it.
  const decoded = given === type.kind ? decodeContent(rest, type.schema, unknownFields) : rest;
  const typed = { apiVersion, kind: given, metadata: decodedMeta };
  return { object: { ...typed, ...(sortedMembers(decoded) as object) }, unknownFields };
}

/**
 * Decodes the fields of a custom resource other than its type and metadata. Adds the paths of unknown fields to
 * `unknownFields`.
 */
function decodeContent(
  content: Readonly<Record<string, unknown>>,
  schema: Schema | undefined,
  unknownFields: string[],
): unknown {
  const { value, unknownFields: found } = prune(content, schema);
  unknownFields.push(...found);
  return schema === undefined ? value : decodeEmbedded(value, { schema, path: '', unknownFields });
}

/** Sorts the members of all objects, as the real server writes them. @returns `value` itself if they are sorted */
function sortedMembers(value: unknown): unknown {
  if (Array.isArray(value)) {
    const items = value.map(sortedMembers);
    return items.every((item, index) => item === value[index]) ? (value as unknown[]) : items;
  }
  if (!isJsonObject(value)) return value;
  const names = Object.keys(value);
  const members = names.map((name) => [name, sortedMembers(value[name])] as const);
  const isSorted = members.every(
    ([name, member], index) =>
      member === value[name] && (index === 0 || (names[index - 1] ?? '') < name),
  );
  if (isSorted) return value;
  const result: Record<string, unknown> = {};
  for (const [name, member] of members.sort(([one], [other]) => (one < other ? -1 : 1))) {
    setMember(result, name, member);
  }
  return result;
}

function customRules(crd: Crd['spec'], version: CrdVersion, hasStatus: boolean): KindRules {
  const schema = version.schema?.openAPIV3Schema;
  const scale = version.subresources?.scale;
  const selectable = (version.selectableFields ?? []).map(({ jsonPath }) => ({
    name: jsonPath.replace(/^\./, ''),
    path: compileJsonPath(jsonPath),
  }));
  return {
    unconditionalUpdate: false,
    resets: { status: ['spec', 'metadata'] },
    columns: customColumns(version.additionalPrinterColumns),
    defaults: (object) => fillInDefaults(object, schema),
    validateCreate: (object, errors) => {
      if (schema !== undefined) validateResource(object, { schema, errors });
      validateScaleSpec(object, scale, errors);
      validateScaleStatus(object, scale, errors);
    },
    validateUpdate: (object, old, errors) => {
      if (schema !== undefined) validateResource(object, { schema, errors, old, warn: to(errors) });
      validateScaleSpec(object, scale, errors);
      validateScaleStatus(object, scale, errors);
    },
    validateStatusUpdate: (object, old, errors) => {
      if (schema !== undefined) {
        validateResource(object, { schema, errors, old, statusOnly: true, warn: to(errors) });
      }
      validateScaleStatus(object, scale, errors);
    },
    warnings: finalizerWarnings,
    specChanged: (object, old) => !deepEqual(counted(object, hasStatus), counted(old, hasStatus)),
    selectableFields: (object) =>
      Object.fromEntries(
        selectable.map(({ name, path }) => [name, textOf(readJsonPath(object, path)[0])]),
      ),
    ...(version.deprecated === true && { deprecation: deprecationOf(crd, version) }),
  };
}

/**
 * Returns a function that adds a warning to `errors`. Fields that an update leaves unchanged may stay invalid, with a
 * warning.
 */
function to(errors: FieldErrors): (warning: string) => void {
  return (warning) => errors.warnings.push(warning);
}

function deprecationOf(
  { group, names, versions }: Crd['spec'],
  { name, deprecationWarning }: CrdVersion,
): string {
  const [better] = versions
    .filter(({ served, deprecated }) => served && deprecated !== true)
    .map((version) => version.name)
    .filter((version) => compareVersions(version, name) < 0)
    .sort(compareVersions);
  const remedy = better === undefined ? '' : `; use ${group}/${better} ${names.kind}`;
  return deprecationWarning ?? `${group}/${name} ${names.kind} is deprecated${remedy}`;
}

function counted(object: UnstructuredObject, hasStatus: boolean): unknown {
  const names = ['metadata', 'apiVersion', ...(hasStatus ? ['status'] : [])];
  return withoutMembers(object, ...names);
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === undefined || value === null ? '' : JSON.stringify(value);
}

const ageColumn: CustomColumn = {
  name: 'Age',
  type: 'date',
  jsonPath: '.metadata.creationTimestamp',
  get description() {
    return metadataDoc('creationTimestamp');
  },
};

/**
 * Returns the columns of a custom resource: its name, then the columns of its CRD, or its age if
 * the CRD has no columns.
 */
function customColumns(columns: readonly CustomColumn[] | undefined): TableColumn[] {
  const own = columns === undefined || columns.length === 0 ? [ageColumn] : columns;
  return [nameColumn, ...own.map(tableColumn)];
}

function tableColumn(column: CustomColumn): TableColumn {
  const { name, type, jsonPath, format = '', priority = 0 } = column;
  const path = compileJsonPath(jsonPath);
  return {
    name,
    type: type as TableColumn['type'],
    format,
    priority,
    // A getter, because the description of `metadata` is unpacked at its first use.
    get description() {
      const ofPath = `Custom resource definition column (in JSONPath format): ${jsonPath}`;
      return column.description ?? ofPath;
    },
    cell: (object: UnstructuredObject, nowMs: number) => {
      const [value] = readJsonPath(object, path);
      return cellOf(value, type, nowMs);
    },
  };
}

function cellOf(value: unknown, type: string, nowMs: number): unknown {
  if (type === 'date') return typeof value === 'string' ? ageText(value, nowMs) : null;
  if (value === undefined) return null;
  if (type === 'string') {
    if (value === null) return '<no value>';
    return typeof value === 'string' ? value : JSON.stringify(value);
  }
  if (type === 'boolean') return typeof value === 'boolean' ? value : null;
  if (typeof value !== 'number') return null;
  return type === 'integer' ? Math.trunc(value) : value;
}

/**
 * Adapts stored custom resources to their current CRD: an object may be older than the schema, or
 * come from another version.
 */
class StoredObjects {
  readonly #schemas: ReadonlyMap<string, Schema | undefined>;
  readonly #log: MvccLog;
  /**
   * The `resourceVersion` of the CRD with these schemas. Objects with a later one were written with these schemas, or
   * come from a snapshot.
   */
  readonly #since: number;
  readonly #read = new WeakMap<UnstructuredObject, UnstructuredObject>();

  constructor(log: MvccLog, { metadata, spec }: Crd) {
    this.#log = log;
    this.#schemas = new Map(
      spec.versions.map(({ name, schema }) => [name, schema?.openAPIV3Schema]),
    );
    this.#since = Number(metadata.resourceVersion ?? '0');
  }

  /**
   * Returns a stored object as clients read it: pruned and with the defaults of its stored version.
   * @returns `stored` itself if nothing changes
   */
  read(stored: UnstructuredObject): UnstructuredObject {
    if (this.#isCurrent(stored)) return stored;
    return keptFor(this.#read, stored, () => this.#fitted(stored, defaultFields));
  }

  /** Adapts an object after its conversion: it is pruned by its new version, without defaults. */
  converted(object: UnstructuredObject): UnstructuredObject {
    return this.#fitted(object, dropNulls);
  }

  /**
   * Returns whether an object was written with the current schema. Always false for a CRD with several
   * versions, because the object may have been written with the schema of another version.
   */
  #isCurrent({ metadata }: UnstructuredObject): boolean {
    const since = Math.max(this.#since, this.#log.restoredRevision);
    return this.#schemas.size === 1 && Number(metadata.resourceVersion ?? '0') > since;
  }

  #fitted(
    object: UnstructuredObject,
    fit: (value: unknown, schema: Schema) => unknown,
  ): UnstructuredObject {
    const schema = this.#schemas.get(versionOf(object.apiVersion));
    if (schema === undefined) return object;
    const rest = withoutMembers(object, 'apiVersion', 'kind', 'metadata');
    const { value } = prune(rest, schema);
    fit(value, schema);
    if (deepEqual(value, rest)) return object;
    const { apiVersion, kind, metadata } = object;
    return { apiVersion, kind, metadata, ...(value as object) };
  }
}

/**
 * Returns the result of `make` for `object`, and caches it if `object` is frozen. An object that is
 * not frozen may still change.
 */
function keptFor(
  known: WeakMap<UnstructuredObject, UnstructuredObject>,
  object: UnstructuredObject,
  make: () => UnstructuredObject,
): UnstructuredObject {
  const before = known.get(object);
  if (before !== undefined) return before;
  const made = make();
  if (Object.isFrozen(object)) known.set(object, deepFreeze(made));
  return made;
}
