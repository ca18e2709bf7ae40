import { isConflict, isNotFound } from '../object/api-error.js';
import type { UnstructuredObject } from '../object/kubernetes-object.js';
import { keyOf } from '../object/object-key.js';
import { referenceTo } from '../object/object-reference.js';
import { asRead } from './context.js';
import type { Candidate } from './candidate.js';
import { readObject } from './context.js';
import type { ApplyContext } from './context.js';
import { scopeLabel } from './marks.js';
import { done, pending } from './results.js';
import type { Outcome } from './results.js';
import { ownershipOf } from './ownership.js';
import { mayBePruned } from './prune-guard.js';

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
