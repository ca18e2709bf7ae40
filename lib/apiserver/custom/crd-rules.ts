import { validateStructure } from '../../crd/definition/schema-structure.js';
import { isConditionTrue } from '../../object/conditions.js';
import type { UnstructuredObject } from '../../object/kubernetes-object.js';
import type { KindRules } from '../rules/kind-rules.js';
import { specChanged } from '../rules/spec-changed.js';
import type { FieldErrors } from '../validation/field-errors.js';
import { validateImmutable } from '../validation/immutable.js';
import { label1035Problems, subdomainProblems } from '../validation/names.js';
import { crdOf, withCondition } from './crd.js';
import type { Crd, CrdNames, CrdVersion } from './crd.js';
import { formatWarnings } from './custom-warnings.js';
import { deepEqual } from '../../object/deep-equal.js';
import { withoutMembers } from '../without-members.js';

/** The finalizer that holds a CRD until its objects are gone. */
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
  const { status } = object as unknown as { status?: { storedVersions?: unknown[] | null } };
  if (status === undefined || (status.storedVersions ?? []).length > 0) return;
  status.storedVersions = [...storedVersionsOf(crdOf(object))];
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

/** Checks that stored versions stay in the CRD: objects in a missing version would be unreadable. */
function validateStoredVersions({ spec, status }: Crd, errors: FieldErrors): void {
  for (const [index, stored] of (status?.storedVersions ?? []).entries()) {
    if (spec.versions.some(({ name }) => name === stored)) continue;
    const until = `a storage migration ensures no data remains persisted in ${stored}`;
    const why =
      `missing from spec.versions; ${stored} was previously a storage version, and must remain in ` +
      `spec.versions until ${until} and removes ${stored} from status.storedVersions`;
    errors.invalid(`status.storedVersions[${index}]`, stored, why);
  }
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

/** Checks the versions. Parts that all versions share are checked once, and errors show them as one. */
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
    const at = { field: `${parent}.openAPIV3Schema`, errors };
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

/** The rules of CustomResourceDefinitions. */
export const crdRules: KindRules = {
  defaults,
  unconditionalUpdate: false,
  specChanged,
  validate,
  warnings: formatWarnings,
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
    const [names, namesBefore] = [spec.names, before.names];
    const changes = [
      { field: 'spec.scope', value: spec.scope, old: before.scope },
      { field: 'spec.names.kind', value: names.kind, old: namesBefore.kind },
      { field: 'spec.group', value: spec.group, old: before.group },
      { field: 'spec.names.plural', value: names.plural, old: namesBefore.plural },
    ];
    // Scope and kind may change until the CRD is established, because it has no objects yet.
    const fixed = isConditionTrue(crdOf(old).status?.conditions ?? [], 'Established') ? 0 : 2;
    for (const change of changes.slice(fixed)) validateImmutable(change, errors);
    validateStoredVersions(crdOf(object), errors);
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
