import type { V1LabelSelector, V1ObjectMeta } from '@kubernetes/client-node';
import type { FieldErrors } from '../../crd/internal.js';
import {
  deepEqual,
  matchesLabels,
  groupOf,
  versionOf,
  generateNameProblems,
  labelProblems,
  labelValueProblems,
  nameProblems,
  pathSegmentProblems,
  qualifiedNameProblems,
  quoted,
} from '../../object/index.js';
import type {
  ObjectMeta,
  OwnerReference,
  LabelSelector as SelectorObject,
  Wire,
  NameFormat,
} from '../../object/index.js';
import { isOperatorError } from '../../system/index.js';
import { hadEmptyMember } from '../go-json/go-types.js';

/** The requirements of a kind on `metadata`. */
interface MetaRules {
  readonly namespaced: boolean;
  readonly nameFormat: NameFormat;
}

const annotationsLimit = 256 * 1024;
const immutable = 'field is immutable';

export function validateMeta(metadata: ObjectMeta, errors: FieldErrors, rules: MetaRules): void {
  const { namespace = '' } = metadata;
  validateName(metadata, rules.nameFormat, errors);
  if (rules.namespaced) {
    errors.invalidEach('metadata.namespace', namespace, labelProblems(namespace));
  } else if (namespace !== '') {
    errors.forbidden('metadata.namespace', 'not allowed on this type');
  }
  validateLabels(metadata.labels, errors.at('metadata.labels'));
  validateAnnotations(metadata.annotations, errors.at('metadata.annotations'));
  validateOwnerReferences(metadata.ownerReferences ?? [], errors);
  validateFinalizers(metadata.finalizers ?? [], errors);
}

function validateName(metadata: ObjectMeta, format: NameFormat, errors: FieldErrors): void {
  const { name = '', generateName } = metadata;
  errors.optionalText('metadata.generateName', generateName, (prefix) =>
    generateNameProblems(prefix, format),
  );
  if (name === '') errors.required('metadata.name', 'name or generateName is required');
  else errors.invalidEach('metadata.name', name, nameProblems(name, format));
}

/**
 * Checks the metadata of a new custom resource of a server with `looseCustomResources`: only that its name and
 * namespace are valid in a path.
 */
export function validateLooseMeta(metadata: ObjectMeta, errors: FieldErrors): void {
  validateName(metadata, 'path', errors);
  errors.optionalText('metadata.namespace', metadata.namespace, pathSegmentProblems);
}

export function validateMetaUpdate(
  metadata: ObjectMeta,
  old: ObjectMeta,
  errors: FieldErrors,
): void {
  validateSameObject(metadata, old, errors);
  validateLabels(metadata.labels, errors.at('metadata.labels'));
  validateAnnotations(metadata.annotations, errors.at('metadata.annotations'));
  validateOwnerReferences(metadata.ownerReferences ?? [], errors);
  validateFinalizers(metadata.finalizers ?? [], errors);
}

/** Checks that an update keeps the identity of an object, and adds no finalizers to an object that is being deleted. */
export function validateSameObject(
  metadata: ObjectMeta,
  old: ObjectMeta,
  errors: FieldErrors,
): void {
  if (old.deletionTimestamp !== undefined) {
    const before = new Set(old.finalizers);
    const added = [...new Set(metadata.finalizers)].filter((one) => !before.has(one)).sort();
    if (added.length > 0) {
      const list = `[]string{${added.map(quoted).join(', ')}}`;
      errors.forbidden(
        'metadata.finalizers',
        `no new finalizers can be added if the object is being deleted, found new finalizers ${list}`,
      );
    }
  }
  for (const field of ['name', 'namespace', 'uid', 'deletionTimestamp'] as const) {
    if (metadata[field] !== old[field]) {
      errors.invalid(`metadata.${field}`, metadata[field], immutable);
    }
  }
  if (!deepEqual(metadata.deletionGracePeriodSeconds, old.deletionGracePeriodSeconds)) {
    const { deletionGracePeriodSeconds: value } = metadata;
    errors.invalid('metadata.deletionGracePeriodSeconds', value, immutable);
  }
}

const standardFinalizers: ReadonlySet<string> = new Set([
  'kubernetes',
  'orphan',
  'foregroundDeletion',
]);

/** Checks that finalizers are qualified or standard names. Only kinds of Kubernetes itself require it. */
export function validateFinalizerNames({ finalizers = [] }: ObjectMeta, errors: FieldErrors): void {
  errors.each('metadata.finalizers', finalizers, validateQualified);
}

function validateQualified(finalizer: string, errors: FieldErrors): void {
  if (finalizer.includes('/') || standardFinalizers.has(finalizer)) return;
  const why = 'name is neither a standard finalizer name nor is it fully qualified';
  errors.invalid('', finalizer, why);
}

/** Checks a finalizer outside of `metadata`. */
export function validateFinalizer(finalizer: string, errors: FieldErrors): void {
  errors.invalidEach('', finalizer, qualifiedNameProblems(finalizer));
  validateQualified(finalizer, errors);
}

/** Checks the labels of an object, a pod template or a selector. */
export function validateLabels(
  labels: Readonly<Record<string, string>> | undefined,
  errors: FieldErrors,
): void {
  for (const [key, value] of Object.entries(labels ?? {})) {
    errors.invalidEach('', key, qualifiedNameProblems(key));
    errors.invalidEach('', value, labelValueProblems(value));
  }
}

/** Checks the keys and the total size of annotations. */
export function validateAnnotations(
  annotations: Readonly<Record<string, string>> | undefined,
  errors: FieldErrors,
): void {
  let size = 0;
  for (const [key, value] of Object.entries(annotations ?? {})) {
    size += Buffer.byteLength(key) + Buffer.byteLength(value);
    errors.invalidEach('', key, qualifiedNameProblems(key.toLowerCase()));
  }
  if (size > annotationsLimit) errors.tooLong('', annotationsLimit);
}

function validateOwnerReferences(references: readonly OwnerReference[], errors: FieldErrors): void {
  const field = 'metadata.ownerReferences';
  let controller = '';
  for (const reference of references) {
    validateOwnerReference(reference, errors);
    if (reference.controller !== true) continue;
    const name = `${reference.kind}/${reference.name}`;
    if (controller === '') controller = name;
    else {
      errors.invalid(
        field,
        references,
        `Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${name}`,
      );
    }
  }
}

function validateOwnerReference(reference: OwnerReference, errors: FieldErrors): void {
  const field = 'metadata.ownerReferences';
  const { apiVersion, kind, name, uid } = reference;
  const empty = 'must not be empty';
  if (versionOf(apiVersion) === '' || apiVersion.split('/').length > 2) {
    errors.invalid(`${field}.apiVersion`, apiVersion, 'version must not be empty');
  }
  if (kind === '') errors.invalid(`${field}.kind`, kind, empty);
  if (name === '') errors.invalid(`${field}.name`, name, empty);
  if (uid === '') errors.invalid(`${field}.uid`, uid, empty);
  if (groupOf(apiVersion) === '' && versionOf(apiVersion) === 'v1' && kind === 'Event') {
    errors.invalid(field, reference, '/v1, Kind=Event is disallowed from being an owner');
  }
}

function validateFinalizers(finalizers: readonly string[], errors: FieldErrors): void {
  const field = 'metadata.finalizers';
  for (const finalizer of finalizers) {
    errors.invalidEach(field, finalizer, qualifiedNameProblems(finalizer));
  }
  if (finalizers.includes('orphan') && finalizers.includes('foregroundDeletion')) {
    errors.invalid(field, finalizers, 'finalizer orphan and foregroundDeletion cannot be both set');
  }
}

type LabelSelector = Wire<V1LabelSelector>;

export function validateLabelSelector(
  selector: LabelSelector | undefined,
  errors: FieldErrors,
): void {
  if (selector === undefined) return;
  validateLabels(selector.matchLabels, errors.at('matchLabels'));
  errors.each('matchExpressions', selector.matchExpressions, (requirement, errors) => {
    validateRequirement(requirement, errors);
    validateValues(requirement, errors);
  });
}

/** Checks the operator and the key of a requirement on labels, and the number of its values. */
export function validateRequirement(
  { key, operator, values = [] }: Requirement,
  errors: FieldErrors,
): void {
  if (operator === 'In' || operator === 'NotIn') {
    if (values.length === 0) {
      errors.required('values', "must be specified when `operator` is 'In' or 'NotIn'");
    }
  } else if (operator === 'Exists' || operator === 'DoesNotExist') {
    if (values.length > 0) {
      const why = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
      errors.forbidden('values', why);
    }
  } else {
    errors.invalid('operator', operator, 'not a valid selector operator');
  }
  errors.text('key', key, qualifiedNameProblems);
}

/** Checks that the values of a requirement are valid label values. */
export function validateValues({ values }: Requirement, errors: FieldErrors): void {
  errors.each('values', values, (value, errors) => {
    errors.text('', value, labelValueProblems);
  });
}

interface Requirement {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[] | undefined;
}

/** Refuses a pod template whose labels the selector of its object does not select. */
export function refuseTemplateLabels(
  metadata: Wire<V1ObjectMeta> | undefined,
  errors: FieldErrors,
): void {
  const isEmpty = metadata !== undefined && hadEmptyMember(metadata, 'labels');
  const labels = metadata?.labels ?? (isEmpty ? {} : undefined);
  const why = '`selector` does not match template `labels`';
  errors.invalid('spec.template.metadata.labels', labels, why);
}

/** Returns whether a selector has no condition and so selects everything. */
export function isEmptySelector({ matchLabels, matchExpressions }: LabelSelector): boolean {
  return Object.keys(matchLabels ?? {}).length + (matchExpressions ?? []).length === 0;
}

/**
 * Returns whether a selector selects `labels`. A missing selector selects nothing.
 * @returns undefined if the selector is invalid, which other checks report
 */
export function selects(
  selector: SelectorObject | undefined,
  labels: Readonly<Record<string, string>> | undefined,
): boolean | undefined {
  try {
    return matchesLabels(selector, labels ?? {});
  } catch (error) {
    if (isOperatorError(error, 'InvalidSelector')) return undefined;
    throw error;
  }
}
