import omit from 'lodash/omit.js';
import {
  createMergePatch,
  serverSetFields,
  isApiError,
  isForbidden,
  isNamespaceTerminating,
  isNotFound,
  describeObject,
  redactChanges,
} from '../object/index.js';
import type { FieldChange, UnstructuredObject, ObjectReference } from '../object/index.js';
import type { OperatorError } from '../system/index.js';
import { isOperatorError } from '../system/index.js';
import {
  appliedChanges,
  desiredDifferences,
  driftOf,
  droppedPaths,
  expectedChanges,
} from './differences.js';
import type { Drift } from './differences.js';
import { applyOptions, asNew, readObject, whileStale, withUid } from './context.js';
import type { ApplyContext } from './context.js';
import { decide, decideAdopted, decideLate, decideRefused } from './reconcile-object.js';
import type { Gate } from './reconcile-object.js';
import type { Adopting, Applying, ObjectDecision, Recreating, Refused } from './decision.js';
import type { DesiredObject, Pair } from './desired-object.js';
import { emptyMaps, withoutPaths } from './removed-fields.js';
import { withHandedReplicas, withManagedFields } from './field-ownership.js';
import { growClaimsOfTemplates } from './grow-claims.js';
import type { LateGrowth } from './grow-claims.js';
import { checkRecreation } from './immutable-fields.js';
import { appliedHashAnnotation } from './ownership.js';
import { keepsRevision, podTemplateIn } from './pod-template.js';
import { failed, refWithUid } from './results.js';

/** The action that `reconcile()` would take on one object. */
export interface PlannedObject {
  /**
   * `violate`: the change is refused, because the field is immutable and `onImmutable` is `fail`. `wait`:
   * nothing happens yet; `reason` names the cause. `fail`: see `error`.
   */
  readonly action:
    'create' | 'configure' | 'recreate' | 'unchanged' | 'prune' | 'violate' | 'wait' | 'fail';
  readonly ref: ObjectReference;
  /** For `create`: every field of the object. */
  readonly changes: readonly FieldChange[];
  /** True if `changes` were computed without a dry run: they lack the effects of defaults and admission. */
  readonly approximate: boolean;
  /** The reason for the action, or for the missing dry run. */
  readonly reason?: string;
  /** Paths of the changed immutable fields; set if `action` is `violate` or `recreate`. */
  readonly immutable?: readonly string[];
  readonly error?: OperatorError;
}

/** A planned object with its live state. */
export interface ObjectPlan {
  readonly planned: PlannedObject;
  /** The live object; undefined if it does not exist. */
  readonly live?: UnstructuredObject;
  /** For `recreate`: whether its pods stay unchanged. */
  readonly keepsPods?: boolean;
  /** For `wait`: whether dependents of the object wait too. */
  readonly blocks?: boolean;
  /** For `configure`: true if some of the changes wait. The rollouts of later workloads then wait too. */
  readonly isHeld?: boolean;
}

/**
 * Plans the effect of {@link applyObject}.
 * @param context - a context whose client only makes dry runs
 * @throws OperatorError the error that {@link applyObject} would throw.
 */
export function planObject(
  context: ApplyContext,
  desired: DesiredObject,
  gate: Gate = {},
): Promise<ObjectPlan> {
  return whileStale(async () => {
    const live = await readObject(context, desired.type, desired.ref);
    const decision = await decide(context, desired, live, gate);
    const ref = refWithUid(desired.ref, live);
    return { ...(await describe(context, ref, decision, gate)), ...(live && { live }) };
  });
}

/**
 * Returns the plan entry of an object that would fail.
 * @throws `error` if it is not a failure of the object.
 */
export function plannedFailure(ref: ObjectReference, error: unknown): PlannedObject {
  const outcome = failed(ref, error);
  const base = { ref, changes: [], approximate: false };
  if (outcome.state !== 'failed') {
    return { ...base, action: 'wait', reason: outcome.result.reason ?? '' };
  }
  return { ...base, action: 'fail', error: outcome.error, reason: outcome.error.message };
}

async function describe(
  context: ApplyContext,
  ref: ObjectReference,
  decision: ObjectDecision,
  gate: Gate = {},
): Promise<ObjectPlan> {
  const base = { ref, changes: [], approximate: false };
  switch (decision.action) {
    case 'nothing': {
      const why = decision.run !== undefined && { reason: decision.run.message };
      return { planned: { ...base, action: 'unchanged', ...why } };
    }
    case 'wait': {
      const { reason, blocks, waiting: changes = [] } = decision;
      return { planned: { ...base, action: 'wait', changes, reason }, blocks };
    }
    case 'create':
      return { planned: await planCreation(context, decision.desired) };
    case 'adopt':
      return planAdoption(context, ref, decision, gate);
    case 'apply':
      return planUpdate(context, ref, decision);
    case 'recreate':
      return planRecreation(context, ref, decision);
    case 'refuse':
      return { planned: violation(ref, decision) };
  }
}

async function planCreation(context: ApplyContext, desired: DesiredObject): Promise<PlannedObject> {
  const { ref, creation } = desired;
  await desired.check?.();
  const changes = redactChanges(
    ref.kind,
    desiredDifferences(worthShowing(creation), { metadata: {} }),
  );
  try {
    await context.client.apply(asNew(creation), applyOptions(context));
    return { action: 'create', ref, changes, approximate: false };
  } catch (error) {
    const reason = dryRunProblem(error);
    if (reason === undefined) throw error;
    return { action: 'create', ref, changes, approximate: true, reason };
  }
}

// Leaves out the fields that identify the object, which the plan shows anyway, and metadata that every object gets,
// such as the annotation with the applied hash.
function worthShowing({ metadata, ...fields }: UnstructuredObject): object {
  const { labels, annotations = {} } = metadata;
  const own = omit(annotations, appliedHashAnnotation);
  const shown = { labels, ...(Object.keys(own).length > 0 && { annotations: own }) };
  return { metadata: shown, ...omit(fields, ['apiVersion', 'kind']) };
}

// A separate write adopts the fields first. A dry run of the apply can't include the effect of that write.
async function planAdoption(
  context: ApplyContext,
  ref: ObjectReference,
  decision: Adopting,
  gate: Gate,
): Promise<ObjectPlan> {
  const { adoption } = decision;
  const live = withManagedFields(decision.live, adoption);
  const decided = await decideAdopted(context, { ...decision, live }, gate);
  const next = await describe(context, ref, decided);
  const refused =
    decided.action === 'apply' && next.planned.action === 'configure'
      ? await refusedRemoval(context, decided)
      : undefined;
  if (refused !== undefined) return describe(context, ref, refused);
  const { removals } = adoption;
  const { action, changes: known } = next.planned;
  if (removals === undefined || (action !== 'configure' && action !== 'unchanged')) return next;
  const paths = new Set(known.map(({ path }) => path));
  const changes = [...known, ...removals.filter(({ path }) => !paths.has(path))];
  const reason = `takes over the fields of ${context.settings.adoptManagers.join(', ')}`;
  const planned = { action: 'configure', ref, changes, approximate: true, reason } as const;
  return { ...next, planned };
}

/**
 * Decides about fields to take over whose removal the server refuses. A dry run of the apply keeps these fields,
 * because on the server the operator does not own them yet.
 */
async function refusedRemoval(
  context: ApplyContext,
  decision: Applying,
): Promise<ObjectDecision | undefined> {
  const { desired, live } = decision;
  const { client, settings } = context;
  const { controllerName: fieldManager, signal } = settings;
  const paths = droppedPaths(decision, fieldManager);
  if (paths.length === 0) return undefined;
  try {
    const { object } = await client.apply(withUid(desired.object, live), applyOptions(context));
    const [from, to] = [live, withoutPaths(object, paths)].map((each) =>
      omit(each, ['status', ...serverSetFields]),
    );
    const patch = { type: 'merge', body: createMergePatch(from ?? {}, to ?? {}) } as const;
    await client.patch(desired.type, desired.ref, patch, { fieldManager, signal });
    return undefined;
  } catch (error) {
    const next = decideRefused(context, decision, error);
    if (next === undefined && dryRunProblem(error) === undefined) throw error;
    return next?.action === 'adopt' ? undefined : next;
  }
}

async function planUpdate(
  context: ApplyContext,
  ref: ObjectReference,
  decision: Applying,
): Promise<ObjectPlan> {
  const { desired, live, hold, isHeld } = decision;
  const { client } = context;
  await desired.check?.();
  const drift = driftOf(decision, context.settings.controllerName);
  const held = isHeld && hold !== undefined && { reason: hold };
  const configure = { action: 'configure', ref, ...held } as const;
  try {
    const emptying = { live, desired: desired.object };
    const emptied = await emptyMaps(client, emptying, applyOptions(context));
    const planned =
      emptied === live
        ? { changes: await dryApply(context, decision, drift), approximate: false }
        : afterEmptying(decision, emptied, drift);
    return { planned: { ...configure, ...planned }, isHeld };
  } catch (error) {
    const next = decideRefused(context, decision, error);
    const blocking = next?.action === 'adopt' ? next.adoption : undefined;
    if (next !== undefined && blocking === undefined) return describe(context, ref, next);
    const reason = blocking?.cause ?? dryRunProblem(error);
    if (reason === undefined) throw error;
    const changes = [...expectedChanges(decision, drift), ...(blocking?.removals ?? [])];
    return { planned: { ...configure, changes, approximate: true, reason }, isHeld };
  }
}

async function dryApply(
  context: ApplyContext,
  pair: Pair,
  drift: readonly Drift[],
): Promise<readonly FieldChange[]> {
  const { live } = pair;
  const object = withUid(withHandedReplicas(pair, context.settings.controllerName), live);
  const { object: after } = await context.client.apply(object, applyOptions(context));
  return appliedChanges({ before: live, after, drift });
}

// A separate write empties the maps first. A dry run of the apply can't include the effect of that write.
function afterEmptying(
  pair: Pair,
  emptied: UnstructuredObject,
  drift: readonly Drift[],
): Pick<PlannedObject, 'changes' | 'approximate' | 'reason'> {
  const removals = appliedChanges({ before: pair.live, after: emptied, drift });
  const changes = [...removals, ...expectedChanges({ ...pair, live: emptied }, drift)];
  const reason = 'empties maps in a separate write first';
  return { changes, approximate: true, reason };
}

async function planRecreation(
  context: ApplyContext,
  ref: ObjectReference,
  decision: Recreating,
): Promise<ObjectPlan> {
  const { desired, live, changes, orphan } = decision;
  const [template, present] = [desired.object, live].map((each) => podTemplateIn(each) ?? {});
  const isSame = desiredDifferences(template ?? {}, present ?? {}).length === 0;
  const rolls = !isSame && !keepsRevision(desired.object);
  const around = reasonOfRecreation({ grows: decision.grows, rolls });
  const reason = orphan ? around : 'deleted and recreated';
  const { late, problem } = await rehearse(context, decision);
  if (late !== undefined) return describe(context, ref, decideLate(context, decision, late));
  const planned: PlannedObject = {
    ...{ action: 'recreate', ref, changes, immutable: changes.map(({ path }) => path) },
    ...{ approximate: problem !== undefined },
    reason: problem === undefined ? reason : `${reason}; ${problem}`,
  };
  return { planned, keepsPods: orphan && !rolls };
}

interface Around {
  /** True if the claims of the StatefulSet grow before its recreation. */
  readonly grows: boolean;
  /** True if the pod template changes too, so that the new object replaces the pods. */
  readonly rolls: boolean;
}

/** Returns what happens to the pods of an object that is deleted and created again without them. */
export function reasonOfRecreation({ grows, rolls }: Around): string {
  return `${grows ? 'recreated to grow its claims' : 'recreated'}; its pods stay${rolls ? ' until its rollout replaces them' : ''}`;
}

interface Rehearsed {
  /** Why claims would not grow. */
  readonly late?: LateGrowth | undefined;
  /** The reason why a dry run was not possible. */
  readonly problem?: string;
}

/** Makes the dry runs of a recreation. @throws OperatorError: a dry run failed. */
async function rehearse(context: ApplyContext, decision: Recreating): Promise<Rehearsed> {
  try {
    await checkRecreation(context, decision);
    return decision.grows ? { late: await growClaimsOfTemplates(context, decision) } : {};
  } catch (error) {
    const problem = dryRunProblem(error);
    if (problem === undefined) throw error;
    return { problem };
  }
}

function violation(ref: ObjectReference, { changes, error }: Refused): PlannedObject {
  const immutable = changes.map(({ path }) => path);
  const reason = `${describeObject(ref)}: ${immutable.join(', ')} can't change once set`;
  return { action: 'violate', ref, changes, approximate: false, immutable, reason, error };
}

/** Returns the reason why no dry run was possible; undefined if the error is the result of the dry run. */
function dryRunProblem(error: unknown): string | undefined {
  if (isOperatorError(error, 'UnknownKind')) return 'the server does not serve the kind yet';
  if (!isApiError(error)) return undefined;
  if (isNotFound(error)) return 'its namespace, or its kind, does not exist yet';
  if (isNamespaceTerminating(error)) return undefined;
  if (isForbidden(error)) return `no dry run: ${error.message}`;
  const webhook = /does not support dry run/.test(error.message);
  return webhook ? 'a webhook does not support dry runs' : undefined;
}
