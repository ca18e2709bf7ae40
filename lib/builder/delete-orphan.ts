import { isConflict, isNotFound } from '../object/api-error.js';
import { PersistentVolumeClaim } from '../object/kinds.js';
import type { UnstructuredObject } from '../object/kubernetes-object.js';
import { keyOf } from '../object/object-key.js';
import { referenceTo } from '../object/object-reference.js';
import type { BuilderSettings } from './builder-options.js';
import { asRead } from './apply-options.js';
import type { Candidate } from './candidate.js';
import { readObject } from './context.js';
import type { RunContext } from './context.js';
import { isKind } from './kind-traits.js';
import { pruneAnnotation } from './marks.js';
import { done, pending } from './outcome.js';
import type { Outcome } from './outcome.js';
import { ownershipOf } from './ownership.js';

const cause = 'no longer desired';
const maxAttempts = 3;
const retrySoon = { requeueAfterMs: 1_000 };

/**
 * Whether `object` may be pruned: claims where `pruneClaims` or else they themselves say so, the rest
 * unless they don't.
 */
export function mayBePruned(
  object: UnstructuredObject,
  { pruneClaims }: Pick<BuilderSettings, 'pruneClaims'>,
): boolean {
  const { annotations = {}, deletionTimestamp } = object.metadata;
  if (deletionTimestamp !== undefined) return false;
  const mark = annotations[pruneAnnotation];
  if (isKind(object, PersistentVolumeClaim)) return pruneClaims ?? mark === 'true';
  return mark !== 'false';
}

/**
 * Deletes an orphan: this very one, as it was when it was judged. One that has changed since is judged
 * again.
 */
export async function deleteOrphan(context: RunContext, candidate: Candidate): Promise<Outcome> {
  const ref = referenceTo(candidate.object);
  const { emitter, owner } = context.settings;
  context.announce(ref, { cause });
  let orphan: Candidate | undefined = candidate;
  for (let attempt = 1; orphan !== undefined; attempt++) {
    if (await isDeleted(context, orphan)) break;
    // Its controller may be writing its status all the time.
    if (attempt >= maxAttempts) return pending(ref, 'changes while it is being pruned', retrySoon);
    const current = await judgedAgain(context, orphan);
    if (current === 'kept') return pending(ref, 'changed while it was being pruned', retrySoon);
    orphan = current;
  }
  emitter?.emit('pruned', { ref, owner: referenceTo(owner), changes: [], cause });
  return done('deleted', ref, { reason: cause });
}

/** Whether it is gone now; false: it is not what it was when it was judged. */
async function isDeleted(
  { client, settings }: RunContext,
  { type, object }: Candidate,
): Promise<boolean> {
  const options = { preconditions: asRead(object), propagationPolicy: 'Background' } as const;
  try {
    await client.delete(type, keyOf(object), { ...options, signal: settings.signal });
    return true;
  } catch (error) {
    if (isNotFound(error)) return true;
    if (isConflict(error)) return false;
    throw error;
  }
}

/** The orphan as it is now; undefined: it is gone; `kept`: it is none any more. */
async function judgedAgain(
  context: RunContext,
  { type, object }: Candidate,
): Promise<Candidate | undefined | 'kept'> {
  const current = await readObject(context, type, referenceTo(object));
  if (current === undefined || current.metadata.uid !== object.metadata.uid) return undefined;
  const ours = ownershipOf(current, context.settings.owner).state === 'ours';
  return ours && mayBePruned(current, context.settings) ? { type, object: current } : 'kept';
}
