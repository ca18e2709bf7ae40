import { isConflict, isNotFound } from '../object/api-error.js';
import { describeObject } from '../object/describe-object.js';
import { PersistentVolumeClaim } from '../object/kinds.js';
import type {
  KubernetesObject,
  TypeMeta,
  UnstructuredObject,
} from '../object/kubernetes-object.js';
import { keyOf } from '../object/object-key.js';
import { referenceTo } from '../object/object-reference.js';
import type { ResourceType } from '../object/resource-type.js';
import { OperatorError } from '../system/operator-error.js';
import { asRead, readObject, reportFailure } from './context.js';
import type { ApplyContext } from './context.js';
import { isContainer, isKind } from './kind-traits.js';
import { allowDeletionsAnnotation, ownershipOf, pruneAnnotation, scopeLabel } from './ownership.js';
import { done, pending } from './results.js';
import type { Outcome } from './results.js';

/** An object that the owner has, looked at by pruning. */
export interface Candidate {
  readonly type: ResourceType<KubernetesObject>;
  /** Its metadata; the rest is not read. */
  readonly object: UnstructuredObject;
}

/** Whose deletion takes along what nobody has asked to delete: stored data, or all that is in it. */
export function isPruneGuarded(type: TypeMeta): boolean {
  return isKind(type, PersistentVolumeClaim) || isContainer(type);
}

/**
 * Whether an object that is no longer desired may be deleted: claims, Namespaces and
 * CustomResourceDefinitions only where their annotation `operator-builder.io/prune` is `true`, all
 * others unless it is `false`. What is being deleted already is left alone.
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

/** How many objects an owner has, and how many of them it keeps. */
export interface OwnedCount {
  readonly owned: number;
  readonly staying: number;
}

/**
 * Refuses to delete more than `maxDeletions` allows; by default never all that the owner has. The user
 * of the owner can allow it for one generation, by an annotation.
 * @throws OperatorError `TooManyDeletions`, with the list; nothing was deleted. It is recorded.
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
  const why =
    staying === 0 ? 'nothing that it has is desired any longer' : `maxDeletions allows ${limit}`;
  const message = `${describeObject(owner)}: pruning would delete ${leaving.length} of ${owned} objects, and ${why}; nothing was deleted. If this is meant, ${remedyFor(owner)}: ${names}`;
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

const cause = 'no longer desired';
const maxAttempts = 3;
const retrySoon = { requeueAfterMs: 1_000 };

/** Options of {@link deleteOrphan}. */
export interface DeleteOrphanOptions {
  /**
   * Has the server delete what the orphan owns first. The orphan is pending until it is gone.
   * @defaultValue false: the orphan counts as deleted, and garbage collection follows
   */
  readonly waits?: boolean | undefined;
}

/**
 * Deletes an orphan: this very one, as it was when it was judged. One that has changed since is judged
 * again.
 */
export async function deleteOrphan(
  context: ApplyContext,
  candidate: Candidate,
  { waits = false }: DeleteOrphanOptions = {},
): Promise<Outcome> {
  const ref = referenceTo(candidate.object);
  const { emitter, owner } = context.settings;
  context.announce(ref, { cause });
  let orphan: Candidate | undefined = candidate;
  let remaining: UnstructuredObject | undefined;
  for (let attempt = 1; orphan !== undefined; attempt++) {
    const attempted = await tryDelete(context, orphan, waits ? 'Foreground' : 'Background');
    remaining = attempted.remaining;
    if (attempted.isDeleted) break;
    // Its controller may be writing its status all the time.
    if (attempt >= maxAttempts) return pending(ref, 'changes while it is being pruned', retrySoon);
    const current = await judgedAgain(context, orphan);
    if (current === 'kept') return pending(ref, 'changed while it was being pruned', retrySoon);
    orphan = current;
  }
  emitter?.emit('pruned', { ref, owner: referenceTo(owner), changes: [], cause });
  if (waits && remaining !== undefined) return leaving(remaining);
  return done('deleted', ref, { reason: cause });
}

/** The outcome of an object that is being deleted and still exists; its reason names what holds it. */
export function leaving(object: UnstructuredObject): Outcome {
  const { finalizers = [] } = object.metadata;
  const holders = finalizers.length === 0 ? '' : `, held by ${finalizers.join(', ')}`;
  return pending(referenceTo(object), `is being deleted${holders}`, { live: object });
}

interface DeleteAttempt {
  /** False: the object is not what it was when it was judged. */
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
  const options = { preconditions: asRead(object), propagationPolicy, signal };
  try {
    const left = await client.delete(type, keyOf(object), options);
    const { apiVersion, kind } = object;
    const remaining = left && ({ ...left, apiVersion, kind } as UnstructuredObject);
    return { isDeleted: true, remaining };
  } catch (error) {
    if (isNotFound(error)) return { isDeleted: true };
    if (isConflict(error)) return { isDeleted: false };
    throw error;
  }
}

/** The orphan as it is now; undefined: it is gone; `kept`: it is none any more. */
async function judgedAgain(
  context: ApplyContext,
  { type, object }: Candidate,
): Promise<Candidate | undefined | 'kept'> {
  const current = await readObject(context, type, referenceTo(object));
  if (current === undefined || current.metadata.uid !== object.metadata.uid) return undefined;
  const scopes = [current, object].map(({ metadata }) => metadata.labels?.[scopeLabel]);
  // A chain of another scope may have it now.
  const isSameScope = scopes[0] === scopes[1];
  const ours = isSameScope && ownershipOf(current, context.settings.owner).state === 'ours';
  return ours && mayBePruned(current, context.settings) ? { type, object: current } : 'kept';
}
