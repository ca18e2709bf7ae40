import { dryRun } from '../client/dry-run.js';
import { describeObject } from '../object/describe-object.js';
import { referenceTo } from '../object/object-reference.js';
import type { ObjectReference } from '../object/object-reference.js';
import type { OperatorError } from '../system/operator-error.js';
import { isOperatorError } from '../system/operator-error.js';
import type { Chain, ChainedObject, LostObject } from './chain.js';
import type { RunContext } from './context.js';
import { dependenciesOf, refId } from './dependencies.js';
import { dependencyFailed } from './dependency-failed.js';
import { comesBeforeWorkloads, rollsPods } from './kind-traits.js';
import { failure, isRecreatedAroundPods, planObject } from './plan-object.js';
import type { PlannedStep } from './plan-object.js';
import { planPruning } from './plan-pruning.js';
import type { Plan, PlannedObject, PlannedRollout } from './plan-types.js';
import { inRolloutOrder } from './reconcile-workloads.js';
import { rolloutStateOf, updatesOnDelete } from './rollout-state.js';

/** What reconciling all of `chain` would do. Writes nothing. */
export async function makePlan(context: RunContext, chain: Chain): Promise<Plan> {
  const { owner } = context.settings;
  const ref = { ...referenceTo(owner) };
  if (owner.metadata.deletionTimestamp !== undefined) {
    return { owner: ref, objects: [], rollouts: [], changed: false };
  }
  const dry: RunContext = { ...context, client: dryRun(context.settings.client), report: ignore };
  const independent = await Promise.all(
    inOrder(context, chain).map((chained) => planObject(dry, chain, chained)),
  );
  const steps = withFailedDependencies(independent);
  const known = [...chain.lost.map(lostObject), ...steps.map(({ planned }) => planned)];
  const pruned = await planPruning(dry, { chain, steps, planned: known });
  const rollouts = rolloutsOf(context, steps);
  const objects = [...known.map((planned) => withOrder(planned, rollouts)), ...pruned];
  const changed = objects.some(({ action }) => action !== 'unchanged');
  return { owner: ref, objects, rollouts, changed };
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
    const broken = needed.map(judge).find(({ planned }) => planned.error !== undefined);
    const result = broken?.planned.error === undefined ? step : dependent(step, broken.planned);
    judged.set(id, result);
    return result;
  };
  return steps.map(judge);
}

function dependent({ chained }: PlannedStep, { ref, error }: PlannedObject): PlannedStep {
  const because = dependencyFailed(chained.ref, { ref, error: error as OperatorError });
  return { chained, causes: [], planned: failure(chained.ref, because) };
}

function ignore(): void {
  // Nothing happened: a plan makes no events.
}

function inOrder({ settings }: RunContext, { objects }: Chain): readonly ChainedObject[] {
  const workloads = objects.filter(({ stage }) => stage === 'workload');
  const early = objects.filter(({ ref }) => comesBeforeWorkloads(ref));
  const late = objects.filter((one) => !workloads.includes(one) && !early.includes(one));
  return [...early, ...inRolloutOrder(workloads, settings.rolloutOrder), ...late];
}

// A kind that is not there yet can be planned all the same.
function lostObject({ ref, error }: LostObject): PlannedObject {
  if (!isOperatorError(error, 'UnknownKind')) return failure(ref, error);
  const reason = `the server serves no ${ref.kind} of ${ref.apiVersion} yet`;
  return { action: 'create', ref, changes: [], approximate: true, reason };
}

/** The workloads whose pods would be replaced, each after the one before it that is not at rest. */
function rolloutsOf(context: RunContext, steps: readonly PlannedStep[]): readonly PlannedRollout[] {
  const { settings } = context;
  const rollouts: PlannedRollout[] = [];
  let before: ObjectReference | undefined;
  for (const step of steps) {
    const { chained, planned, desired, live, causes } = step;
    if (!rollsPods(chained.ref) || live === undefined) continue;
    const changes = planned.changes.filter(({ path }) => path.startsWith('spec.template'));
    const stays = isRecreatedAroundPods(context, step) || updatesOnDelete(desired?.object ?? live);
    const rolls =
      !stays &&
      (planned.action === 'recreate' || (planned.action === 'configure' && changes.length > 0));
    const { ref } = planned;
    const after = before !== undefined && { after: before };
    if (rolls) rollouts.push({ ref, changes, causes, ...after });
    const { progressDeadlineSeconds = 600 } = chained.link.workload ?? {};
    const state = rolloutStateOf(live, { ...settings, progressDeadlineSeconds })?.state;
    if (rolls || state === 'progressing' || state === 'stuck') before ??= ref;
  }
  return rollouts;
}

function withOrder(planned: PlannedObject, rollouts: readonly PlannedRollout[]): PlannedObject {
  const id = refId(planned.ref);
  const after = rollouts.find(({ ref }) => refId(ref) === id)?.after;
  if (after === undefined) return planned;
  return { ...planned, reason: `once ${describeObject(after)} is rolled out` };
}
