import {
  changesTemplate,
  isContainer,
  isPaused,
  keepsRevision,
  plannedFailure,
  planObject,
  refId,
  rollsPods,
} from '../apply/index.js';
import type { DesiredObject, KeptPart, ObjectPlan, PlannedObject } from '../apply/index.js';
import { dryRun } from '../client/index.js';
import { describeObject, referenceTo, isRollingOut, rolloutStatus } from '../object/index.js';
import type { FieldChange, UnstructuredObject, ObjectReference } from '../object/index.js';
import { isOperatorError } from '../system/index.js';
import type { OperatorError } from '../system/index.js';
import { phasesOf } from './apply-order.js';
import type { Chain, ChainedObject, LostObject } from './chain.js';
import type { RunContext } from './context.js';
import { dependenciesOf, dependencyFailed } from './dependencies.js';
import { keptSelector } from './guards.js';
import type { SelectingObject } from './pod-selectors.js';
import { finishObject, prepareObject } from './run.js';
import { decidePruning } from './prune.js';
import { inRolloutOrder } from './reconcile-workloads.js';
import { reasonToHold } from './rollout-state.js';
import { stampsFor, stampSources } from './stamp.js';
import { reasonToStay } from './successors.js';

/** A workload whose pods would be replaced. */
export interface PlannedRollout {
  readonly ref: ObjectReference;
  /** The changes of the pod template that cause the rollout. */
  readonly changes: readonly FieldChange[];
  /** The ConfigMaps and Secrets whose changed data causes the rollout. */
  readonly causes: readonly ObjectReference[];
  /** The workload that must be rolled out first, if any. */
  readonly after?: ObjectReference;
}

/** The changes that `reconcile()` of a chain would make, found by dry runs. */
export interface Plan {
  readonly owner: ObjectReference;
  readonly objects: readonly PlannedObject[];
  readonly rollouts: readonly PlannedRollout[];
  /** True if any object is not `unchanged`. */
  readonly changed: boolean;
}

/** Returns what reconciling all of `chain` would do. Writes nothing. */
export async function makePlan(context: RunContext, chain: Chain): Promise<Plan> {
  const { owner } = context.settings;
  const ref = { ...referenceTo(owner) };
  if (owner.metadata.deletionTimestamp !== undefined) {
    return { owner: ref, objects: [], rollouts: [], changed: false };
  }
  const dry: RunContext = { ...context, client: dryRun(context.settings.client), report: ignore };
  const independent = await Promise.all(
    inOrder(context, chain).map((chained) => planStep(dry, chain, chained)),
  );
  const lost = chain.lost.map(lostObject);
  const steps = withFailedDependencies(independent, lost);
  const known = [...lost, ...steps.map(({ planned }) => planned)];
  const pruned = await planPruning(dry, { chain, steps, planned: known });
  const order = await orderOf(dry, steps);
  const objects = [...known.map((planned) => withOrder(planned, order)), ...pruned];
  const changed = objects.some(({ action }) => action !== 'unchanged');
  return { owner: ref, objects, rollouts: order.rollouts, changed };
}

/** Returns `steps`, in which every object that depends on a failing object fails too. */
function withFailedDependencies(
  steps: readonly PlannedStep[],
  lost: readonly PlannedObject[],
): readonly PlannedStep[] {
  const byId = new Map(steps.map((step) => [refId(step.chained.ref), step] as const));
  const judged = new Map<string, PlannedStep>();
  const judge = (step: PlannedStep): PlannedStep => {
    const id = refId(step.chained.ref);
    const known = judged.get(id);
    if (known !== undefined) return known;
    judged.set(id, step);
    const dependencies = dependenciesOf(step.chained);
    const needed = dependencies.flatMap((each) => byId.get(each) ?? []);
    const judgedNeeds = needed.map(judge);
    const lostNeeds = lost.filter(({ ref }) => dependencies.includes(refId(ref)));
    const broken = [...lostNeeds, ...judgedNeeds.map(({ planned }) => planned)].find(
      ({ error }) => error !== undefined,
    );
    const pending = judgedNeeds.find(({ blocks }) => blocks === true);
    const awaited = step.planned.error && judgedNeeds.find(isContainerToChange);
    const unknown = awaited === undefined ? step : waiting(step, awaited, 'changes before');
    const held = pending === undefined ? unknown : waiting(step, pending, 'is pending');
    const result = broken === undefined ? held : dependent(step, broken);
    judged.set(id, result);
    return result;
  };
  return steps.map(judge);
}

function dependent({ chained }: PlannedStep, { ref, error }: PlannedObject): PlannedStep {
  const because = dependencyFailed(chained.ref, { ref, error: error as OperatorError });
  return failedStep(chained, plannedFailure(chained.ref, because));
}

function isContainerToChange({ planned: { action, ref } }: PlannedStep): boolean {
  return isContainer(ref) && ['create', 'configure', 'wait'].includes(action);
}

/**
 * Returns the step of an object that waits for `needed`: a pending object, or a Namespace or CustomResourceDefinition
 * that did not exist at its dry run. After the change of `needed`, the object may succeed.
 */
function waiting({ chained }: PlannedStep, needed: PlannedStep, how: string): PlannedStep {
  const reason = `waits for ${describeObject(needed.planned.ref)}, which ${how}`;
  const planned = { action: 'wait', ref: chained.ref, changes: [], approximate: true } as const;
  return { ...failedStep(chained, { ...planned, reason }), blocks: true };
}

function ignore(): void {
  // A plan records no events, because it changes nothing.
}

function inOrder({ settings }: RunContext, { objects }: Chain): readonly ChainedObject[] {
  const { early, workloads, late, last } = phasesOf(objects);
  return [...early, ...inRolloutOrder(workloads, settings.rolloutOrder), ...late, ...last];
}

// An object whose kind is not served yet is planned as a creation.
function lostObject({ ref, error }: LostObject): PlannedObject {
  if (!isOperatorError(error, 'UnknownKind')) return plannedFailure(ref, error);
  const reason = `the server serves no ${ref.kind} of ${ref.apiVersion} yet`;
  return { action: 'create', ref, changes: [], approximate: true, reason };
}

/** The order of the rollouts in a plan. */
interface PlannedOrder {
  /** The workloads whose pods would be replaced. */
  readonly rollouts: readonly PlannedRollout[];
  /** By the id of a workload: the workload that must be rolled out before it. */
  readonly after: ReadonlyMap<string, ObjectReference>;
}

/** Returns the order of the workloads in a plan, by the rules of `reconcileWorkloads`. */
async function orderOf(context: RunContext, steps: readonly PlannedStep[]): Promise<PlannedOrder> {
  const { rollout, orderCreation } = context.settings;
  const rollouts: PlannedRollout[] = [];
  const after = new Map<string, ObjectReference>();
  let [rolling, unfinished]: readonly (ObjectReference | undefined)[] = [];
  for (const step of steps.filter(({ chained }) => rollsPods(chained.ref))) {
    const { ref } = step.planned;
    const rolls = replacesPods(step);
    const before = step.planned.action === 'create' ? unfinished : rolling;
    if (before !== undefined && (await waits(context, step, before))) after.set(refId(ref), before);
    if (rolls) rollouts.push(rolloutOf(step, after.get(refId(ref))));
    if (rollout === 'ordered' && (rolls || isInTheWay(step, isRollingOut))) rolling ??= ref;
    const unready = step.planned.action === 'create' || rolls || isInTheWay(step, isUnderway);
    if (orderCreation && unready) unfinished ??= ref;
  }
  return { rollouts, after };
}

async function waits(
  context: RunContext,
  step: PlannedStep,
  before: ObjectReference,
): Promise<boolean> {
  const { chained, planned, desired, live } = step;
  if (live === undefined || desired === undefined) return planned.action === 'create';
  const pair = { desired, live };
  const gate = { replacement: describeObject(before) };
  const applied = planned.action === 'configure' || planned.action === 'recreate';
  if (!applied || (await reasonToHold(context, { chained, live }, gate)) === undefined)
    return false;
  if (planned.action === 'recreate') return !step.keepsPods;
  return changesTemplate(pair, context.settings.controllerName);
}

/** Returns true if the rollout is not complete and can complete. Paused workloads never complete. */
function isUnderway(live: UnstructuredObject): boolean {
  return !isPaused(live) && !rolloutStatus(live).complete;
}

/** The fields by which a workload may keep its pods, see {@link keepsRevision}. */
const revisionPaths = /^spec\.(paused|updateStrategy(\.type)?)$/;

function replacesPods(step: PlannedStep): boolean {
  const { planned, desired, live } = step;
  if (live === undefined) return false;
  if (planned.action === 'recreate') return !step.keepsPods;
  // If the plan does not change these fields, read them from the live object: another manager may set them.
  const isNew = planned.changes.some(({ path }) => revisionPaths.test(path));
  if (keepsRevision(isNew && desired !== undefined ? desired.object : live)) return false;
  return planned.action === 'configure' && templateChanges(planned).length > 0;
}

function templateChanges({ changes }: PlannedObject): readonly FieldChange[] {
  return changes.filter(({ path }) => path.startsWith('spec.template'));
}

/**
 * Returns true if later workloads have to wait for this one, because it is unfinished, failing or waiting.
 */
function isInTheWay(
  { planned, live, isHeld = false }: PlannedStep,
  isUnfinished: (live: UnstructuredObject) => boolean,
): boolean {
  if (planned.error !== undefined || planned.action === 'wait' || isHeld) return true;
  return live !== undefined && isUnfinished(live);
}

function rolloutOf(
  { planned, causes }: PlannedStep,
  after: ObjectReference | undefined,
): PlannedRollout {
  const changes = templateChanges(planned);
  return { ref: planned.ref, changes, causes, ...(after !== undefined && { after }) };
}

function withOrder(planned: PlannedObject, { after }: PlannedOrder): PlannedObject {
  const before = after.get(refId(planned.ref));
  if (before === undefined) return planned;
  const once = `once ${describeObject(before)} is rolled out`;
  const whole =
    planned.action !== 'configure' || templateChanges(planned).length === planned.changes.length;
  return { ...planned, reason: whole ? once : `its pod template ${once}, the rest at once` };
}

/** The plan of one chained object, with the data that the rest of the plan needs. */
export interface PlannedStep extends ObjectPlan {
  readonly chained: ChainedObject;
  /** The desired object; undefined if it can't be reconciled. */
  readonly desired?: DesiredObject;
  /** The ConfigMaps and Secrets whose changed data replaces its pods. */
  readonly causes: readonly ObjectReference[];
}

/** Plans one object. Failures become part of the plan. */
export async function planStep(
  context: RunContext,
  chain: Chain,
  chained: ChainedObject,
): Promise<PlannedStep> {
  try {
    const desired = await desiredOf(context, chain, chained);
    const part = (present: UnstructuredObject): Promise<KeptPart | undefined> =>
      plannedSelector(context, chain, { chained, live: present });
    const plan = await planObject(context, desired, { part });
    const { live } = plan;
    if (live === undefined) return { ...plan, chained, desired, causes: [] };
    const causes = desired.causesOf?.(live) ?? [];
    const stays =
      plan.planned.action === 'configure'
        ? await reasonToStay(context, chain, { chained, live })
        : undefined;
    const planned = stays === undefined ? plan.planned : { ...plan.planned, reason: stays };
    return { ...plan, chained, desired, causes, planned };
  } catch (error) {
    return failedStep(chained, plannedFailure(chained.ref, error));
  }
}

/**
 * Returns the selector that an object would keep; undefined if it would get its new selector, perhaps only after the
 * reconcile has changed the workloads.
 */
async function plannedSelector(
  context: RunContext,
  chain: Chain,
  object: SelectingObject,
): Promise<KeptPart | undefined> {
  const kept = await keptSelector(context, chain, object);
  if (kept === undefined) return undefined;
  const steps = await Promise.all(kept.workloads.map((one) => planStep(context, chain, one)));
  const change = steps.every(
    ({ planned: { action, approximate } }) =>
      !approximate && (action === 'recreate' || action === 'configure'),
  );
  return change ? undefined : kept;
}

/** Returns the step of an object that the plan does not change, because it fails or waits. */
export function failedStep(chained: ChainedObject, planned: PlannedObject): PlannedStep {
  return { chained, causes: [], planned };
}

async function desiredOf(
  context: RunContext,
  chain: Chain,
  chained: ChainedObject,
): Promise<DesiredObject> {
  const prepared = prepareObject(context.settings, chain, chained);
  const known = stampSources(context, { chain, outcomes: new Map(), of: chained });
  const stamps = await stampsFor(prepared, { ...known, applied: () => true });
  return finishObject(context, prepared, stamps);
}

/** The steps planned before pruning. */
export interface PlannedSoFar {
  readonly chain: Chain;
  readonly steps: readonly PlannedStep[];
  readonly planned: readonly PlannedObject[];
}

/** Returns the objects that would be pruned; prunes nothing while an object fails. */
export async function planPruning(
  context: RunContext,
  { chain, steps, planned }: PlannedSoFar,
): Promise<readonly PlannedObject[]> {
  // Pruning runs after the workloads are updated, so the references of the updated workloads count.
  const becoming = new Map<string, UnstructuredObject>();
  for (const { desired, planned: step } of steps) {
    const updated = step.action === 'configure' || step.action === 'recreate';
    if (desired !== undefined && updated) becoming.set(refId(step.ref), desired.object);
  }
  const fails = planned.some(({ action }) => action === 'fail' || action === 'violate');
  const forecast = {
    becoming,
    coming: planned.filter(({ action }) => action === 'create').length,
    hold: fails ? 'nothing is pruned as long as an object fails' : undefined,
  };
  try {
    const decisions = await decidePruning(context, chain, forecast);
    return decisions.map(({ candidate, ...decision }) => ({
      ...{ action: decision.action, ref: referenceTo(candidate.object) },
      ...{ changes: [], approximate: false },
      ...(decision.action === 'wait' && { reason: decision.reason }),
    }));
  } catch (error) {
    if (!isOperatorError(error)) throw error;
    return [plannedFailure(referenceTo(context.settings.owner), error)];
  }
}
