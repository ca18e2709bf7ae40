import omit from 'lodash/omit.js';
import {
  adoptedRemovals,
  appliedChanges,
  appliedHashAnnotation,
  applyOptions,
  asNew,
  checkOwnership,
  checkRecreation,
  desireOfRun,
  desiredDifferences,
  driftOf,
  emptyMaps,
  expectedChanges,
  failed,
  hasRun,
  immutableChanges,
  immutablePolicy,
  isGrowthOnly,
  isIgnoredChange,
  isKind,
  isStale,
  isUnchanged,
  maxAttempts,
  notGrown,
  podTemplateIn,
  readObject,
  reasonToWait,
  withUid,
} from '../apply/index.js';
import type { DesiredObject, Drift, Pair } from '../apply/index.js';
import { isApiError, isForbidden, isInvalid, isNotFound } from '../object/api-error.js';
import { describeObject } from '../object/describe-object.js';
import type { FieldChange } from '../object/diff-by-path.js';
import { PersistentVolumeClaim, Service } from '../object/kinds.js';
import type { UnstructuredObject } from '../object/kubernetes-object.js';
import type { ObjectReference } from '../object/object-reference.js';
import { redactChanges } from '../object/redact.js';
import { isOperatorError, OperatorError } from '../system/operator-error.js';
import type { Chain, ChainedObject } from './chain.js';
import type { RunContext } from './context.js';
import type { PlannedObject } from './plan-types.js';
import { finishObject, prepareObject } from './prepare-object.js';
import { stampSources } from './stamp-sources.js';
import { stampsFor } from './stamps-for.js';
import { reasonToStay } from './successors.js';

/** What is planned for one object, and what the rest of the plan needs to know. */
export interface PlannedStep {
  readonly chained: ChainedObject;
  readonly planned: PlannedObject;
  /** What it would be afterwards; undefined where it can't be reconciled. */
  readonly desired?: DesiredObject;
  readonly live?: UnstructuredObject;
  /** The ConfigMaps and Secrets whose changed data replaces its pods. */
  readonly causes: readonly ObjectReference[];
}

/** Plans one object. Failures are part of the plan. */
export async function planObject(
  context: RunContext,
  chain: Chain,
  chained: ChainedObject,
): Promise<PlannedStep> {
  try {
    const desired = await desiredObject(context, chain, chained);
    for (let attempt = 1; ; attempt++) {
      try {
        return await planDesired(context, desired, { chain, chained });
      } catch (error) {
        if (!isStale(error) || attempt >= maxAttempts) throw error;
      }
    }
  } catch (error) {
    return { chained, causes: [], planned: failure(chained.ref, error) };
  }
}

async function planDesired(
  context: RunContext,
  given: DesiredObject,
  { chain, chained }: { readonly chain: Chain; readonly chained: ChainedObject },
): Promise<PlannedStep> {
  const live = await readObject(context, given.type, given.ref);
  const desired = await desireOfRun(context, given, live);
  if (desired === undefined) {
    const gone = { action: 'unchanged', ref: given.ref, changes: [], approximate: false } as const;
    return { chained, desired: given, causes: [], planned: { ...gone, reason: hasRun } };
  }
  if (live === undefined) {
    return { chained, desired, causes: [], planned: await planCreation(context, desired) };
  }
  const pair = { desired, live };
  const update = await planUpdate(context, pair);
  const stays =
    update.action === 'configure' && isKind(desired.ref, Service)
      ? await reasonToStay(context, chain, { chained, live })
      : undefined;
  const planned = stays === undefined ? update : { ...update, reason: stays };
  return { chained, ...pair, causes: desired.causesOf?.(live) ?? [], planned };
}

/**
 * The entry of an object that would fail.
 * @throws `error` where it is no failure of the object.
 */
export function failure(ref: ObjectReference, error: unknown): PlannedObject {
  const outcome = failed(ref, error);
  const base = { ref, changes: [], approximate: false };
  if (outcome.state !== 'failed') {
    return { ...base, action: 'wait', reason: outcome.result.reason ?? '' };
  }
  return { ...base, action: 'fail', error: outcome.error, reason: outcome.error.message };
}

async function desiredObject(
  context: RunContext,
  chain: Chain,
  chained: ChainedObject,
): Promise<DesiredObject> {
  const prepared = prepareObject(context.settings, chain, chained);
  const known = stampSources(context, { chain, outcomes: new Map(), of: chained.ref });
  const stamps = await stampsFor(prepared, { ...known, applied: () => true });
  return finishObject(context, prepared, stamps);
}

async function planCreation(context: RunContext, desired: DesiredObject): Promise<PlannedObject> {
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

// Identity is in the reference, owner and hash are the same bookkeeping for every object.
function worthShowing({ metadata, ...fields }: UnstructuredObject): object {
  const { labels, annotations = {} } = metadata;
  const own = omit(annotations, appliedHashAnnotation);
  const shown = { labels, ...(Object.keys(own).length > 0 && { annotations: own }) };
  return { metadata: shown, ...omit(fields, ['apiVersion', 'kind']) };
}

async function planUpdate(context: RunContext, pair: Pair): Promise<PlannedObject> {
  const { desired, live } = pair;
  const { owner, adopt, controllerName, adoptManagers } = context.settings;
  const ref = {
    ...desired.ref,
    ...(live.metadata.uid !== undefined && { uid: live.metadata.uid }),
  };
  const wait = reasonToWait(live, owner);
  if (wait !== undefined) {
    return { action: 'wait', ref, changes: [], approximate: false, reason: wait };
  }
  checkOwnership(live, owner, desired.options.adopt ?? adopt);
  const removals = adoptedRemovals(pair, adoptManagers);
  if (removals === undefined && isUnchanged(pair, controllerName)) {
    return { action: 'unchanged', ref, changes: [], approximate: false };
  }
  await desired.check?.();
  if (isIgnoredChange(pair, controllerName)) {
    return planImmutable(context, pair, { changes: immutableChanges(pair, controllerName) });
  }
  const drift = driftOf(pair, controllerName);
  try {
    const emptied = await emptyMaps(context, pair);
    if (emptied !== live) return afterEmptying(pair, emptied, drift);
    const applied = await context.client.apply(
      withUid(desired.object, live),
      applyOptions(context),
    );
    const changes = appliedChanges({ before: live, after: applied.object, drift });
    const planned = { action: 'configure', ref, changes, approximate: false } as const;
    return removals === undefined ? planned : withRemovals(planned, removals, adoptManagers);
  } catch (error) {
    const waiting = planGrowth(context, pair, error);
    if (waiting !== undefined) return waiting;
    const reason = dryRunProblem(error);
    if (reason === undefined) return planRefused(context, pair, error);
    const changes = [...expectedChanges(pair, drift), ...(removals ?? [])];
    return { action: 'configure', ref, changes, approximate: true, reason };
  }
}

// Its maps are emptied by a write of its own, which a dry run can't build upon.
function afterEmptying(
  pair: Pair,
  emptied: UnstructuredObject,
  drift: readonly Drift[],
): PlannedObject {
  const { ref } = pair.desired;
  const removals = appliedChanges({ before: pair.live, after: emptied, drift });
  const changes = [...removals, ...expectedChanges({ ...pair, live: emptied }, drift)];
  const reason = 'maps that are to be empty are emptied before the rest is applied';
  return { action: 'configure', ref, changes, approximate: true, reason };
}

// The fields are taken over by a write of its own, which a dry run can't build upon.
function withRemovals(
  planned: PlannedObject,
  removals: readonly FieldChange[],
  managers: readonly string[],
): PlannedObject {
  const known = new Set(planned.changes.map(({ path }) => path));
  const changes = [...planned.changes, ...removals.filter(({ path }) => !known.has(path))];
  const reason = `takes over the fields of ${managers.join(', ')}`;
  return { ...planned, changes, approximate: true, reason };
}

/** A claim that can't grow (now); undefined where `error` says something else. */
function planGrowth(context: RunContext, pair: Pair, error: unknown): PlannedObject | undefined {
  if (!isKind(pair.live, PersistentVolumeClaim)) return undefined;
  if (!isInvalid(error) && !isForbidden(error)) return undefined;
  const changes = immutableChanges(pair, context.settings.controllerName, error);
  if (!isGrowthOnly(pair.live, changes)) return undefined;
  const outcome = notGrown(context, { ...pair, changes, error });
  if (outcome?.state !== 'pending') return undefined;
  const { ref, reason = '' } = outcome.result;
  return { action: 'wait', ref, changes, approximate: false, reason };
}

async function planRefused(
  context: RunContext,
  pair: Pair,
  error: unknown,
): Promise<PlannedObject> {
  const { controllerName } = context.settings;
  const changes = isInvalid(error) ? immutableChanges(pair, controllerName, error) : [];
  if (changes.length === 0) throw error;
  return planImmutable(context, pair, { changes, error });
}

async function planImmutable(
  context: RunContext,
  { desired, live }: Pair,
  { changes, error }: { readonly changes: readonly FieldChange[]; readonly error?: unknown },
): Promise<PlannedObject> {
  const base = { ref: desired.ref, changes, approximate: false };
  const immutable = changes.map(({ path }) => path);
  const grows = isGrowthOnly(live, changes) && !isKind(live, PersistentVolumeClaim);
  if (!grows && immutablePolicy(context, desired) === 'fail') {
    const reason = `${describeObject(desired.ref)}: ${immutable.join(', ')} can't change once set`;
    const cause = new OperatorError('ImmutableField', reason, { cause: error });
    return { ...base, action: 'violate', immutable, reason, error: cause };
  }
  const orphan = grows || immutablePolicy(context, desired) === 'recreateOrphan';
  const problem = await recreationProblem(context, { desired, live }, { orphan, changes });
  const around = orphan ? 'it is made again around its pods' : 'it is deleted and made again';
  const reason = grows ? 'its claims grow, and its pods stay' : around;
  const untried = problem !== undefined && { approximate: true, reason: `${reason}; ${problem}` };
  return { ...base, action: 'recreate', immutable, reason, ...untried };
}

/** Why it could not be tried. @throws OperatorError: it was tried, and would fail. */
async function recreationProblem(
  context: RunContext,
  pair: Pair,
  how: { readonly orphan: boolean; readonly changes: readonly FieldChange[] },
): Promise<string | undefined> {
  try {
    await checkRecreation(context, pair, how);
    return undefined;
  } catch (error) {
    const problem = dryRunProblem(error);
    if (problem === undefined) throw error;
    return problem;
  }
}

/** Whether the pods of a workload that is made again stay, as long as their template does. */
export function isRecreatedAroundPods(
  context: RunContext,
  { desired, live, planned }: PlannedStep,
): boolean {
  if (planned.action !== 'recreate' || desired === undefined || live === undefined) return false;
  const template = podTemplateIn(desired.object) ?? {};
  if (desiredDifferences(template, podTemplateIn(live) ?? {}).length > 0) return false;
  const orphaned = immutablePolicy(context, desired) === 'recreateOrphan';
  return orphaned || isGrowthOnly(live, planned.changes);
}

/** Why the server could not try it; undefined: it could, and the error is the answer. */
function dryRunProblem(error: unknown): string | undefined {
  if (isOperatorError(error, 'UnknownKind')) return 'the server does not serve the kind yet';
  if (!isApiError(error)) return undefined;
  if (isNotFound(error)) return 'its namespace, or its kind, does not exist yet';
  if (isForbidden(error)) return `no dry run: ${error.message}`;
  const webhook = /does not support dry run/.test(error.message);
  return webhook ? 'a webhook does not support dry runs' : undefined;
}
