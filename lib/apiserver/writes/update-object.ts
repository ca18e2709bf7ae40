import type { ObjectMeta, UnstructuredObject } from '../../object/index.js';
import { hasQualifiedFinalizers, subjectOf } from '../kinds/served-kind.js';
import type { ServedKind } from '../kinds/served-kind.js';
import type { ServerCore } from '../server-core.js';
import { isLoose, rulingKind, storageKey } from '../server-core.js';
import { hasNullBytes } from '../go-json/go-types.js';
import { conflict, internalFailure, invalid, objectWasModified } from '../status-error.js';
import { keepManagedFieldsTimes } from '../structured-merge/index.js';
import { FieldErrors } from '../../crd/internal.js';
import {
  validateFinalizerNames,
  validateMetaUpdate,
  validateSameObject,
} from '../rules/metadata.js';
import { allowStoredPolicy } from '../rules/security-context.js';
import {
  asStored,
  checkCustomKind,
  checkName,
  checkNamespaceName,
  dropRepeatedOwners,
  isChangedByEmptyLists,
} from './write-request.js';
import { deepEqual, isJsonObject, withoutMembers, quoted } from '../../object/index.js';
import type { PartRules } from '../rules/kind-rules.js';
import { trackUpdate } from './managed-fields.js';
import { removeObject } from './delete-object.js';
import type { WriteRequest, WriteResult } from './write-request.js';
import { fitting } from './stored-size.js';

/** An update that is ready to run. */
export interface Update {
  readonly request: WriteRequest;
  /** The stored object, in the version of the request. */
  readonly live: UnstructuredObject;
  /** The new object: decoded, without defaults. The update may change it. */
  readonly next: UnstructuredObject;
  /** True if an apply has already recorded the field owners. @defaultValue false */
  readonly tracked?: boolean;
  /** True if the new object gets no defaults, as the parent of a Scale. @defaultValue false */
  readonly withoutDefaults?: boolean;
  /**
   * True if a real server stores a form that reads do not show: it then also writes an object that looks unchanged.
   * @defaultValue false
   */
  readonly storesEmpty?: boolean;
  /**
   * With `storesEmpty`: true if the stored form differs outside the metadata, so that the generation increases.
   * @defaultValue false
   */
  readonly hasNewContent?: boolean;
  /**
   * Empty metadata that the answer shows if the update removes the object: the real server then does not decode the
   * object.
   * @defaultValue none
   */
  readonly emptyMetadata?: Readonly<Record<string, unknown>>;
}

/**
 * Replaces an object or its status: defaults, managed fields, version check, reset of the
 * endpoint's fields, validation, commit. An update without changes is not written.
 * @throws StatusError the error that the real server would answer.
 */
export function updateObject(core: ServerCore, update: Update): WriteResult {
  const { request, live, tracked = false, withoutDefaults = false } = update;
  const { hasNewContent = false } = update;
  const { kind } = request;
  const ruling = rulingKind(core, kind);
  const isChanged = hasNewContent || isChangedByEmptyLists(update.next);
  checkNamespaceName(request, update.next.metadata);
  checkName(request.name, update.next.metadata);
  if (!withoutDefaults) kind.rules.defaults?.(update.next);
  const tracking = tracked ? update.next : trackUpdate(core, request, live, update.next);
  const owned = admitted(request, live, tracking);
  // A webhook may have changed the name or the namespace.
  checkNamespaceName(request, owned.metadata);
  dropRepeatedOwners(owned, request.warn, ' after mutating admission happens');
  const object = asStored(ruling, kind === ruling ? owned : kind.toStorage(owned));
  const old = kind === ruling ? live : kind.toStorage(live);
  checkVersion(request.kind, object.metadata, old.metadata);
  const prepared = prepare(core, { request, ruling, object, old, isChanged });
  validate(core, { request, ruling, object: prepared, old });
  const rules = request.subresource === undefined ? ruling.rules : partRulesOf({ request, ruling });
  rules?.admitUpdate?.(prepared, old, core.view);
  request.hooks?.validate({
    operation: 'UPDATE',
    object: kind === ruling ? prepared : kind.fromStorage(prepared),
    old: live,
  });
  // The real server stores nulls where the schema leaves the type open, and drops them in reads and conversions. This
  // server drops them before it stores the object.
  const hasNulls = ruling.custom?.dropNulls(prepared) === true && ruling.isStorageVersion;
  const storesEmpty = update.storesEmpty === true || hasNulls;
  const settled = keepManagedFieldsTimes(old, prepared);
  const isUnchanged = !storesEmpty && deepEqual(settled, old) && isStored(core, ruling, settled);
  if (isUnchanged) return { object: live, created: false };
  const ready = { request, ruling, object: settled, old };
  if (isLastStep(ruling, settled, old)) return removeFinalized(core, ready, update.emptyMetadata);
  return store(core, ready, { storesEmpty, applies: tracked });
}

/** Removes an object from which the update took the last finalizer. */
function removeFinalized(
  core: ServerCore,
  { request: { kind, dryRun }, ruling, object }: Prepared,
  emptyMetadata: Update['emptyMetadata'],
): WriteResult {
  const { name = '', namespace = '' } = object.metadata;
  if (!dryRun) removeObject(core, kind, storageKey(namespace, name));
  const shown = kind === ruling ? object : kind.fromStorage(object);
  const metadata = Object.assign({}, shown.metadata, emptyMetadata);
  return { object: { ...shown, metadata }, created: false };
}

/**
 * Returns whether the stored object equals `object`, so that no write is needed. An update without changes still
 * needs a write in three cases: the schema or the storage version has changed, or reads add missing fields to the
 * stored object.
 */
function isStored(core: ServerCore, kind: ServedKind, object: UnstructuredObject): boolean {
  const { name = '', namespace = '' } = object.metadata;
  const stored = core.log.collection(kind.collection).get(storageKey(namespace, name));
  if (stored === undefined || core.incomplete.has(stored)) return false;
  // The real server's cache holds empty bytes in place of null ones.
  if (hasNullBytes(object)) return false;
  return deepEqual(kind.isStorageVersion ? object : kind.toStorage(object), stored);
}

/** Returns the object after mutating admission. */
function admitted(
  { hooks }: WriteRequest,
  live: UnstructuredObject,
  next: UnstructuredObject,
): UnstructuredObject {
  if (hooks === undefined) return next;
  const object = hooks.admit({ operation: 'UPDATE', object: next, old: live });
  return object === next ? next : { ...object, metadata: { ...object.metadata } };
}

interface Prepared {
  readonly request: WriteRequest;
  readonly ruling: ServedKind;
  readonly object: UnstructuredObject;
  readonly old: UnstructuredObject;
}

function checkVersion(kind: ServedKind, metadata: ObjectMeta, old: ObjectMeta): void {
  const { resourceVersion: given = '' } = metadata;
  if (!/^\d*$/.test(given)) {
    throw internalFailure(`strconv.ParseUint: parsing ${quoted(given)}: invalid syntax`);
  }
  const { name = '', resourceVersion = '' } = old;
  if (given !== '' && given !== '0') {
    if (given !== resourceVersion) throw conflict(subjectOf(kind, name), objectWasModified);
    return;
  }
  if (kind.custom !== undefined || kind.rules.unconditionalUpdate === false) {
    const errors = new FieldErrors();
    errors.invalid('metadata.resourceVersion', 0, 'must be specified for an update');
    // The real server puts the plural where the kind belongs.
    throw invalid({ group: kind.type.group, kind: kind.type.plural, name }, errors.causes);
  }
  metadata.resourceVersion = resourceVersion;
}

function prepare(
  core: ServerCore,
  prepared: Prepared & { readonly isChanged: boolean },
): UnstructuredObject {
  const { request, ruling, object, old, isChanged } = prepared;
  const { metadata } = object;
  if (old.metadata.generation === undefined) delete metadata.generation;
  else metadata.generation = old.metadata.generation;
  const next = writtenPart(core, prepared);
  if (request.subresource === undefined) {
    keepStatus(ruling, next, old);
    ruling.rules.prepareForUpdate?.(next, old, core.view);
    if (isChanged || isNewGeneration(core, ruling, { next, old })) {
      next.metadata.generation = (old.metadata.generation ?? 0) + 1;
    }
  }
  keepSystemFields(next.metadata, old.metadata);
  return next;
}

function isNewGeneration(
  core: ServerCore,
  ruling: ServedKind,
  { next, old }: { readonly next: UnstructuredObject; readonly old: UnstructuredObject },
): boolean {
  const { specChanged = () => false } = ruling.rules;
  // With `looseCustomResources`, a change of the status never increases the generation, even without a subresource.
  if (!isLoose(core, ruling)) return specChanged(next, old);
  const counted = { ...next };
  takeStatus(counted, old);
  return specChanged(counted, old);
}

function writtenPart(core: ServerCore, prepared: Prepared): UnstructuredObject {
  const { request, object, old } = prepared;
  if (request.subresource === undefined) return object;
  if (request.subresource !== 'finalize') return subresourceOnly(core, prepared);
  // Only the subresource `finalize` of a Namespace can remove finalizers from its spec.
  const { metadata } = object;
  return { ...old, metadata, spec: object['spec'] };
}

/** Keeps the stored status: the main resource cannot change it. */
function keepStatus(kind: ServedKind, next: UnstructuredObject, old: UnstructuredObject): void {
  const hasStatus = kind.custom?.hasStatus ?? kind.subresources.has('status');
  if (hasStatus) takeStatus(next, old);
}

function takeStatus(next: UnstructuredObject, { status }: UnstructuredObject): void {
  if (status === undefined) delete next['status'];
  else next['status'] = status;
}

/**
 * Returns the stored object with the change that a write to a subresource may make: the status, or the part of the
 * spec that the subresource covers, and some metadata. Everything else in the request is ignored.
 */
function subresourceOnly(core: ServerCore, prepared: Prepared): UnstructuredObject {
  const { request, ruling, object, old } = prepared;
  const part = partRulesOf(prepared);
  const written = part?.written(object, old);
  const next: UnstructuredObject = { ...old, ...written, metadata: subresourceMeta(prepared) };
  if (part === undefined) {
    takeStatus(next, object);
    const { subresource = '' } = request;
    ruling.rules.prepareForStatusUpdate?.(next, old, core.view, subresource);
    keepInStatus(ruling, next, old);
    return next;
  }
  const { specChanged } = ruling.rules;
  if (specChanged?.(next, old) === true) {
    next.metadata.generation = (old.metadata.generation ?? 0) + 1;
  }
  return next;
}

function partRulesOf({
  request,
  ruling,
}: Pick<Prepared, 'request' | 'ruling'>): PartRules | undefined {
  return ruling.rules.partRules?.[request.subresource ?? ''];
}

function keepInStatus(
  { rules }: ServedKind,
  next: UnstructuredObject,
  { status: old }: UnstructuredObject,
): void {
  const { status } = next;
  if (!isJsonObject(status) || !isJsonObject(old)) return;
  const kept = (rules.keptInStatus ?? []).filter((name) => !(name in status) && name in old);
  if (kept.length === 0) return;
  next['status'] = { ...status, ...Object.fromEntries(kept.map((name) => [name, old[name]])) };
}

function subresourceMeta({ request, ruling, object, old }: Prepared): ObjectMeta {
  const { resourceVersion = '', managedFields } = object.metadata;
  const tracked = managedFields === undefined ? {} : { managedFields };
  const isStatus = request.subresource === 'status' || request.subresource === 'approval';
  const resets = ruling.rules.resets?.[request.subresource ?? ''] ?? [];
  if (!isStatus || resets.includes('metadata')) {
    const kept = withoutMembers(old.metadata, 'managedFields');
    return { ...kept, resourceVersion, ...tracked };
  }
  const metadata: ObjectMeta = { ...object.metadata };
  for (const path of resets) {
    if (!path.startsWith('metadata.')) continue;
    const field = path.slice('metadata.'.length) as keyof ObjectMeta;
    Reflect.deleteProperty(metadata, field);
    if (old.metadata[field] !== undefined)
      Object.assign(metadata, { [field]: old.metadata[field] });
  }
  return metadata;
}

function keepSystemFields(metadata: ObjectMeta, old: ObjectMeta): void {
  if (metadata.uid === undefined || metadata.uid === '') metadata.uid = old.uid ?? '';
  metadata.creationTimestamp = old.creationTimestamp ?? '';
  delete metadata.selfLink;
  if (old.deletionTimestamp !== undefined) metadata.deletionTimestamp = old.deletionTimestamp;
  if (old.deletionGracePeriodSeconds !== undefined) {
    metadata.deletionGracePeriodSeconds ??= old.deletionGracePeriodSeconds;
  }
}

function validate(core: ServerCore, prepared: Prepared): void {
  const { request, ruling, object, old } = prepared;
  if (ruling.custom !== undefined) checkCustomKind(ruling, object);
  const part = partRulesOf(prepared);
  const errors = new FieldErrors();
  if (isLoose(core, ruling)) validateSameObject(object.metadata, old.metadata, errors);
  else {
    // The real server checks metadata twice: with the checks for all kinds, then with the checks of the kind.
    validateMetaUpdate(object.metadata, old.metadata, errors);
    validateMetaUpdate(object.metadata, old.metadata, errors);
  }
  if (hasQualifiedFinalizers(request.kind)) validateFinalizerNames(object.metadata, errors);
  if (request.subresource === undefined) {
    allowStoredPolicy(object, old);
    ruling.rules.validate?.(object, errors, core.view);
    // Versions of a kind may have different checks (events).
    const { validateUpdate = ruling.rules.validateUpdate } = request.kind.rules;
    validateUpdate?.(object, old, errors, core.view);
  } else if (part !== undefined) {
    const obstacle = part.obstacle?.(old);
    if (obstacle === undefined) {
      ruling.rules.validate?.(object, errors, core.view);
      part.validateUpdate?.(object, old, errors);
    } else errors.forbidden('[]', obstacle);
  } else {
    ruling.rules.validateStatusUpdate?.(object, old, errors, request.subresource);
  }
  errors.warnings.forEach(request.warn);
  const causes = untolerated(core, prepared, errors);
  if (causes.length > 0) {
    const { group, kind } = ruling.type;
    throw invalid({ group, kind, name: object.metadata.name ?? '' }, causes);
  }
  if (request.subresource === undefined) ruling.rules.warnings?.(object, old).forEach(request.warn);
}

/**
 * Groups of fields whose validation has become stricter. In an update, a real server reports no error of a group if the
 * stored object already has one.
 */
const tolerated: readonly RegExp[] = [
  /\.nodeAffinity\.required.*\.matchExpressions\[\d+\]\.values\[\d+\]$/,
  /\.topologySpreadConstraints\[\d+\]\.labelSelector\./,
  /^(?!.*\.nodeAffinity\.).*\.matchExpressions\[\d+\]\.values\[\d+\]$/,
];

function untolerated(
  core: ServerCore,
  { ruling, old }: Prepared,
  { causes }: FieldErrors,
): FieldErrors['causes'] {
  const groupOf = ({ field = '' }: (typeof causes)[number]): RegExp | undefined =>
    tolerated.find((group) => group.test(field));
  const isStrict = ruling.custom !== undefined || causes.every((cause) => !groupOf(cause));
  if (isStrict) return causes;
  const before = new FieldErrors();
  ruling.rules.validate?.(old, before, core.view);
  const known = new Set(before.causes.map(groupOf));
  return causes.filter((cause) => groupOf(cause) === undefined || !known.has(groupOf(cause)));
}

function store(
  core: ServerCore,
  { request, ruling, object }: Prepared,
  { storesEmpty, applies }: { readonly storesEmpty: boolean; readonly applies: boolean },
): WriteResult {
  const { kind, dryRun } = request;
  const { name = '', namespace = '' } = object.metadata;
  const key = storageKey(namespace, name);
  const hasDefaults = defaultMetadata(ruling, object);
  const ordered = ruling.inOrder(object);
  const stored = ruling.isStorageVersion ? ordered : ruling.toStorage(ordered);
  if (dryRun) return { object: kind.fromStorage(stored), created: false };
  // Convert before the commit, because nothing may fail after it.
  if (kind.conversions !== undefined) kind.fromStorage(stored);
  const live = core.log.collection(kind.collection).get(key);
  const fitted = fitting(ruling, stored, { bytes: request.bytes, live, applies });
  const entry = core.log.commit({ collection: kind.collection, key, object: fitted });
  if (storesEmpty || hasDefaults || hasNullBytes(object)) core.incomplete.add(entry.object);
  return { object: kind.fromStorage(entry.object), created: false };
}

/**
 * Fills in the defaults of the metadata in place, and returns whether there are any. The real server fills them in at
 * each read, and stores them with the next update.
 */
function defaultMetadata({ rules }: ServedKind, object: UnstructuredObject): boolean {
  if (rules.defaultsMetadata !== true) return false;
  const before = { ...object.metadata };
  rules.defaults?.(object);
  return !deepEqual(before, object.metadata);
}

/** Returns whether the update removed the last finalizer of a deleted object. Such an update is never stored. */
function isLastStep(kind: ServedKind, next: UnstructuredObject, old: UnstructuredObject): boolean {
  if ((next.metadata.finalizers ?? []).length > 0) return false;
  if (old.metadata.deletionTimestamp === undefined) return false;
  if ((old.metadata.deletionGracePeriodSeconds ?? 0) !== 0) return false;
  return kind.rules.isFinalized?.(next) ?? true;
}
