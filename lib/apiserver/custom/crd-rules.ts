import type { Schema } from '../../object/schema.js';
import type { UnstructuredObject } from '../../object/kubernetes-object.js';
import type { KindRules } from '../rules/kind-rules.js';
import { specChanged } from '../rules/spec-changed.js';
import type { FieldErrors } from '../validation/field-errors.js';
import { validateImmutable } from '../validation/immutable.js';
import { label1035Problems, subdomainProblems } from '../validation/names.js';
import { crdOf, withCondition } from './crd.js';
import type { Crd, CrdNames, CrdVersion } from './crd.js';
import { deepEqual } from '../writes/deep-equal.js';
import { withoutMembers } from '../without-members.js';

/** Holds a CRD until its objects are gone. */
export const cleanupFinalizer = 'customresourcecleanup.apiextensions.k8s.io';

interface MutableNames {
  singular?: string;
  listKind?: string;
  kind: string;
}

function defaults(object: UnstructuredObject): void {
  const { spec } = object as unknown as {
    spec?: { names: MutableNames; conversion?: { strategy: string } };
  };
  if (spec === undefined) return;
  spec.names.singular ??= spec.names.kind.toLowerCase();
  if (spec.names.kind !== '') spec.names.listKind ??= `${spec.names.kind}List`;
  spec.conversion ??= { strategy: 'None' };
}

function storedVersionsOf({ spec, status }: Crd): readonly string[] {
  const storage = spec.versions.find((version) => version.storage)?.name;
  const before = status?.storedVersions ?? [];
  return storage === undefined || before.includes(storage) ? before : [...before, storage];
}

function validate(object: UnstructuredObject, errors: FieldErrors): void {
  const crd = crdOf(object);
  const { spec, metadata } = crd;
  if (metadata.name !== `${spec.names.plural}.${spec.group}`) {
    errors.invalid('metadata.name', metadata.name, 'must be spec.names.plural+"."+spec.group');
  }
  if (spec.group === '') errors.required('spec.group');
  else
    for (const problem of subdomainProblems(spec.group))
      errors.invalid('spec.group', spec.group, problem);
  const scopes = ['Cluster', 'Namespaced'];
  if (!scopes.includes(spec.scope)) errors.notSupported('spec.scope', spec.scope, scopes);
  const versions = (spec.versions as readonly CrdVersion[] | null) ?? [];
  validateVersions(versions, errors);
  if (storedVersionsOf(crd).length === 0) {
    errors.invalid('status.storedVersions', null, 'must have at least one stored version');
  }
  if (versions.filter((version) => version.storage).length !== 1) {
    const why = 'must have exactly one version marked as storage version';
    errors.invalid('spec.versions', versions, why);
  }
  validateNames(spec.names, errors);
}

function validateNames(names: CrdNames, errors: FieldErrors): void {
  for (const member of ['plural', 'singular', 'kind', 'listKind'] as const) {
    const { [member]: name = '' } = names;
    const field = `spec.names.${member}`;
    if (name === '') {
      if (member !== 'singular') errors.required(field);
      continue;
    }
    for (const problem of label1035Problems(name.toLowerCase()))
      errors.invalid(field, name, problem);
  }
  if (names.listKind !== undefined && names.listKind === names.kind) {
    const why = 'kind and listKind may not be the same';
    errors.invalid('spec.names.listKind', names.listKind, why);
  }
}

/** What all versions share is checked, and named in errors, as if it was there once. */
function validateVersions(versions: readonly CrdVersion[], errors: FieldErrors): void {
  for (const [index, { name, schema }] of versions.entries()) {
    const field = `spec.versions[${index}]`;
    for (const problem of label1035Problems(name)) errors.invalid(`${field}.name`, name, problem);
    if (schema?.openAPIV3Schema === undefined) errors.required(`${field}.schema.openAPIV3Schema`);
  }
  const [first] = versions;
  if (first === undefined) return;
  const same = (member: 'schema' | 'additionalPrinterColumns'): boolean =>
    versions.every((version) => deepEqual(version[member], first[member]));
  const oneSchema = same('schema');
  for (const [index, { schema }] of (oneSchema ? [first] : versions).entries()) {
    const parent = oneSchema ? 'spec.validation' : `spec.versions[${index}].schema`;
    const at = { field: `${parent}.openAPIV3Schema`, root: true, errors };
    if (schema?.openAPIV3Schema !== undefined) validateStructure(schema.openAPIV3Schema, at);
  }
  const sameColumns = same('additionalPrinterColumns');
  for (const [index, version] of (sameColumns ? [first] : versions).entries()) {
    validateColumns(version, sameColumns ? 'spec' : `spec.versions[${index}]`, errors);
  }
}

function validateColumns(version: CrdVersion, field: string, errors: FieldErrors): void {
  for (const [index, { name, type }] of (version.additionalPrinterColumns ?? []).entries()) {
    const at = `${field}.additionalPrinterColumns[${index}]`;
    if (name === '') errors.required(`${at}.name`);
    const types = ['boolean', 'date', 'integer', 'number', 'string'];
    if (!types.includes(type)) errors.notSupported(`${at}.type`, type, types);
  }
}

interface Structure {
  readonly field: string;
  readonly root?: boolean;
  readonly errors: FieldErrors;
}

/** A structural schema has a type everywhere; see "Specifying a structural schema". */
function validateStructure(schema: Schema, { field, root = false, errors }: Structure): void {
  const untyped =
    schema.type === undefined &&
    schema['x-kubernetes-int-or-string'] !== true &&
    schema['x-kubernetes-preserve-unknown-fields'] !== true;
  if (root && schema.type === undefined) {
    errors.required(`${field}.type`, 'must not be empty at the root');
  } else if (root && schema.type !== 'object') {
    errors.invalid(`${field}.type`, schema.type, 'must be object at the root');
  } else if (untyped) {
    errors.required(`${field}.type`, 'must not be empty for specified object fields');
  }
  validateListKeys(schema, field, errors);
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    validateStructure(property, { field: `${field}.properties[${name}]`, errors });
  }
  if (schema.items !== undefined) {
    validateStructure(schema.items, { field: `${field}.items`, errors });
  } else if (schema.type === 'array') {
    errors.required(`${field}.items`, 'must be specified');
  }
  if (typeof schema.additionalProperties === 'object') {
    const at = `${field}.additionalProperties`;
    validateStructure(schema.additionalProperties, { field: at, errors });
    if (schema.properties !== undefined) {
      errors.forbidden(at, 'additionalProperties and properties are mutual exclusive');
    }
  }
}

function validateListKeys(schema: Schema, field: string, errors: FieldErrors): void {
  const type = schema['x-kubernetes-list-type'];
  if (type === undefined) return;
  if (!['atomic', 'set', 'map'].includes(type)) {
    errors.notSupported(`${field}.x-kubernetes-list-type`, type, ['atomic', 'map', 'set']);
  }
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  if (type === 'map' && keys.length === 0) {
    const why = 'must not be empty if x-kubernetes-list-type is map';
    errors.required(`${field}.x-kubernetes-list-map-keys`, why);
  }
  for (const key of type === 'map' ? keys : []) {
    const property = schema.items?.properties?.[key];
    const required = schema.items?.required?.includes(key) === true;
    if (property === undefined) {
      const at = `${field}.x-kubernetes-list-map-keys`;
      errors.invalid(at, keys, 'entries must all be names of item properties');
    } else if (!required && property.default === undefined) {
      const why =
        'this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property';
      errors.required(`${field}.items.properties[${key}].default`, why);
    }
  }
}

/** CustomResourceDefinitions. */
export const crdRules: KindRules = {
  defaults,
  unconditionalUpdate: false,
  specChanged,
  validate,
  initialStatus: (object) => ({
    conditions: null,
    acceptedNames: { plural: '', kind: '' },
    storedVersions: storedVersionsOf(crdOf(object)),
  }),
  prepareForUpdate: (object) => {
    const storedVersions = storedVersionsOf(crdOf(object));
    object['status'] = { ...(object['status'] as object | undefined), storedVersions };
  },
  validateUpdate: (object, old, errors) => {
    const [{ spec }, { spec: before }] = [crdOf(object), crdOf(old)];
    for (const member of ['scope', 'group'] as const) {
      const change = { field: `spec.${member}`, value: spec[member], old: before[member] };
      validateImmutable(change, errors);
    }
    const kinds = { field: 'spec.names.kind', value: spec.names.kind, old: before.names.kind };
    const plurals = {
      field: 'spec.names.plural',
      value: spec.names.plural,
      old: before.names.plural,
    };
    for (const change of [kinds, plurals]) validateImmutable(change, errors);
  },
  isFinalized: ({ metadata }) => metadata.deletionTimestamp !== undefined,
  markDeleted: (object, old) => {
    if (old.metadata.deletionTimestamp !== undefined) return object;
    const metadata = withoutMembers(object.metadata, 'deletionGracePeriodSeconds');
    const finalizers = [...new Set([...(metadata.finalizers ?? []), cleanupFinalizer])];
    const { generation = 1 } = old.metadata;
    const marked = { ...object, metadata: { ...metadata, generation, finalizers } };
    return withCondition(marked, {
      type: 'Terminating',
      status: 'True',
      lastTransitionTime: metadata.deletionTimestamp ?? '',
      reason: 'InstanceDeletionPending',
      message:
        'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
    });
  },
};
