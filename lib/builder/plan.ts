import { changesTemplate, isContainer, plannedFailure, refId, rollsPods } from '../apply/index.js';
import type { PlannedObject } from '../apply/index.js';
import { dryRun } from '../client/dry-run.js';
import { describeObject } from '../object/describe-object.js';
import type { FieldChange } from '../object/diff-by-path.js';
import type { UnstructuredObject } from '../object/kubernetes-object.js';
import { referenceTo } from '../object/object-reference.js';
import type { ObjectReference } from '../object/object-reference.js';
import { isRollingOut, rolloutStatus } from '../object/rollout-status.js';
import type { OperatorError } from '../system/operator-error.js';
import { isOperatorError } from '../system/operator-error.js';
import { phasesOf } from './apply-order.js';
import type { Chain, ChainedObject, LostObject } from './chain.js';
import type { RunContext } from './context.js';
import { dependenciesOf } from './dependencies.js';
import { dependencyFailed } from './dependency-failed.js';
import { failedStep, planStep } from './plan-object.js';
import type { PlannedStep } from './plan-object.js';
import { planPruning } from './plan-pruning.js';
import type { Plan, PlannedRollout } from './plan-types.js';
import { inRolloutOrder } from './reconcile-workloads.js';
import { reasonToHold } from './rollout-gate.js';
import { isPaused, updatesOnDelete } from './rollout-state.js';

/** What reconciling all of `chain` would do. Writes nothing. */
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
  const steps = withFailedDependencies(independent);
  const known = [...chain.lost.map(lostObject), ...steps.map(({ planned }) => planned)];
  const pruned = await planPruning(dry, { chain, steps, planned: known });
  const order = await orderOf(dry, steps);
  const objects = [...known.map((planned) => withOrder(planned, order)), ...pruned];
  const changed = objects.some(({ action }) => action !== 'unchanged');
  return { owner: ref, objects, rollouts: order.rollouts, changed };
}

/** `steps`, where what needs an object that fails does too, as it would be left as it is. */
function withFailedDependencies(steps: readonly PlannedStep[]): readonly PlannedStep[] {
  const byId = new Map(steps.map((step) => [refId(step.chained.ref), step] as const));
  const judged = new Map<string, PlannedStep>();
  const judge = (step: PlannedStep): PlannedStep => {
    const id = refId(step.chained.ref);
    const known = judged.get(id);
    if (known !== undefined) return known;
    judged.set(id, step);
    const needed = dependenciesOf(step.chained).flatMap((each) => byId.get(each) ?? []);
    const judgedNeeds = needed.map(judge);
    const broken = judgedNeeds.find(({ planned }) => planned.error !== undefined);
    const awaited = step.planned.error && judgedNeeds.find(isContainerToChange);
    const unknown = awaited === undefined ? step : untried(step, awaited.planned);
    const result = broken?.planned.error === undefined ? unknown : dependent(step, broken.planned);
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

/** What failed may well succeed once its Namespace or definition is as it is going to be. */
function untried({ chained }: PlannedStep, { ref }: PlannedObject): PlannedStep {
  const reason = `waits for ${describeObject(ref)}, which changes before`;
  const planned = { action: 'wait', ref: chained.ref, changes: [], approximate: true } as const;
  return failedStep(chained, { ...planned, reason });
}

function ignore(): void {
  // Nothing happened: a plan makes no events.
}

function inOrder({ settings }: RunContext, { objects }: Chain): readonly ChainedObject[] {
  const { early, workloads, late, last } = phasesOf(objects);
  return [...early, ...inRolloutOrder(workloads, settings.rolloutOrder), ...late, ...last];
}

// A kind that is not there yet can be planned all the same.
function lostObject({ ref, error }: LostObject): PlannedObject {
  if (!isOperatorError(error, 'UnknownKind')) return plannedFailure(ref, error);
  const reason = `the server serves no ${ref.kind} of ${ref.apiVersion} yet`;
  return { action: 'create', ref, changes: [], approximate: true, reason };
}

/** The order in which a plan is carried out, as far as there is one. */
interface PlannedOrder {
  /** The workloads whose pods would be replaced. */
  readonly rollouts: readonly PlannedRollout[];
  /** By id: the workload that has to be rolled out before. */
  readonly after: ReadonlyMap<string, ObjectReference>;
}

/** What the workloads of a plan have to wait for, by the rules of `reconcileWorkloads`. */
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

/** Not rolled out, and on the way to it: what is paused or updated on deletion never gets there. */
function isUnderway(live: UnstructuredObject): boolean {
  return !isPaused(live) && !rolloutStatus(live).complete;
}

function replacesPods(step: PlannedStep): boolean {
  const { planned, desired, live } = step;
  if (live === undefined || updatesOnDelete(desired?.object ?? live)) return false;
  if (planned.action === 'recreate') return !step.keepsPods;
  return planned.action === 'configure' && templateChanges(planned).length > 0;
}

function templateChanges({ changes }: PlannedObject): readonly FieldChange[] {
  return changes.filter(({ path }) => path.startsWith('spec.template'));
}

/** Whether what comes after has to wait for the workload, or for what keeps it from being reconciled. */
function isInTheWay(
  { planned, live }: PlannedStep,
  isUnfinished: (live: UnstructuredObject) => boolean,
): boolean {
  if (planned.error !== undefined || planned.action === 'wait') return true;
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
