import {
  isFoundInvalid,
  isInvalid,
  describeObject,
  PersistentVolumeClaim,
} from '../object/index.js';
import type {
  FieldChange,
  KubernetesObject,
  UnstructuredObject,
  ObjectReference,
} from '../object/index.js';
import { errorMessage, isOperatorError, OperatorError } from '../system/index.js';
import { applyOptions, isStale, readObject, whileStale } from './context.js';
import type { ApplyContext } from './context.js';
import { changedDesire } from './desired-object.js';
import type { DesiredObject, ImmutablePolicy, Pair } from './desired-object.js';
import { appliedChanges, driftOf, isUnchanged } from './differences.js';
import {
  adoptFields,
  adoptionOf,
  adoptionOfDefaults,
  handOverReplicas,
  releaseFields,
  warnOfDroppedManagers,
} from './field-ownership.js';
import type {
  Adopting,
  Applying,
  ObjectDecision,
  Recreating,
  Refused,
  Waiting,
} from './decision.js';
import { decideByExistence } from './decision.js';
import {
  growClaimsOfTemplates,
  notGrown,
  reportRefusedGrowth,
  withoutGrowth,
} from './grow-claims.js';
import type { LateGrowth } from './grow-claims.js';
import {
  checkRecreation,
  deletesClaims,
  growsTemplates,
  immutableChanges,
  isClaimSize,
  isGrowthOnly,
  isIgnoredChange,
  recreateObject,
} from './immutable-fields.js';
import { desireOfRun, withRun } from './job-runs.js';
import { isKind } from './kind-traits.js';
import { checkOwnership } from './ownership.js';
import { changesTemplate, withLiveTemplate } from './pod-template.js';
import { isPruneGuarded } from './prune-object.js';
import { applyAsRead } from './removed-fields.js';
import { done, pending } from './results.js';
import type { Outcome } from './results.js';

/**
 * Applies one object by server-side apply; sends nothing if the object is as desired.
 * @throws OperatorError `NotOurs`, `AlreadyOwned`, `ImmutableField`, `Terminal`, `ApiError`, …
 */
export function applyObject(
  context: ApplyContext,
  desired: DesiredObject,
  gate: Gate = {},
): Promise<Outcome> {
  const { type, ref } = desired;
  return whileStale(async () => {
    const live = await readObject(context, type, ref);
    const decision = await decide(context, desired, live, gate);
    return withRun(await carryOut(context, ref, decision, gate));
  });
}

async function carryOut(
  context: ApplyContext,
  ref: ObjectReference,
  decision: ObjectDecision,
  gate: Gate = {},
): Promise<Outcome> {
  switch (decision.action) {
    case 'nothing': {
      const { live, run } = decision;
      return done('unchanged', ref, {
        ...(live && { live }),
        ...(run && { run, reason: run.message }),
      });
    }
    case 'wait': {
      const { reason, live, blocks, requeueAfterMs } = decision;
      const again = requeueAfterMs !== undefined && { requeueAfterMs };
      return pending(ref, reason, { live, blocks, ...again });
    }
    case 'create':
      return createObject(context, decision.desired);
    case 'adopt': {
      const live = await adoptFields(context, decision, decision.adoption);
      const next = await decideAdopted(context, { ...decision, live }, gate);
      return carryOut(context, ref, next, gate);
    }
    case 'apply':
      return updateObject(context, decision);
    case 'recreate':
      return replaceObject(context, decision);
    case 'refuse':
      throw decision.error;
  }
}

// The cache may be stale. If the object exists, the apply is a conflict, and the next read checks who owns
// it.
async function createObject(context: ApplyContext, desired: DesiredObject): Promise<Outcome> {
  await desired.check?.();
  const creating = { live: undefined, desired: desired.creation };
  const live = await applyAsRead(context.client, creating, applyOptions(context));
  const isSettled = isUnchanged({ desired, live }, context.settings.controllerName);
  return done('created', desired.ref, { live, isSettled });
}

async function updateObject(context: ApplyContext, decision: Applying): Promise<Outcome> {
  const { desired, live, hold, isHeld } = decision;
  const { ref } = desired;
  await desired.check?.();
  const handed = await handOverReplicas(context, decision);
  const drift = driftOf(decision, context.settings.controllerName);
  const causes = desired.causesOf?.(live) ?? [];
  const cause = drift.length > 0 ? 'drift' : causeOfRollout(causes);
  let next: ObjectDecision | undefined;
  const handles = (error: unknown): boolean => {
    next = decideRefused(context, decision, error);
    return next !== undefined;
  };
  try {
    let changes: readonly FieldChange[] | undefined;
    const changesIn = (after: KubernetesObject): readonly FieldChange[] =>
      (changes ??= appliedChanges({ before: live, after: after as UnstructuredObject, drift }));
    const options = applyOptions(context, { changes: changesIn, cause, handles });
    const applying = { live: handed, desired: desired.object };
    const after = await applyAsRead(context.client, applying, options);
    warnOfDroppedManagers(context, { desired, before: live, after });
    const object = await releaseFields(context, { desired, live: after });
    if (isHeld) {
      const again = decision.requeueAfterMs !== undefined && {
        requeueAfterMs: decision.requeueAfterMs,
      };
      const made = changesIn(after);
      return pending(ref, hold ?? '', { live: object, changes: made, blocks: false, ...again });
    }
    const isSettled = isUnchanged({ desired, live: object }, context.settings.controllerName);
    return done('configured', ref, {
      ...{ changes: changesIn(after), live: object, isSettled },
      ...(causes.length > 0 && { causes }),
    });
  } catch (error) {
    next ??= decideRefused(context, decision, error);
    if (next === undefined) throw error;
    if (next.action !== 'adopt') return carryOut(context, ref, next);
    const owned = await adoptFields(context, next, next.adoption);
    return updateObject(context, { ...decision, live: owned });
  }
}

/**
 * Recreates an object, after its claims have grown.
 * @throws as {@link checkRecreation}. Nothing was deleted then.
 */
async function replaceObject(context: ApplyContext, decision: Recreating): Promise<Outcome> {
  const { desired, grows } = decision;
  const creation = await recordedCheck(context, decision);
  const late = grows ? await growClaimsOfTemplates(context, decision) : undefined;
  if (late === undefined) return recreateObject(context, decision, creation);
  const next = decideLate(context, decision, late);
  if (late.refusal !== undefined) reportRefusedGrowth(context, desired, late.reason);
  return carryOut(context, desired.ref, next);
}

// Reports a failed dry run. The client only records failed writes.
async function recordedCheck(
  context: ApplyContext,
  decision: Recreating,
): Promise<UnstructuredObject> {
  try {
    return await checkRecreation(context, decision);
  } catch (error) {
    const isReported = isOperatorError(error, 'ImmutableField');
    const failure = { type: 'Warning', reason: 'ApplyFailed', action: 'Apply' } as const;
    const related = decision.desired.ref;
    if (!isReported) context.report({ ...failure, note: errorMessage(error), related });
    throw error;
  }
}

/**
 * Decides about a StatefulSet whose claims can't grow, or can't grow yet: its other changes are applied.
 * @throws OperatorError `Terminal`: the storage class refuses, and another immutable field changes too.
 */
export function decideLate(
  { settings }: ApplyContext,
  { desired, live, changes }: Recreating,
  { reason, refusal, requeueAfterMs }: LateGrowth,
): Applying | Waiting {
  const again = requeueAfterMs !== undefined && { requeueAfterMs };
  const wait = { action: 'wait', reason, live, blocks: false, waiting: changes, ...again } as const;
  if (!isGrowthOnly(live, changes)) {
    if (refusal !== undefined) throw refusal;
    return wait;
  }
  const rest = withoutGrowth(desired, changes);
  if (isUnchanged({ desired: rest, live }, settings.controllerName)) return wait;
  return { action: 'apply', desired: rest, live, hold: reason, isHeld: true, ...again };
}

/** Returns a text with the objects whose change causes a rollout; undefined without such objects. */
export function causeOfRollout(causes: readonly ObjectReference[]): string | undefined {
  if (causes.length === 0) return undefined;
  return `${causes.map((ref) => describeObject(ref)).join(', ')} changed`;
}

/** A part of an object that must not change yet, while the rest may change. */
export interface KeptPart {
  readonly reason: string;
  /** Returns a desired object in which this part stays as it is in the live object. */
  readonly change: (object: UnstructuredObject) => UnstructuredObject;
}

/** Conditions that hold back a change of an object. */
export interface Gate {
  /** Returns the reason why the object's pods must not be replaced yet; undefined if they may be. */
  readonly replacement?: ((live: UnstructuredObject) => Promise<string | undefined>) | undefined;
  /** Returns the reason why the object must not be changed yet; undefined if it may be. */
  readonly update?: ((live: UnstructuredObject) => Promise<string | undefined>) | undefined;
  /** Returns the part of the object that must not be changed yet; undefined if all may be. */
  readonly part?: ((live: UnstructuredObject) => Promise<KeptPart | undefined>) | undefined;
  /** The reason why the object must not be created yet; undefined if it may be. */
  readonly creation?: string | undefined;
}

/**
 * Decides about an object from its desired and its live state.
 * @throws OperatorError `NotOurs`, `AlreadyOwned`
 */
export async function decide(
  context: ApplyContext,
  given: DesiredObject,
  found: UnstructuredObject | undefined,
  gate: Gate = {},
): Promise<ObjectDecision> {
  const desired = await desireOfRun(context, given, found);
  if ('state' in desired) return { action: 'nothing', run: desired };
  const { owner, adopt } = context.settings;
  const first = decideByExistence(desired, found, { owner, hold: gate.creation });
  if (first.action !== 'compare') return first;
  const { live } = first;
  checkOwnership(live, owner, desired.options.adopt ?? adopt);
  const adoption = adoptionOf({ desired, live }, context.settings);
  if (adoption !== undefined) return { action: 'adopt', desired, live, adoption };
  return decideUpdate(context, { desired, live }, gate);
}

/** Decides the next step after the operator has become the owner of the adopted fields. */
export async function decideAdopted(
  context: ApplyContext,
  { desired, live, adoption }: Adopting,
  gate: Gate = {},
): Promise<ObjectDecision> {
  const next = await decideUpdate(context, { desired, live }, gate);
  // Only an apply removes adopted fields that are not desired.
  const leaves = next.action === 'nothing' && (adoption.removals ?? []).length > 0;
  return leaves ? { action: 'apply', desired, live, hold: undefined, isHeld: false } : next;
}

async function decideUpdate(
  context: ApplyContext,
  pair: Pair,
  gate: Gate,
): Promise<ObjectDecision> {
  const { desired, live } = pair;
  const { controllerName } = context.settings;
  if (isUnchanged(pair, controllerName)) return { action: 'nothing', live };
  const stays = await gate.update?.(live);
  if (stays !== undefined) return { action: 'wait', reason: stays, live, blocks: false };
  const kept = await gate.part?.(live);
  if (kept !== undefined) {
    const rest = { desired: changedDesire(desired, kept.change), live };
    return decideHeld(context, rest, kept.reason);
  }
  const hold = await gate.replacement?.(live);
  if (hold !== undefined && changesTemplate(pair, controllerName)) {
    return decideHeld(context, { desired: withLiveTemplate(pair, controllerName), live }, hold);
  }
  if (isIgnoredChange(pair, controllerName)) {
    const changes = immutableChanges(pair, controllerName);
    return decideImmutable(context, { ...pair, hold }, { changes });
  }
  return { action: 'apply', desired, live, hold, isHeld: false };
}

/** Decides about an object of which one part must not be changed yet: `desired` has that part as it is in `live`. */
function decideHeld(
  { settings }: ApplyContext,
  { desired, live }: Pair,
  hold: string,
): Applying | Waiting {
  const isSame = isUnchanged({ desired, live }, settings.controllerName);
  if (isSame) return { action: 'wait', reason: hold, live, blocks: false };
  return { action: 'apply', desired, live, hold, isHeld: true };
}

/**
 * Decides the next step after the server has refused an apply.
 * @returns undefined if the refusal concerns neither immutable fields nor defaults
 */
export function decideRefused(
  context: ApplyContext,
  update: Applying,
  error: unknown,
): ObjectDecision | undefined {
  const { desired, live } = update;
  if (isStale(error)) return undefined;
  const changes = immutableChanges(update, context.settings.controllerName, error);
  if (isGrowthOnly(live, changes) && isKind(live, PersistentVolumeClaim)) {
    const waiting = notGrown(context, { desired, live }, { changes, error });
    if (waiting !== undefined) return waiting;
  }
  if (!isInvalid(error)) return undefined;
  if (changes.length > 0) return decideImmutable(context, update, { changes, error });
  if (!isFoundInvalid(error)) return undefined;
  const adoption = adoptionOfDefaults(update, context.settings.controllerName, error);
  return adoption && { action: 'adopt', desired, live, adoption };
}

interface ImmutableChange {
  readonly changes: readonly FieldChange[];
  /** The server's refusal; undefined if no request was made. */
  readonly error?: unknown;
}

function decideImmutable(
  { settings }: ApplyContext,
  { desired, live, hold }: Pair & Pick<Applying, 'hold'>,
  { changes, error }: ImmutableChange,
): Waiting | Recreating | Refused {
  const isGrowth = isGrowthOnly(live, changes) && !isKind(live, PersistentVolumeClaim);
  const policy = isGrowth ? 'recreateOrphan' : immutablePolicy(settings, desired);
  if (policy === 'fail') {
    return { action: 'refuse', changes, error: immutableField(desired, changes, error) };
  }
  if (policy === 'recreate' && deletesClaims(live)) {
    return { action: 'refuse', changes, error: losesClaims(desired, changes, error) };
  }
  if (policy === 'recreate' && hold !== undefined) {
    return { action: 'wait', reason: hold, live, blocks: false, waiting: changes };
  }
  const orphan = policy === 'recreateOrphan';
  const grows = growsTemplates(live, changes);
  return { action: 'recreate', desired, live, changes, orphan, grows };
}

function immutablePolicy(
  { onImmutable }: ApplyContext['settings'],
  { options, object }: DesiredObject,
): ImmutablePolicy {
  // Recreating a claim, Namespace or CustomResourceDefinition loses data, so only its own option can allow that.
  return options.onImmutable ?? (isPruneGuarded(object) ? 'fail' : onImmutable);
}

function immutableField(
  desired: DesiredObject,
  changes: readonly FieldChange[],
  cause: unknown,
): OperatorError {
  const fields = changes.map(({ path, from, to }) => {
    return from === undefined && to === undefined ? path : `${path} (${show(from)} to ${show(to)})`;
  });
  const isSize = changes.some(({ path }) => isClaimSize(desired.object, path));
  const remedy = isSize
    ? 'take the change back: claims can only grow'
    : 'take the change back, give the object another name, or delete it, with its pods or data, to have it recreated (in a builder: see onImmutable)';
  const message = `${describeObject(desired.ref)} can't be applied: ${fields.join(', ')} can't change once set; ${remedy}`;
  return new OperatorError('ImmutableField', message, { cause });
}

// The user chose `whenDeleted: Delete` for the deletion of the StatefulSet, not for a change of one of its fields.
function losesClaims(
  { ref }: DesiredObject,
  changes: readonly FieldChange[],
  cause: unknown,
): OperatorError {
  const paths = changes.map(({ path }) => path).join(', ');
  const message = `${describeObject(ref)} can't be recreated to change ${paths}: its persistentVolumeClaimRetentionPolicy.whenDeleted is Delete, so its claims would be deleted with their data; take the change back, set onImmutable to recreateOrphan, or first set whenDeleted to Retain`;
  return new OperatorError('ImmutableField', message, { cause });
}

function show(value: unknown): string {
  return value === undefined ? 'nothing' : JSON.stringify(value);
}
