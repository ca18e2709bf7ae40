import { FieldErrors } from '../../crd/internal.js';
import type { ObjectMeta, UnstructuredObject } from '../../object/index.js';
import { deepEqual, formatTime } from '../../object/index.js';
import type { Random } from '../../system/index.js';
import { hasQualifiedFinalizers, subjectOf } from '../kinds/served-kind.js';
import type { ServedKind } from '../kinds/served-kind.js';
import { checkLimitRanges } from '../rules/limit-ranger.js';
import { validateFinalizerNames, validateLooseMeta, validateMeta } from '../rules/metadata.js';
import { checkQuotas } from '../rules/quota.js';
import { isLoose, rulingKind, storageKey } from '../server-core.js';
import type { ServerCore } from '../server-core.js';
import { hasNullBytes } from '../go-json/go-types.js';
import {
  alreadyExists,
  badRequest,
  failure,
  forbidden,
  internalFailure,
  invalid,
  notFound,
} from '../status-error.js';
import type { StatusError } from '../status-error.js';
import { trackUpdate } from './managed-fields.js';
import {
  asStored,
  checkCustomKind,
  checkNamespaceName,
  dropRepeatedOwners,
} from './write-request.js';
import type { WriteRequest, WriteResult } from './write-request.js';
import { fitting } from './stored-size.js';

/** A create that is ready to run. */
interface Creation {
  readonly request: WriteRequest;
  /** The decoded object, without defaults. The create may change it. */
  readonly object: UnstructuredObject;
  /** True if an apply has already recorded the field owners. @defaultValue false */
  readonly tracked?: boolean;
  /**
   * True if a real server stores empty metadata that reads do not show: then it writes the next update, even without
   * changes.
   * @defaultValue false
   */
  readonly storesEmpty?: boolean;
}

/**
 * Creates an object: defaults, managed fields, admission, validation, commit.
 * @throws StatusError the error that the real server would answer.
 */
export function createObject(core: ServerCore, creation: Creation): WriteResult {
  const { request, tracked = false, storesEmpty = false } = creation;
  const { kind } = request;
  const ruling = rulingKind(core, kind);
  nameObject(creation);
  dropRepeatedOwners(creation.object, request.warn);
  kind.rules.defaults?.(creation.object);
  const owned = tracked ? creation.object : trackUpdate(core, request, undefined, creation.object);
  const own = kind === ruling ? owned : mutable(kind.toStorage(owned));
  checkNamespace(core, request, own);
  ruling.rules.admitCreate?.(own, core.view);
  const object = asStored(ruling, admitted(core, request, own));
  // A webhook may have changed the name or the namespace.
  checkNamespaceName(request, object.metadata);
  dropRepeatedOwners(object, request.warn, ' after mutating admission happens');
  generateName(core, request, object);
  fillSystemFields(core, object.metadata);
  ruling.rules.prepareForCreate?.(object, core.view);
  if (request.user !== undefined) ruling.rules.setUser?.(object, request.user);
  const { specChanged, firstGeneration = 1 } = ruling.rules;
  if (specChanged !== undefined && firstGeneration > 0) object.metadata.generation = 1;
  resetStatus(core, request, object);
  checkCreated(core, request, object);
  request.hooks?.validate({
    operation: 'CREATE',
    object: shown(kind, ruling, object),
    old: undefined,
  });
  checkLimitRanges(ruling.collection, object, core.view);
  checkQuotas(ruling.collection, object, core.view);
  // The real server stores nulls where the schema leaves the type open, and drops them in reads and conversions. This
  // server drops them before it stores the object.
  const hasNulls = ruling.custom?.dropNulls(object) === true && ruling.isStorageVersion;
  return store(core, object, {
    request,
    storesEmpty: storesEmpty || hasNulls,
    applies: tracked,
  });
}

/** Returns the object after mutating admission. */
function admitted(
  core: ServerCore,
  { kind, hooks }: WriteRequest,
  own: UnstructuredObject,
): UnstructuredObject {
  if (hooks === undefined) return own;
  const ruling = rulingKind(core, kind);
  const toRuling = (object: UnstructuredObject): UnstructuredObject =>
    mutable(kind === ruling ? object : kind.toStorage(object));
  const { admitCreate } = ruling.rules;
  const readmit = (object: UnstructuredObject): UnstructuredObject => {
    const copy = structuredClone(toRuling(object));
    admitCreate?.(copy, core.view);
    const readmitted = shown(kind, ruling, copy);
    return deepEqual(readmitted, object) ? object : readmitted;
  };
  const given = shown(kind, ruling, own);
  const write = { operation: 'CREATE', object: given, old: undefined } as const;
  const object = hooks.admit({ ...write, ...(admitCreate && { readmit }) });
  return object === given ? own : toRuling(object);
}

/** Returns the object in the version of the request. */
function shown(
  kind: ServedKind,
  ruling: ServedKind,
  object: UnstructuredObject,
): UnstructuredObject {
  return kind === ruling ? object : kind.fromStorage(object);
}

function nameObject({ request, object }: Creation): void {
  const { name: requested } = request;
  const { metadata } = object;
  // Clients cannot set these fields, so no manager may own them.
  delete metadata.selfLink;
  delete metadata.deletionTimestamp;
  delete metadata.deletionGracePeriodSeconds;
  checkNamespaceName(request, metadata);
  const { name = '' } = metadata;
  if (requested !== '' && name !== requested) {
    if (name !== '') {
      throw badRequest(
        `the name of the object (${name}) does not match the name on the URL (${requested})`,
      );
    }
    metadata.name = requested;
  }
}

function generateName(
  core: ServerCore,
  { kind, namespace }: WriteRequest,
  { metadata }: UnstructuredObject,
): void {
  const { name = '', generateName: prefix = '' } = metadata;
  if (name !== '' || prefix === '') return;
  const taken = (candidate: string): boolean =>
    core.log.collection(kind.collection).get(storageKey(namespace, candidate)) !== undefined;
  metadata.name = generatedName(prefix, core.random, taken);
}

function fillSystemFields(core: ServerCore, metadata: ObjectMeta): void {
  metadata.creationTimestamp = formatTime(core.clock.now());
  metadata.uid = core.random.uuid();
}

function resetStatus(core: ServerCore, request: WriteRequest, object: UnstructuredObject): void {
  const ruling = rulingKind(core, request.kind);
  const { initialStatus } = ruling.rules;
  if (initialStatus !== undefined) object['status'] = initialStatus(object, core.view);
  else if (ruling.custom?.hasStatus === true) delete object['status'];
  else if (ruling.subresources.has('status') && ruling.custom === undefined) {
    object['status'] = ruling.decode({}).object['status'] ?? {};
  }
}

function checkCreated(core: ServerCore, request: WriteRequest, object: UnstructuredObject): void {
  const ruling = rulingKind(core, request.kind);
  if (ruling.custom !== undefined) checkCustomKind(ruling, object);
  const { group, kind } = ruling.type;
  const subject = { group, kind, name: object.metadata.name ?? '' };
  const errors = new FieldErrors();
  const refuse = (): void => {
    errors.warnings.forEach(request.warn);
    if (!errors.empty) throw invalid(subject, errors.causes);
  };
  const checkMeta = (): void => {
    if (isLoose(core, ruling)) validateLooseMeta(object.metadata, errors);
    else {
      const { nameFormat = 'subdomain' } = request.kind.rules;
      validateMeta(object.metadata, errors, { namespaced: ruling.type.namespaced, nameFormat });
    }
    if (hasQualifiedFinalizers(request.kind)) validateFinalizerNames(object.metadata, errors);
  };
  const { checksMetadataLast = false } = ruling.rules;
  if (!checksMetadataLast) checkMeta();
  ruling.rules.validate?.(object, errors, core.view);
  // Versions of a kind may have different checks (events).
  const { validateCreate = ruling.rules.validateCreate } = request.kind.rules;
  validateCreate?.(object, errors, core.view);
  refuse();
  if (checksMetadataLast) {
    checkMeta();
    refuse();
  }
  ruling.rules.warnings?.(object).forEach(request.warn);
}

/** Facts about a create that decide how the object is stored. */
interface Stored {
  readonly request: WriteRequest;
  readonly storesEmpty: boolean;
  /** True if an apply creates the object. */
  readonly applies: boolean;
}

function store(
  core: ServerCore,
  object: UnstructuredObject,
  { request, storesEmpty, applies }: Stored,
): WriteResult {
  const { kind, dryRun } = request;
  const { name = '', namespace = '' } = object.metadata;
  const key = storageKey(namespace, name);
  if (!dryRun) dropVersion(request, object.metadata);
  const existing = core.log.collection(kind.collection).get(key);
  if (existing !== undefined) throw takenName(kind, object.metadata, existing);
  const ruling = rulingKind(core, kind);
  const isIncomplete =
    ruling.rules.completeNew?.(object) === true || storesEmpty || hasNullBytes(object);
  // The empty `resourceVersion` fixes the position of the field in `metadata`; the commit sets its value. A conversion
  // webhook of a custom resource must not receive the empty value.
  if (!dryRun && ruling.custom === undefined) object.metadata.resourceVersion = '';
  const ordered = ruling.inOrder(object);
  const stored = ruling.isStorageVersion ? ordered : kind.toStorage(ordered);
  if (dryRun) return { object: kind.fromStorage(stored), created: true };
  // Convert before the commit, because nothing may fail after it.
  if (kind.conversions !== undefined) kind.fromStorage(stored);
  const fitted = fitting(ruling, stored, { bytes: request.bytes, applies });
  const entry = core.log.commit({ collection: kind.collection, key, object: fitted });
  if (isIncomplete) core.incomplete.add(entry.object);
  return { object: kind.fromStorage(entry.object), created: true };
}

/**
 * Removes the version of a new object. The real server's storage refuses a version in a POST, and ignores one that is
 * not a number. A dry run does not reach the storage.
 */
function dropVersion({ name }: WriteRequest, metadata: ObjectMeta): void {
  const { resourceVersion = '0' } = metadata;
  if (name === '' && /^0*[1-9]\d*$/.test(resourceVersion)) {
    throw internalFailure('resourceVersion should not be set on objects to be created');
  }
  delete metadata.resourceVersion;
}

function takenName(
  kind: ServedKind,
  { name = '', generateName = '' }: ObjectMeta,
  existing: UnstructuredObject,
): StatusError {
  const error = alreadyExists(subjectOf(kind, name));
  if (generateName !== '') return noUniqueName(error);
  if (existing.metadata.deletionTimestamp === undefined) return error;
  const message = `object is being deleted: ${error.body.message ?? ''}`;
  return failure(409, 'AlreadyExists', message, error.body.details);
}

function noUniqueName({ body }: StatusError): StatusError {
  const message = `${body.message ?? ''}, the server was not able to generate a unique name for the object`;
  return failure(409, 'AlreadyExists', message, { ...body.details, retryAfterSeconds: 1 });
}

function mutable(object: UnstructuredObject): UnstructuredObject {
  return { ...object, metadata: { ...object.metadata } };
}

// The alphabet of apimachinery's generator: no vowels, and no digits that look like vowels.
const alphabet = 'bcdfghjklmnpqrstvwxz2456789';
const suffixLength = 5;
const longest = 63;

/**
 * Returns `base` with a random suffix of five characters, cut to 63 characters. Makes up to eight attempts to find a
 * name that is not taken (KEP-4420).
 */
function generatedName(base: string, random: Random, taken: (name: string) => boolean): string {
  const kept = base.slice(0, longest - suffixLength);
  let name = '';
  for (let attempt = 0; attempt < 8; attempt++) {
    name = kept + suffix(random);
    if (!taken(name)) break;
  }
  return name;
}

function suffix(random: Random): string {
  const pick = (): string => alphabet[Math.floor(random.next() * alphabet.length)] ?? '';
  return Array.from({ length: suffixLength }, pick).join('');
}

/**
 * Refuses creates in a namespace that is missing or being deleted.
 * @throws StatusError 404 missing, 403 with the cause `NamespaceTerminating`.
 */
function checkNamespace(
  core: ServerCore,
  { kind }: WriteRequest,
  object: UnstructuredObject,
): void {
  const { namespace = '', name = '' } = object.metadata;
  if (namespace === '' || !kind.type.namespaced || isLoose(core, kind)) return;
  const found = core.view.find('namespaces', namespace);
  if (found === undefined) {
    throw notFound({ group: '', plural: 'namespaces', name: namespace });
  }
  if (found.metadata.deletionTimestamp === undefined) return;
  const why = `unable to create new content in namespace ${namespace} because it is being terminated`;
  throw forbidden(subjectOf(kind, name), why, [
    {
      reason: 'NamespaceTerminating',
      message: `namespace ${namespace} is being terminated`,
      field: 'metadata.namespace',
    },
  ]);
}
