import type { UnstructuredObject } from '../../object/kubernetes-object.js';
import type { Schema } from '../../object/schema.js';
import { Decoding } from '../go-json/decoding.js';
import { goType } from '../go-json/go-types.js';
import { definition } from '../kinds/definitions.js';
import type { Decoded, ServedKind, ServedSubresource } from '../kinds/served-kind.js';
import type { KindRules } from '../rules/kind-rules.js';
import { FieldErrors } from '../validation/field-errors.js';
import { deepEqual } from '../writes/deep-equal.js';
import type { Crd, CrdVersion } from './crd.js';
import { customColumns } from './custom-columns.js';
import { defaultFields } from '../../crd/validation/default-fields.js';
import { compileJsonPath, readJsonPath } from '../../crd/validation/json-path.js';
import { prune } from '../../crd/validation/prune.js';
import { validateSchema } from '../../crd/validation/validate-schema.js';
import { withoutMembers } from '../without-members.js';

const verbs = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'];
const objectMeta = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta';

/** The kinds of a CRD, one for each version that is served. */
export function customKinds(crd: Crd): readonly ServedKind[] {
  return crd.spec.versions
    .filter(({ served }) => served)
    .map((version) => customKind(crd, version));
}

function customKind({ metadata, spec }: Crd, version: CrdVersion): ServedKind {
  const { group, names, scope } = spec;
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
      scale: version.subresources?.scale,
      hasStatus,
      columns: version.additionalPrinterColumns ?? [],
      terminating: metadata.deletionTimestamp !== undefined,
    },
    schema: () => (schema === undefined ? undefined : (full ??= withTypeMeta(schema))),
    decode: (value) => decodeCustom(value, { apiVersion, kind: names.kind, schema }),
    toStorage: (object) => inVersion(object, `${group}/${storage.name}`),
    fromStorage: (object) => inVersion(object, apiVersion),
  };
}

function inVersion(object: UnstructuredObject, apiVersion: string): UnstructuredObject {
  return object.apiVersion === apiVersion ? object : { ...object, apiVersion };
}

/** A CRD's schema says nothing of what every object has. */
function withTypeMeta(schema: Schema): Schema {
  const text: Schema = { type: 'string' };
  const properties = {
    ...schema.properties,
    apiVersion: text,
    kind: text,
    metadata: definition(objectMeta),
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

function decodeCustom(
  value: Readonly<Record<string, unknown>>,
  { apiVersion, kind, schema }: CustomType,
): Decoded {
  const { metadata } = value;
  const rest = withoutMembers(value, 'metadata', 'apiVersion', 'kind');
  const at = new Decoding();
  const decodedMeta = goType('meta/v1.ObjectMeta').decode(metadata ?? {}, at) as object;
  const { value: pruned, unknownFields } = prune(rest, schema);
  const object = { apiVersion, kind, metadata: decodedMeta, ...(pruned as object) };
  const unknownMeta = at.unknownFields.map((path) => `metadata.${path}`);
  return { object, unknownFields: [...unknownMeta, ...unknownFields] };
}

function customRules(crd: Crd['spec'], version: CrdVersion, hasStatus: boolean): KindRules {
  const schema = version.schema?.openAPIV3Schema;
  const selectable = (version.selectableFields ?? []).map(({ jsonPath }) => ({
    name: jsonPath.replace(/^\./, ''),
    path: compileJsonPath(jsonPath),
  }));
  const validate: NonNullable<KindRules['validateUpdate']> = (object, old, errors) => {
    if (schema !== undefined) {
      validateSchema(object, { schema, path: '', errors, old: withoutMeta(old) });
    }
  };
  return {
    unconditionalUpdate: false,
    columns: customColumns(version.additionalPrinterColumns),
    defaults: (object) => defaultFields(object, schema),
    validateCreate: (object, errors) => {
      if (schema !== undefined) validateSchema(object, { schema, path: '', errors });
    },
    validateUpdate: validate,
    validateStatusUpdate: (object, old, errors) => {
      validateStatus(schema?.properties?.['status'], [object['status'], old['status']], errors);
    },
    specChanged: (object, old) => !deepEqual(counted(object, hasStatus), counted(old, hasStatus)),
    selectableFields: (object) =>
      Object.fromEntries(
        selectable.map(({ name, path }) => [name, textOf(readJsonPath(object, path)[0])]),
      ),
    ...(version.deprecated === true && { deprecation: deprecationOf(crd, version) }),
  };
}

function deprecationOf(
  { group, names }: Crd['spec'],
  { name, deprecationWarning }: CrdVersion,
): string {
  return deprecationWarning ?? `${group}/${name} ${names.kind} is deprecated`;
}

/** A status is checked by itself: messages leave out where it is, fields don't. */
function validateStatus(
  schema: Schema | undefined,
  [status, old]: readonly [unknown, unknown],
  errors: FieldErrors,
): void {
  if (schema === undefined || status === undefined) return;
  const own = new FieldErrors();
  validateSchema(status, { schema, path: '', errors: own, old });
  for (const cause of own.causes) {
    const { field = '' } = cause;
    errors.causes.push({ ...cause, field: field === '' ? 'status' : `status.${field}` });
  }
}

/** The whole object is never unchanged: its parts are compared one by one. */
function withoutMeta(object: UnstructuredObject): unknown {
  return withoutMembers(object, 'metadata');
}

function counted(object: UnstructuredObject, hasStatus: boolean): unknown {
  const names = ['metadata', 'apiVersion', ...(hasStatus ? ['status'] : [])];
  return withoutMembers(object, ...names);
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === undefined || value === null ? '' : JSON.stringify(value);
}
