import { allParts, validateStructure, isKnownFormat } from '../../crd/internal.js';
import {
  isConditionTrue,
  deepEqual,
  withoutMembers,
  label1035Problems,
  qualifiedNameProblems,
  subdomainProblems,
} from '../../object/index.js';
import type { ObjectMeta, UnstructuredObject, Schema } from '../../object/index.js';
import { validateApproval } from './api-approval.js';
import {
  validateConversion,
  validateRoot,
  validateSelectable,
  validateVersionFields,
} from './crd-checks.js';
import { hadEmptyMember } from '../go-json/go-types.js';
import type { CustomColumn, ScalePaths } from '../kinds/served-kind.js';
import type { WebhookAddress } from '../outside/webhook-client.js';
import type { KindRules, ServerView } from '../rules/kind-rules.js';
import { specChanged } from '../rules/kind-rules.js';
import type { FieldErrors } from '../../crd/internal.js';

/** The fields of a CustomResourceDefinition that this server reads. */
export interface Crd {
  readonly metadata: ObjectMeta;
  readonly spec: CrdSpec;
  readonly status?: CrdStatus;
}

interface CrdSpec {
  readonly group: string;
  readonly scope: 'Namespaced' | 'Cluster';
  readonly names: CrdNames;
  readonly versions: readonly CrdVersion[];
  readonly conversion?: CrdConversion;
  readonly preserveUnknownFields?: boolean;
}

/** The conversion of objects between versions. */
interface CrdConversion {
  readonly strategy: string;
  readonly webhook?: {
    /** Required for the strategy `Webhook`. */
    readonly clientConfig?: WebhookAddress;
    readonly conversionReviewVersions: readonly string[];
  };
}

/** The names of a custom resource. */
export interface CrdNames {
  readonly plural: string;
  readonly kind: string;
  readonly singular?: string;
  readonly listKind?: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
}

/** A version of a custom resource. */
export interface CrdVersion {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  readonly deprecated?: boolean;
  readonly deprecationWarning?: string;
  readonly schema?: { readonly openAPIV3Schema?: Schema };
  readonly subresources?: { readonly status?: object; readonly scale?: ScalePaths };
  readonly additionalPrinterColumns?: readonly CustomColumn[];
  readonly selectableFields?: readonly { readonly jsonPath: string }[];
}

interface CrdStatus {
  readonly conditions?: readonly CrdCondition[] | null;
  readonly acceptedNames?: CrdNames;
  readonly storedVersions?: readonly string[] | null;
}

export interface CrdCondition {
  readonly type: string;
  readonly status: string;
  readonly lastTransitionTime?: string;
  readonly reason?: string;
  readonly message?: string;
}

/** Returns a stored CRD with its TypeScript type. The decoder has already checked its fields. */
export function crdOf(object: UnstructuredObject): Crd {
  return object as unknown as Crd;
}

/** Returns the CRD with `condition`, which replaces the previous condition of its type. */
export function withCondition(
  object: UnstructuredObject,
  condition: CrdCondition,
): UnstructuredObject {
  const { status } = crdOf(object);
  const others = (status?.conditions ?? []).filter(({ type }) => type !== condition.type);
  return { ...object, status: { ...status, conditions: [...others, condition] } };
}

/** The collection of CRDs in the storage. */
export const crdCollection = 'apiextensions.k8s.io/customresourcedefinitions';

/** The finalizer that holds a CRD until its objects are gone. */
export const cleanupFinalizer = 'customresourcecleanup.apiextensions.k8s.io';

interface MutableNames {
  singular?: string;
  listKind?: string;
  kind: string;
}

interface MutableConversion {
  strategy: string;
  webhook?: {
    clientConfig?: { service?: { port?: number } };
    conversionReviewVersions: readonly string[] | null;
  };
}

function defaults(object: UnstructuredObject): void {
  // The decoder writes `spec` and `status` even if they are absent, as Go does.
  const { spec, status } = object as unknown as {
    spec: { names: MutableNames; conversion?: MutableConversion };
    status: { storedVersions?: readonly string[] | null };
  };
  spec.names.singular ??= spec.names.kind.toLowerCase();
  if (spec.names.kind !== '') spec.names.listKind ??= `${spec.names.kind}List`;
  spec.conversion ??= { strategy: 'None' };
  const { webhook } = spec.conversion;
  // In the internal type of the real server, the two members of `webhook` belong to `conversion`. So a `webhook`
  // without them is dropped.
  const isEmpty = webhook?.clientConfig === undefined && webhook?.conversionReviewVersions === null;
  if (isEmpty) delete spec.conversion.webhook;
  const { service } = webhook?.clientConfig ?? {};
  if (service !== undefined) service.port ??= 443;
  if ((status.storedVersions ?? []).length > 0) return;
  status.storedVersions = [...storedVersionsOf(crdOf(object))];
}

function storedVersionsOf({ spec, status }: Crd): readonly string[] {
  // The decoder sets a missing list to null, as Go does.
  const versions = (spec.versions as readonly CrdVersion[] | null) ?? [];
  const storage = versions.find((version) => version.storage)?.name;
  const before = status?.storedVersions ?? [];
  return storage === undefined || before.includes(storage) ? before : [...before, storage];
}

function validate(object: UnstructuredObject, errors: FieldErrors, server: ServerView): void {
  const crd = crdOf(object);
  const { spec } = crd;
  validateGroup(spec.group, errors);
  errors.requiredOneOf('spec.scope', spec.scope, ['Cluster', 'Namespaced']);
  const versions = (spec.versions as readonly CrdVersion[] | null) ?? [];
  validateVersions(versions, errors, server);
  if (storedVersionsOf(crd).length === 0) {
    errors.invalid('status.storedVersions', null, 'must have at least one stored version');
  }
  if (new Set(versions.map(({ name }) => name)).size < versions.length) {
    errors.invalid('spec.versions', spec.versions, 'must contain unique version names');
  }
  if (versions.filter((version) => version.storage).length !== 1) {
    const why = 'must have exactly one version marked as storage version';
    errors.invalid('spec.versions', spec.versions, why);
  }
  // The real server also validates `spec.version`, the older field with the name of the first version.
  errors.optionalText('spec.version', versions[0]?.name, label1035Problems);
  validateNames(spec.names, errors);
  validateConversion(crd, errors);
  if (spec.preserveUnknownFields === true) {
    const why =
      'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead';
    errors.invalid('spec.preserveUnknownFields', true, why);
  }
}

/** Checks that stored versions stay in the CRD: objects in a missing version would be unreadable. */
function validateStoredVersions({ spec, status }: Crd, errors: FieldErrors): void {
  // The decoder sets a missing list to null, as Go does.
  const versions = (spec.versions as typeof spec.versions | null) ?? [];
  errors.each('status.storedVersions', status?.storedVersions, (stored, errors) => {
    if (versions.some(({ name }) => name === stored)) return;
    const until = `a storage migration ensures no data remains persisted in ${stored}`;
    const why =
      `missing from spec.versions; ${stored} was previously a storage version, and must remain in ` +
      `spec.versions until ${until} and removes ${stored} from status.storedVersions`;
    errors.invalid('', stored, why);
  });
}

function validateNew(object: UnstructuredObject, errors: FieldErrors): void {
  const crd = crdOf(object);
  validateApproval(crd, errors);
  const { spec, metadata } = crd;
  const wanted = `${spec.names.plural}.${spec.group}`;
  if (metadata.name === undefined || metadata.name === wanted) return;
  errors.invalid('metadata.name', metadata.name, 'must be spec.names.plural+"."+spec.group');
}

function validateGroup(group: string, errors: FieldErrors): void {
  const problems = subdomainProblems(group);
  if (group === '') errors.required('spec.group');
  else if (problems.length > 0) errors.invalidEach('spec.group', group, problems);
  else if (!group.includes('.')) {
    errors.invalid('spec.group', group, 'should be a domain with at least one dot');
  }
}

function validateNames(names: CrdNames, errors: FieldErrors): void {
  for (const member of ['plural', 'singular', 'kind', 'listKind'] as const) {
    const { [member]: name = '' } = names;
    const field = `spec.names.${member}`;
    if (name === '') {
      errors.required(field);
      continue;
    }
    const isMixed = member === 'kind' || member === 'listKind';
    const problems = label1035Problems(isMixed ? name.toLowerCase() : name);
    const prefix = isMixed ? 'may have mixed case, but should otherwise match: ' : '';
    errors.invalidEach(
      field,
      name,
      problems.map((problem) => prefix + problem),
    );
  }
  if (names.listKind !== undefined && names.listKind === names.kind) {
    errors.invalid('spec.names.listKind', names.listKind, 'kind and listKind may not be the same');
  }
  for (const member of ['shortNames', 'categories'] as const) {
    errors.each(`spec.names.${member}`, names[member], (name, errors) => {
      errors.text('', name, label1035Problems);
    });
  }
}

/**
 * Checks the versions. Parts that are equal in all versions are checked once, and errors name the field that they
 * share.
 */
function validateVersions(
  versions: readonly CrdVersion[],
  errors: FieldErrors,
  server: ServerView,
): void {
  const before = errors.causes.length;
  errors.each('spec.versions', versions, (version, errors) => {
    const { name, schema, deprecated, deprecationWarning } = version;
    errors.text('name', name, label1035Problems);
    if (deprecationWarning !== undefined) {
      const problems = warningProblems(deprecationWarning, deprecated);
      errors.invalidEach('deprecationWarning', deprecationWarning, problems);
    }
    if (schema?.openAPIV3Schema === undefined) errors.required('schema.openAPIV3Schema');
  });
  const [first] = versions;
  if (first === undefined) return;
  const same = (
    member: 'schema' | 'additionalPrinterColumns' | 'subresources' | 'selectableFields',
  ): boolean => versions.every((version) => deepEqual(version[member], first[member]));
  const oneSchema = same('schema');
  const hasStatus = ({ subresources }: CrdVersion): boolean => subresources?.status !== undefined;
  for (const [index, version] of (oneSchema ? [first] : versions).entries()) {
    const parent = oneSchema ? 'spec.validation' : `spec.versions[${index}].schema`;
    const field = `${parent}.openAPIV3Schema`;
    const { openAPIV3Schema: root } = version.schema ?? {};
    if (root === undefined) continue;
    if (oneSchema ? versions.some(hasStatus) : hasStatus(version))
      validateRoot(root, errors.at(field));
    refuseEmptyDependencies(root, errors.at(field));
    validateStructure(root, { field, errors, isServer: true });
  }
  const isSound = errors.causes.length === before;
  const members = ['additionalPrinterColumns', 'subresources', 'selectableFields'] as const;
  const shared = versions.length === 1 || members.every(same);
  for (const [index, version] of (shared ? [first] : versions).entries()) {
    const field = shared ? 'spec' : `spec.versions[${index}]`;
    validateVersionFields(version, errors.at(field));
    if (isSound && !server.looseCustomResources) validateSelectable(version, errors.at(field));
  }
}

/** Refuses an empty `dependencies`, which the decoded schema lacks. */
function refuseEmptyDependencies(schema: Schema, errors: FieldErrors): void {
  if (hadEmptyMember(schema, 'dependencies')) {
    errors.forbidden('dependencies', 'dependencies is not supported');
  }
  for (const [path, part] of allParts(schema)) refuseEmptyDependencies(part, errors.at(path));
}

function warningProblems(warning: string, deprecated = false): readonly string[] {
  if (!deprecated) return ['can only be set for deprecated versions'];
  const isUnprintable = (character: string): boolean =>
    !/^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u.test(character);
  const characters = Array.from(warning);
  const first = characters.findIndex(isUnprintable);
  const index = Buffer.byteLength(characters.slice(0, first).join(''));
  return [
    ...(Buffer.byteLength(warning) > 256 ? ['must be <= 256 characters long'] : []),
    ...(warning === '' ? ['must not be an empty string'] : []),
    ...(first < 0
      ? []
      : [
          `must only contain printable UTF-8 characters; non-printable character found at index ${index}`,
        ]),
  ];
}

export const crdRules: KindRules = {
  defaults,
  ...{ unconditionalUpdate: false, ownPreconditions: true, dependents: false },
  specChanged,
  validate,
  validateCreate: validateNew,
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
    // Scope and kind may change until the CRD is established, because it has no objects yet.
    if (isConditionTrue(crdOf(old).status?.conditions ?? [], 'Established')) {
      errors.immutable('spec.scope', spec.scope, before.scope);
      errors.immutable('spec.names.kind', spec.names.kind, before.names.kind);
    }
    errors.immutable('spec.group', spec.group, before.group);
    errors.immutable('spec.names.plural', spec.names.plural, before.names.plural);
    validateStoredVersions(crdOf(object), errors);
    validateApproval(crdOf(object), errors, crdOf(old));
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

const ownFinalizers = new Set(['orphan', 'foregroundDeletion', 'kubernetes']);

/** Returns warnings about finalizers that a write adds to a custom resource. */
export function finalizerWarnings(
  { metadata }: UnstructuredObject,
  old?: UnstructuredObject,
): readonly string[] {
  const before = new Set(old?.metadata.finalizers);
  const added = (metadata.finalizers ?? []).filter((name) => !before.has(name));
  return [...new Set(added)].toSorted().flatMap((name) => {
    const problems = [...qualifiedNameProblems(name)];
    if (!name.includes('/') && !ownFinalizers.has(name)) {
      const path = name.includes('.') ? ' including a path (/)' : '';
      problems.push(
        `prefer a domain-qualified finalizer name${path} to avoid accidental conflicts with other finalizer writers`,
      );
    }
    return problems.map((problem) => `metadata.finalizers: ${JSON.stringify(name)}: ${problem}`);
  });
}

/** Returns warnings about new formats in a CRD that the server does not validate. */
export function formatWarnings(
  crd: UnstructuredObject,
  old?: UnstructuredObject,
): readonly string[] {
  const before = old === undefined ? new Set() : unknownFormats(old);
  return [...unknownFormats(crd)]
    .filter((format) => !before.has(format))
    .map((format) => `unrecognized format ${JSON.stringify(format)}`);
}

function unknownFormats(crd: UnstructuredObject): Set<string> {
  const found = new Set<string>();
  for (const { schema } of crdOf(crd).spec.versions) {
    if (schema?.openAPIV3Schema !== undefined) collect(schema.openAPIV3Schema, found);
  }
  return found;
}

function collect(schema: Schema, found: Set<string>): void {
  if (!isKnownFormat(schema)) found.add(schema.format ?? '');
  const { properties = {}, items, additionalProperties, not, allOf = [], anyOf = [] } = schema;
  const inner = [...allOf, ...anyOf, ...(schema.oneOf ?? []), ...Object.values(properties)];
  for (const part of [...inner, items, additionalProperties, not]) {
    if (typeof part === 'object') collect(part, found);
  }
}
