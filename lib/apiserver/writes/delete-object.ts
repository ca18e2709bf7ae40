import { FieldErrors } from '../../crd/internal.js';
import { deepEqual, formatTime } from '../../object/index.js';
import type { ObjectMeta, UnstructuredObject } from '../../object/index.js';
import { DecodeError, Decoding } from '../go-json/decoding.js';
import { goType } from '../go-json/go-types.js';
import { subjectOf } from '../kinds/served-kind.js';
import type { ServedKind } from '../kinds/served-kind.js';
import { isTrue, readInteger } from '../requests/request-info.js';
import { isLoose, rulingKind, storageKey } from '../server-core.js';
import type { ServerCore } from '../server-core.js';
import { badRequest, conflict, invalid, notFound } from '../status-error.js';
import type { WriteRequest } from './write-request.js';

interface Deletion extends Pick<WriteRequest, 'kind' | 'namespace' | 'name' | 'hooks'> {
  readonly options: DeleteOptions;
}

export interface DeletionResult {
  /** The current or the last state of the object, in the version of the request. */
  readonly object: UnstructuredObject;
  /** True if the object is gone. False if it waits for finalizers or its grace period. */
  readonly removed: boolean;
}

const foreground = 'foregroundDeletion';
const orphan = 'orphan';

/**
 * Deletes an object. If finalizers or the grace period of its kind hold the object, marks it as being deleted
 * instead. The propagation policy may add a finalizer.
 * @throws StatusError 404, or 409: a precondition does not hold.
 */
export function deleteObject(core: ServerCore, deletion: Deletion): DeletionResult {
  const { kind, namespace, name, options } = deletion;
  const key = storageKey(namespace, name);
  const stored = core.log.collection(kind.collection).get(key);
  if (stored === undefined) throw notFound(subjectOf(kind, name));
  checkPreconditions(rulingKind(core, kind), stored.metadata, options);
  // Convert before the commit, because nothing may fail after it.
  if (kind.conversions !== undefined) kind.fromStorage(stored);
  const ruling = rulingKind(core, kind);
  ruling.rules.beforeDelete?.(stored, core.view);
  deletion.hooks?.validate({
    operation: 'DELETE',
    object: undefined,
    old: kind.fromStorage(stored),
  });
  const { marked, held } = mark(core, { ruling, stored, options });
  if (options.dryRun) return { object: kind.fromStorage(marked), removed: !held };
  const isComplete = marked === stored || !held || !core.incomplete.has(stored);
  const changed = !isComplete || !deepEqual(marked, stored);
  const { collection } = kind;
  const kept = changed ? core.log.commit({ collection, key, object: marked }).object : stored;
  if (held) return { object: kind.fromStorage(kept), removed: false };
  return { object: kind.fromStorage(removeObject(core, kind, key) ?? kept), removed: true };
}

function checkPreconditions(
  kind: ServedKind,
  metadata: ObjectMeta,
  { preconditions }: DeleteOptions,
): void {
  const { type, rules } = kind;
  const { name = '', uid = '', resourceVersion = '' } = metadata;
  // The real server puts the kind here, not the plural.
  const subject = { group: type.group, plural: type.kind, name };
  const wantedUid = preconditions?.uid ?? undefined;
  const failed = (what: string, given: string, found: string): Error => {
    const why = `Precondition failed: ${what} in precondition: ${given}, ${what} in object meta: ${found}`;
    return conflict(subjectOf(kind, name), why);
  };
  const isOwn = rules.ownPreconditions === true;
  if (wantedUid !== undefined && wantedUid !== uid) {
    if (isOwn) throw failed('UID', wantedUid, uid);
    const why = `the UID in the precondition (${wantedUid}) does not match the UID in record (${uid})`;
    throw conflict(subject, `${why}. The object might have been deleted and then recreated`);
  }
  const wanted = preconditions?.resourceVersion ?? undefined;
  if (wanted !== undefined && wanted !== resourceVersion) {
    if (isOwn) throw failed('ResourceVersion', wanted, resourceVersion);
    const why = `the ResourceVersion in the precondition (${wanted}) does not match the ResourceVersion in record (${resourceVersion})`;
    throw conflict(subject, `${why}. The object might have been modified`);
  }
}

interface Marking {
  readonly ruling: ServedKind;
  readonly stored: UnstructuredObject;
  readonly options: DeleteOptions;
}

interface Marked {
  /** The object to store. A removed object is marked only if its kind has a grace period. */
  readonly marked: UnstructuredObject;
  /** True if finalizers or a grace period hold the object. */
  readonly held: boolean;
}

function mark(core: ServerCore, marking: Marking): Marked {
  const { ruling, stored, options } = marking;
  const metadata = { ...stored.metadata };
  const graceful = markGraceful(core, marking, metadata);
  if (graceful === 'pending') return { marked: stored, held: true };
  // With `looseCustomResources`, no controller would remove the finalizers of a propagation policy.
  const propagation = isLoose(core, ruling) ? inBackground(options) : options;
  const finalizers = finalizersFor(ruling, stored.metadata, propagation);
  if (finalizers.length > 0) metadata.finalizers = finalizers;
  else delete metadata.finalizers;
  const held = finalizers.length > 0 || ruling.rules.isFinalized?.(stored) === false;
  if (graceful === 'marked') {
    const waits = (metadata.deletionGracePeriodSeconds ?? 0) > 0;
    return { marked: { ...stored, metadata }, held: held || waits };
  }
  if (!held) return { marked: stored, held };
  const now = core.clock.now();
  if (stored.metadata.deletionTimestamp === undefined && (metadata.generation ?? 0) > 0) {
    metadata.generation = (metadata.generation ?? 0) + 1;
  }
  if (Date.parse(metadata.deletionTimestamp ?? '9999-01-01') > now) {
    metadata.deletionTimestamp = formatTime(now);
  }
  metadata.deletionGracePeriodSeconds = 0;
  const object = { ...stored, metadata };
  return { marked: ruling.rules.markDeleted?.(object, stored) ?? object, held };
}

/** Sets the grace period if the kind has one. */
function markGraceful(
  core: ServerCore,
  { ruling, stored, options }: Marking,
  metadata: ObjectMeta,
): 'none' | 'pending' | 'marked' {
  const { gracePeriodSeconds } = ruling.rules;
  if (gracePeriodSeconds === undefined) return 'none';
  const requested = options.gracePeriodSeconds;
  const wanted = requested !== undefined && requested < 0 ? 1 : requested;
  const now = core.clock.now();
  const { deletionTimestamp, deletionGracePeriodSeconds = 0 } = stored.metadata;
  if (deletionTimestamp !== undefined) {
    if (deletionGracePeriodSeconds === 0) return 'none';
    // A grace period can only become shorter.
    if (wanted === undefined || wanted >= deletionGracePeriodSeconds) return 'pending';
    const began = Date.parse(deletionTimestamp) - deletionGracePeriodSeconds * 1000;
    const due = began + wanted * 1000;
    metadata.deletionTimestamp = formatTime(Math.max(due, now));
    metadata.deletionGracePeriodSeconds = due < now && wanted !== 0 ? 1 : wanted;
    return 'marked';
  }
  const seconds = gracePeriodSeconds(stored, wanted);
  if (seconds === undefined) return 'none';
  metadata.deletionTimestamp = formatTime(now + seconds * 1000);
  metadata.deletionGracePeriodSeconds = seconds;
  metadata.generation = (metadata.generation ?? 0) + 1;
  return 'marked';
}

/** Replaces the propagation policy by `Background`. */
function inBackground(options: DeleteOptions): DeleteOptions {
  return { ...options, orphanDependents: undefined, propagationPolicy: 'Background' };
}

function finalizersFor(
  { rules }: ServedKind,
  metadata: ObjectMeta,
  options: DeleteOptions,
): string[] {
  const present = metadata.finalizers ?? [];
  const kept = present.filter((finalizer) => finalizer !== orphan && finalizer !== foreground);
  const { orphanDependents, propagationPolicy } = options;
  if (rules.dependents === false) return kept;
  if (orphanDependents !== undefined) return orphanDependents ? [...kept, orphan] : kept;
  if (propagationPolicy === 'Orphan') return [...kept, orphan];
  if (propagationPolicy === 'Foreground') return [...kept, foreground];
  if (propagationPolicy === 'Background') return kept;
  const own = present.find((finalizer) => finalizer === orphan || finalizer === foreground);
  if (own !== undefined) return [...kept, own];
  return rules.orphansByDefault === true ? [...kept, orphan] : kept;
}

/** The treatment of dependents. */
type PropagationPolicy = 'Background' | 'Foreground' | 'Orphan';

/** `DeleteOptions`, from the body or the query. */
export interface DeleteOptions {
  readonly gracePeriodSeconds?: number | undefined;
  readonly propagationPolicy?: PropagationPolicy | undefined;
  readonly orphanDependents?: boolean | undefined;
  readonly preconditions?:
    | { readonly uid?: string | undefined; readonly resourceVersion?: string | undefined }
    | undefined;
  readonly dryRun: boolean;
}

/**
 * Reads the options of a delete from the body, or without a body from the query. With a body, the whole query is
 * ignored, including its `dryRun`.
 * @throws StatusError 400 or 422: the options are invalid.
 */
export function readDeleteOptions(body: unknown, query: URLSearchParams): DeleteOptions {
  const given = body === undefined ? optionsOfQuery(query) : decodedOptions(body);
  const errors = new FieldErrors();
  const policy = readPolicy(given, errors);
  const dryRun = readDryRun(given.dryRun, errors);
  if (!errors.empty) {
    throw invalid({ group: 'meta.k8s.io', kind: 'DeleteOptions', name: '' }, errors.causes);
  }
  const { gracePeriodSeconds, orphanDependents, preconditions } = given;
  return { dryRun, propagationPolicy: policy, gracePeriodSeconds, orphanDependents, preconditions };
}

/** Decoded options whose values are not checked yet. */
interface GivenOptions extends Omit<DeleteOptions, 'dryRun' | 'propagationPolicy'> {
  readonly dryRun?: readonly string[] | undefined;
  readonly propagationPolicy?: string | undefined;
}

function decodedOptions(body: unknown): GivenOptions {
  try {
    return goType('meta/v1.DeleteOptions').decode(body, new Decoding()) as GivenOptions;
  } catch (error) {
    if (error instanceof DecodeError) throw badRequest(error.message);
    throw error;
  }
}

function optionsOfQuery(query: URLSearchParams): GivenOptions {
  const conditions = ['uid', 'resourceVersion'].flatMap((name) => {
    const value = query.get(name) ?? '';
    return value === '' ? [] : [[name, value] as const];
  });
  const orphans = query.get('orphanDependents');
  const grace = query.get('gracePeriodSeconds');
  if (grace === '') throw badRequest('strconv.ParseInt: parsing "": invalid syntax');
  return {
    dryRun: query.getAll('dryRun'),
    gracePeriodSeconds: readInteger(grace),
    propagationPolicy: query.get('propagationPolicy') ?? undefined,
    orphanDependents: orphans === null ? undefined : isTrue(orphans),
    preconditions: conditions.length === 0 ? undefined : Object.fromEntries(conditions),
  };
}

function readPolicy(
  { propagationPolicy: policy, orphanDependents }: GivenOptions,
  errors: FieldErrors,
): PropagationPolicy | undefined {
  if (policy === undefined) return undefined;
  if (orphanDependents !== undefined) {
    const why = 'orphanDependents and deletionPropagation cannot be both set';
    errors.invalid('propagationPolicy', policy, why);
  }
  if (policy === 'Foreground' || policy === 'Background' || policy === 'Orphan') return policy;
  const supported = ['Foreground', 'Background', 'Orphan', 'nil'];
  errors.notSupported('propagationPolicy', policy, supported);
  return undefined;
}

/** Reads `dryRun`: `All` or absent. */
export function readDryRun(given: unknown, errors: FieldErrors): boolean {
  const values = Array.isArray(given) ? (given as unknown[]) : [];
  if (values.some((value) => value !== 'All')) errors.notSupported('dryRun', values, ['All']);
  return values.length > 0;
}

/**
 * Removes the object stored under `key`.
 * @returns its last state, with the resource version of the deletion
 */
export function removeObject(
  core: ServerCore,
  kind: ServedKind,
  key: string,
): UnstructuredObject | undefined {
  const last = core.log.collection(kind.collection).get(key);
  if (last === undefined) return undefined;
  const object = { ...last, metadata: { ...last.metadata } };
  return core.log.commit({ collection: kind.collection, key, object, deleted: true }).object;
}
