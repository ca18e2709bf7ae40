import type { Applied } from '../client/client.js';
import { isConflict, isForbidden, isInvalid, isApiError } from '../object/api-error.js';
import { describeObject } from '../object/describe-object.js';
import type { FieldChange } from '../object/diff-by-path.js';
import { PersistentVolumeClaim } from '../object/kinds.js';
import type { UnstructuredObject } from '../object/kubernetes-object.js';
import type { ObjectReference } from '../object/object-reference.js';
import { OperatorError } from '../system/operator-error.js';
import { adoptFields } from './adopt-fields.js';
import { applyOptions, asNew, withVersion } from './apply-options.js';
import { appliedChanges, driftOf, expectedChanges, isUnchanged } from './applied-fields.js';
import { readObject } from './context.js';
import type { ApplyContext } from './context.js';
import type { DesiredObject, Pair } from './desired-object.js';
import { emptyMaps } from './empty-maps.js';
import { growClaimsOfTemplates, notGrown } from './grow-claims.js';
import { handOverReplicas } from './hand-over-replicas.js';
import {
  growsTemplates,
  immutableChanges,
  isGrowthOnly,
  isIgnoredChange,
} from './immutable-changes.js';
import { desireOfRun, hasRun } from './job-runs.js';
import { isKind } from './kind-traits.js';
import type { ImmutablePolicy } from './desired-object.js';
import { done, pending } from './outcome.js';
import type { Outcome } from './outcome.js';
import { checkOwnership, reasonToWait } from './ownership.js';
import { isPruneGuarded } from './prune-guard.js';
import { changesTemplate, withLiveTemplate } from './pod-template.js';
import { recreateObject } from './recreate-object.js';
import { releaseFields, warnOfDroppedManagers } from './release-fields.js';

/** What an object has to wait for. */
export interface Gate {
  /** Says why its pods must not be replaced yet; undefined: they may be. */
  readonly replacement?: ((live: UnstructuredObject) => Promise<string | undefined>) | undefined;
  /** Says why it must not be changed yet; undefined: it may be. */
  readonly update?: ((live: UnstructuredObject) => Promise<string | undefined>) | undefined;
  /** Why it must not be created yet; undefined: it may be. */
  readonly creation?: string | undefined;
}

// A cached read waits for the watch after a conflict, so the next attempt sees the truth, unless the
// status of the object changes all the time, as during a rollout.
export const maxAttempts = 5;

/**
 * Brings one object to its desired state, by server-side apply, with no call where it is there.
 * @throws OperatorError `NotOurs`, `AlreadyOwned`, `ImmutableField`, `Terminal`, `ApiError`, …
 */
export async function applyObject(
  context: ApplyContext,
  desired: DesiredObject,
  gate: Gate = {},
): Promise<Outcome> {
  for (let attempt = 1; ; attempt++) {
    // What was said of the last write is not true of the next one.
    context.announce(desired.ref, {});
    const live = await readObject(context, desired.type, desired.ref);
    try {
      const wanted = await desireOfRun(context, desired, live);
      if (wanted === undefined) return done('unchanged', desired.ref, { reason: hasRun });
      if (live === undefined) return await createObject(context, wanted, gate);
      return await bringAbout(context, { desired: wanted, live }, gate);
    } catch (error) {
      if (!isStale(error) || attempt >= maxAttempts) throw error;
    }
  }
}

/**
 * Whether the object is not what was read. An apply of a version that is not the live one is a 409, and
 * so is one that creates what exists; the UID of one that was replaced is a 422, and so is a second
 * controller, where somebody else has got it since it was read.
 */
export function isStale(error: unknown): boolean {
  if (isConflict(error)) return true;
  const identity = ['metadata.uid', 'metadata.ownerReferences'];
  const causes = isInvalid(error) && isApiError(error) ? error.causes : [];
  return causes.some(({ field = '' }) => identity.includes(field));
}

// The read may be of a cache that is behind: an object that exists is a conflict, and whose it is, is
// judged by the next read.
async function createObject(
  context: ApplyContext,
  desired: DesiredObject,
  { creation }: Gate,
): Promise<Outcome> {
  if (creation !== undefined) return pending(desired.ref, creation);
  await desired.check?.();
  const { object } = await apply(context, asNew(desired.creation));
  return done('created', desired.ref, { live: object });
}

async function bringAbout(context: ApplyContext, pair: Pair, gate: Gate): Promise<Outcome> {
  const { desired, live } = pair;
  const { owner, adopt } = context.settings;
  const why = reasonToWait(live, owner);
  if (why !== undefined) return pending(desired.ref, why, { live });
  checkOwnership(live, owner, desired.options.adopt ?? adopt);
  const released = await releaseFields(context, pair);
  const adopted = await adoptFields(context, { desired, live: released });
  const { controllerName } = context.settings;
  if (isUnchanged({ desired, live: adopted }, controllerName)) {
    return done('unchanged', desired.ref, { live: adopted });
  }
  const stays = await gate.update?.(adopted);
  if (stays !== undefined) return pending(desired.ref, stays, { live: adopted, blocks: false });
  const waitsFor = await gate.replacement?.(adopted);
  return updateWhatMay(context, { desired, live: adopted, waitsFor });
}

/** A pair whose pods must not be replaced yet, where it waits for something. */
interface Update extends Pair {
  readonly waitsFor: string | undefined;
}

/** Updates the object; where its pod template has to wait, all the rest of it. */
async function updateWhatMay(context: ApplyContext, update: Update): Promise<Outcome> {
  const { desired, live, waitsFor } = update;
  const { controllerName } = context.settings;
  if (waitsFor === undefined || !changesTemplate(update, controllerName)) {
    return updateObject(context, update);
  }
  const rest = withLiveTemplate(update, controllerName);
  if (isUnchanged({ desired: rest, live }, controllerName)) {
    return pending(desired.ref, waitsFor, { live, blocks: false });
  }
  const outcome = await updateObject(context, { ...update, desired: rest });
  if (outcome.state !== 'done') return outcome;
  const { changes } = outcome.result;
  return pending(desired.ref, waitsFor, { live: outcome.live, changes, blocks: false });
}

async function updateObject(context: ApplyContext, update: Update): Promise<Outcome> {
  const pair: Pair = update;
  const { desired, live } = pair;
  const { controllerName } = context.settings;
  if (isIgnoredChange(pair, controllerName)) {
    return changeImmutable(context, update, { changes: immutableChanges(pair, controllerName) });
  }
  await desired.check?.();
  const handed = await handOverReplicas(context, pair);
  const drift = driftOf(pair, controllerName);
  const cause = drift.length > 0 ? 'drift' : causeOfRollout(causesIn(pair));
  try {
    const ready = await emptyMaps(context, { desired, live: handed });
    context.announce(desired.ref, { changes: expectedChanges(pair, drift), cause });
    const { object: after } = await apply(context, withVersion(desired.object, ready));
    const changes = appliedChanges({ before: live, after, drift });
    const causes = causesIn(pair);
    const rolled = causes.length > 0 && { causes };
    warnOfDroppedManagers(context, { desired, before: live, after });
    const object = await releaseFields(context, { desired, live: after });
    return done('configured', desired.ref, { changes, ...rolled, live: object });
  } catch (error) {
    if (isStale(error)) throw error;
    return refusedUpdate(context, update, error);
  }
}

function causesIn({ desired, live }: Pair): readonly ObjectReference[] {
  return desired.causesOf?.(live) ?? [];
}

/** `causes` in words; undefined for none. */
export function causeOfRollout(causes: readonly ObjectReference[]): string | undefined {
  if (causes.length === 0) return undefined;
  return `${causes.map((ref) => describeObject(ref)).join(', ')} changed`;
}

async function refusedUpdate(
  context: ApplyContext,
  update: Update,
  error: unknown,
): Promise<Outcome> {
  const { desired, live } = update;
  if (!isInvalid(error) && !isForbidden(error)) throw error;
  const changes = immutableChanges(update, context.settings.controllerName, error);
  if (isGrowthOnly(live, changes) && isKind(live, PersistentVolumeClaim)) {
    const outcome = notGrown(context, { desired, live, changes, error });
    if (outcome !== undefined) return outcome;
  }
  if (!isInvalid(error) || changes.length === 0) throw error;
  return changeImmutable(context, update, { changes, error });
}

interface ImmutableChange {
  readonly changes: readonly FieldChange[];
  /** The server's refusal, where it was asked. */
  readonly error?: unknown;
}

async function changeImmutable(
  context: ApplyContext,
  { waitsFor, ...pair }: Update,
  { changes, error }: ImmutableChange,
): Promise<Outcome> {
  const { desired, live } = pair;
  const grows = isGrowthOnly(live, changes) && !isKind(live, PersistentVolumeClaim);
  const policy = grows ? 'recreateOrphan' : immutablePolicy(context, desired);
  if (policy === 'fail') throw immutableField(desired, changes, error);
  if (policy === 'recreate' && waitsFor !== undefined) {
    return pending(desired.ref, waitsFor, { live, blocks: false });
  }
  const grow = (): Promise<Outcome | undefined> => growClaimsOfTemplates(context, pair);
  const first = growsTemplates(live, changes) && { first: grow };
  return recreateObject(context, pair, { orphan: policy === 'recreateOrphan', changes, ...first });
}

/** What is to be done about an immutable field. */
export function immutablePolicy(
  { settings }: Pick<ApplyContext, 'settings'>,
  { options, object }: DesiredObject,
): ImmutablePolicy {
  // To recreate a claim is to lose its data: only who says so of the claim itself can mean it.
  const byDefault = isPruneGuarded(object) ? 'fail' : settings.onImmutable;
  return options.onImmutable ?? byDefault;
}

function immutableField(
  desired: DesiredObject,
  changes: ReturnType<typeof immutableChanges>,
  cause: unknown,
): OperatorError {
  const fields = changes.map(({ path, from, to }) => {
    return from === undefined && to === undefined ? path : `${path} (${show(from)} to ${show(to)})`;
  });
  const message = `${describeObject(desired.ref)} can't be applied: ${fields.join(', ')} can't change once set; take the change back, or set onImmutable to recreate`;
  return new OperatorError('ImmutableField', message, { cause });
}

function show(value: unknown): string {
  return value === undefined ? 'nothing' : JSON.stringify(value);
}

function apply(
  context: ApplyContext,
  object: UnstructuredObject,
): Promise<Applied<UnstructuredObject>> {
  return context.client.apply(object, applyOptions(context));
}
