import { isConflict, describeObject, PersistentVolumeClaim, referenceTo } from '../object/index.js';
import type {
  KubernetesObject,
  TypeMeta,
  UnstructuredObject,
  ResourceType,
} from '../object/index.js';
import { OperatorError } from '../system/index.js';
import { deleteAsRead, readObject, reportFailure } from './context.js';
import type { ApplyContext } from './context.js';
import { builtInType, isContainer, isKind } from './kind-traits.js';
import {
  allowDeletionsAnnotation,
  managedByLabel,
  ownershipOf,
  reasonOfLeaving,
  pruneAnnotation,
  scopeLabel,
} from './ownership.js';
import { done, pending } from './results.js';
import type { Outcome, PendingDetails } from './results.js';

/** An object of the owner that may be pruned. */
export interface Candidate {
  readonly type: ResourceType<KubernetesObject>;
  /** The metadata of the object; its other fields are not read. */
  readonly object: UnstructuredObject;
}

/** Returns true for kinds whose deletion also destroys stored data or contained objects. */
export function isPruneGuarded(type: TypeMeta): boolean {
  return isKind(type, PersistentVolumeClaim) || isContainer(type);
}

/**
 * Returns true if an object that is no longer desired may be deleted. Claims, Namespaces and
 * CustomResourceDefinitions need the annotation `operator-builder.io/prune: true`; all other objects may be
 * deleted unless it is `false`. Objects that are already being deleted are left out.
 */
export function mayBePruned(
  { apiVersion, kind, metadata }: KubernetesObject,
  { pruneClaims }: { readonly pruneClaims?: boolean | undefined } = {},
): boolean {
  if (metadata.deletionTimestamp !== undefined) return false;
  const mark = metadata.annotations?.[pruneAnnotation];
  if (mark === 'false') return false;
  if (!isPruneGuarded({ apiVersion, kind })) return true;
  const claim = isKind({ apiVersion, kind }, PersistentVolumeClaim);
  return (claim ? pruneClaims : undefined) ?? mark === 'true';
}

/** The number of objects that an owner has, and the number that stays. */
export interface OwnedCount {
  readonly owned: number;
  readonly staying: number;
}

/**
 * Throws if pruning would delete more than `maxDeletions` allows; the default never allows all objects of the
 * owner. An annotation of the owner can allow it for one generation.
 * @throws OperatorError `TooManyDeletions`, with the list. Nothing was deleted, and the failure is recorded.
 */
export function checkDeletions(
  context: ApplyContext,
  leaving: readonly Candidate[],
  counts: OwnedCount,
): void {
  const { owner, maxDeletions } = context.settings;
  const { owned, staying } = counts;
  const limit = maxDeletions(counts);
  if (leaving.length <= limit || allowsDeletions(owner)) return;
  const names = leaving.map(({ object }) => describeObject(object)).join(', ');
  const why = staying === 0 ? 'none of its objects is desired' : `maxDeletions allows ${limit}`;
  const message = `${describeObject(owner)}: pruning would delete ${leaving.length} of ${owned} objects, and ${why}; nothing was deleted. If this is intended, ${remedyFor(owner)}: ${names}`;
  const error = new OperatorError('TooManyDeletions', message);
  reportFailure(context, referenceTo(owner), error);
  throw error;
}

function allowsDeletions({ metadata }: KubernetesObject): boolean {
  const { generation, annotations = {} } = metadata;
  return generation !== undefined && annotations[allowDeletionsAnnotation] === String(generation);
}

function remedyFor(owner: KubernetesObject): string {
  const { generation } = owner.metadata;
  if (generation === undefined) return 'raise maxDeletions';
  return `set the annotation ${allowDeletionsAnnotation}: "${generation}" on ${describeObject(owner)}, or raise maxDeletions`;
}

const maxAttempts = 3;
const retrySoon = { requeueAfterMs: 1_000 };

/** Delay before the next look at an object that a finalizer holds. */
export const retryHeld = { requeueAfterMs: 5_000 };

/** Options of {@link deleteOrphan}. */
export interface DeleteOrphanOptions {
  /**
   * If true, the orphan is pending until the server has also deleted its dependents.
   * @defaultValue false: the orphan counts as deleted, and garbage collection follows. An orphan that
   *   {@link isHeld} is pending.
   */
  readonly waits?: boolean | undefined;
}

/**
 * Deletes an object that is no longer desired. If it has changed since it was read, decides about the changed object
 * again.
 */
export async function deleteOrphan(
  context: ApplyContext,
  candidate: Candidate,
  { waits = false }: DeleteOrphanOptions = {},
): Promise<Outcome> {
  const ref = referenceTo(candidate.object);
  const { emitter, owner } = context.settings;
  const cause = causeOf(owner);
  let orphan: Candidate | undefined = candidate;
  let remaining: UnstructuredObject | undefined;
  for (let attempt = 1; orphan !== undefined; attempt++) {
    const attempted = await tryDelete(context, orphan, waits ? 'Foreground' : 'Background');
    remaining = attempted.remaining;
    if (attempted.isDeleted) break;
    // Another controller may write the object's status continuously, so the attempts are limited.
    if (attempt >= maxAttempts) return pending(ref, 'changes while it is being pruned', retrySoon);
    const current = await judgedAgain(context, orphan);
    if (current === 'kept') return pending(ref, 'changed while it was being pruned', retrySoon);
    orphan = current;
  }
  emitter?.emit('pruned', { ref, owner: referenceTo(owner), changes: [], cause });
  if (remaining !== undefined && waits) return leaving(remaining);
  // Requeue, since the operator does not necessarily watch the kind of a custom resource.
  if (remaining !== undefined && isHeld(remaining)) return leaving(remaining, retryHeld);
  return done('deleted', ref, { reason: cause });
}

function causeOf({ metadata }: KubernetesObject): string {
  return metadata.deletionTimestamp === undefined
    ? 'no longer desired'
    : 'its owner is being deleted';
}

/** Returns the outcome of an object that is being deleted; its reason names the finalizers. */
export function leaving(
  object: UnstructuredObject,
  details: Pick<PendingDetails, 'requeueAfterMs'> = {},
): Outcome {
  return pending(referenceTo(object), reasonOfLeaving(object), { live: object, ...details });
}

/**
 * Returns true for a custom resource that is being deleted and that a finalizer holds. Its controller may need
 * other objects of the owner, such as a Secret, to finish.
 */
export function isHeld({ apiVersion, kind, metadata }: KubernetesObject): boolean {
  const { deletionTimestamp, finalizers = [] } = metadata;
  if (deletionTimestamp === undefined || finalizers.length === 0) return false;
  return builtInType({ apiVersion, kind }) === undefined && !isContainer({ apiVersion, kind });
}

interface DeleteAttempt {
  /** False if the object has changed since it was examined. */
  readonly isDeleted: boolean;
  /** The object, if it still exists. */
  readonly remaining?: UnstructuredObject | undefined;
}

async function tryDelete(
  { client, settings }: ApplyContext,
  { type, object }: Candidate,
  propagationPolicy: 'Background' | 'Foreground',
): Promise<DeleteAttempt> {
  const { signal } = settings;
  const options = { propagationPolicy, signal, details: { cause: causeOf(settings.owner) } };
  try {
    const left = await deleteAsRead(client, type, object, options);
    const { apiVersion, kind } = object;
    const remaining = left && ({ ...left, apiVersion, kind } as UnstructuredObject);
    return { isDeleted: true, remaining };
  } catch (error) {
    if (isConflict(error)) return { isDeleted: false };
    throw error;
  }
}

/** Returns the current orphan; undefined if it is gone, `kept` if it is no longer an orphan. */
async function judgedAgain(
  context: ApplyContext,
  { type, object }: Candidate,
): Promise<Candidate | undefined | 'kept'> {
  const current = await readObject(context, type, referenceTo(object));
  if (current === undefined || current.metadata.uid !== object.metadata.uid) return undefined;
  // A chain of another scope or controller may have taken over the object.
  const isOfSameChain = [scopeLabel, managedByLabel].every(
    (label) => current.metadata.labels?.[label] === object.metadata.labels?.[label],
  );
  const ours = isOfSameChain && ownershipOf(current, context.settings.owner).state === 'ours';
  return ours && mayBePruned(current, context.settings) ? { type, object: current } : 'kept';
}
