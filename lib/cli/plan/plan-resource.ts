import type { Plan } from '../../builder/index.js';
import { cachedClient } from '../../cache/index.js';
import type { Client } from '../../client/client.js';
import type { Controller } from '../../controller/index.js';
import { Manager } from '../../manager/index.js';
import type { OperatorDefinition } from '../../manager/index.js';
import type { KubernetesObject, ObjectKey } from '../../object/kubernetes-object.js';
import type { UnstructuredObject } from '../../object/kubernetes-object.js';
import { keyOf } from '../../object/object-key.js';
import { referenceTo } from '../../object/object-reference.js';
import type { ObjectReference } from '../../object/object-reference.js';
import { groupOfType } from '../../object/resource-type.js';
import type { TypeReference } from '../../object/resource-type.js';
import { asError } from '../../system/as-error.js';
import type { Clock } from '../../system/clock.js';
import type { Logger } from '../../system/logger.js';
import { OperatorError } from '../../system/operator-error.js';
import { applyResource } from './applied-resource.js';
import type { ApplyingOptions } from './applied-resource.js';
import { atRest, progressOf } from './at-rest.js';
import { manifestsOf, planOf } from './plan-of.js';
import type { PlannedManifest } from './plan-of.js';
import { PlannedObjects } from './planned-objects.js';
import { planningClient } from './planning-client.js';

/** What a plan is made with. */
export interface Planning extends ApplyingOptions {
  readonly operator: OperatorDefinition;
  /** Of the cluster. Nothing is stored. */
  readonly client: Client;
  readonly logger: Logger;
  readonly clock: Clock;
}

/** What an operator does at one time. */
export interface PlanStep extends Plan {
  /** What has to be rolled out, completed or bound before; none of the first step. */
  readonly after: readonly ObjectReference[];
}

/** What an operator would do for a custom resource: all in all, and step by step. */
export interface ResourcePlan extends Plan {
  readonly steps: readonly PlanStep[];
  /** The objects of the plan as wholes. */
  readonly manifests: readonly PlannedManifest[];
  /** Whether the operator comes to rest after the last step. */
  readonly settled: boolean;
  /** What the operator failed with, after what is planned. */
  readonly error?: Error;
}

/** An operator may need some: one that adds its finalizer first works at the next. */
const mostReconciles = 10;

/** A rollout after the other; more than that are no plan to read. */
const mostSteps = 30;

/**
 * What an operator would do once `object` is applied: its own controllers reconcile it, and what they
 * make of kinds that are theirs too, with a client whose writes are dry runs, until they change nothing
 * more. Then the workloads, Jobs, Pods and claims that it has written or looked at are taken to be
 * rolled out, complete, ready and bound, and it goes on from there, until it comes to rest. What the
 * operator fails with is part of the plan.
 * @throws OperatorError `InvalidConfig`: no controller of the operator reconciles its kind
 * @throws OperatorError `UnknownKind`: the cluster does not serve its kind
 * @throws ApiError the cluster refuses the object
 */
export async function planResource(
  object: UnstructuredObject,
  planning: Planning,
): Promise<ResourcePlan> {
  const { operator, logger, clock, signal } = planning;
  const planned = new PlannedObjects();
  const client = planningClient(planning.client, { planned });
  const manager = new Manager({ client, logger, clock, rbacPreflight: 'off', shards: false });
  await operator.setup(manager);
  const { controllers, cache } = manager;
  requireController(controllers, operator, object);
  let begin = planned.moment();
  const owner = await applyResource(object, client, planning);
  const steps: PlanStep[] = [];
  const root: Target = { type: owner, key: keyOf(owner) };
  // The cache is never filled; it knows the indexes that the operator has declared.
  const indexed = cachedClient(client, cache, { clock });
  const work: Work = { controllers, root, client: indexed, planned, planning };
  let after: readonly ObjectReference[] = [];
  for (;;) {
    const end = await reconcileUntilQuiet(work).catch((error: unknown) => asError(error));
    if (end instanceof Error && signal.aborted) throw end;
    const isFirst = steps.length === 0;
    const step = planOf([...planned.since(begin), ...planned.keptOf(owner)], owner);
    if (isFirst || step.changed) steps.push({ after, ...(isFirst ? step : withChanges(step)) });
    const done = { planned, owner, steps };
    if (end instanceof Error) return { ...whole(done), settled: false, error: end };
    after = rollOut(planned, clock);
    if (after.length === 0) return { ...whole(done), settled: end === 'quiet' };
    if (end === 'busy' || steps.length >= mostSteps) return { ...whole(done), settled: false };
    begin = planned.moment();
  }
}

interface Target {
  readonly type: TypeReference<KubernetesObject>;
  readonly key: ObjectKey;
}

interface Work {
  readonly controllers: readonly Controller[];
  /** What the plan is for. */
  readonly root: Target;
  readonly client: Client;
  readonly planned: PlannedObjects;
  readonly planning: Planning;
}

/** Whether the operator changed nothing at last, or goes on. */
async function reconcileUntilQuiet(work: Work): Promise<'quiet' | 'busy'> {
  const { planned, planning, client } = work;
  const { clock, logger, signal } = planning;
  for (let round = 0; round < mostReconciles; round++) {
    const { revision } = planned;
    for (const { controller, key } of due(work)) {
      await controller.reconcileOnce({ key, client, planning: true, clock, logger, signal });
    }
    if (planned.revision === revision) return 'quiet';
  }
  return 'busy';
}

interface Due {
  readonly controller: Controller;
  readonly key: ObjectKey;
}

/** The resource, and what was written that is of a kind which the operator reconciles as well. */
function due({ controllers, root, planned }: Work): readonly Due[] {
  const isRoot = ({ type, key }: Target): boolean =>
    isOfKind(type, root.type) && key.name === root.key.name && key.namespace === root.key.namespace;
  const others = planned.all.filter((state) => state.after !== undefined && !isRoot(state));
  return [root, ...others].flatMap(({ type, key }) =>
    controllers
      .filter((controller) => isOfKind(controller.type, type))
      .map((controller) => ({ controller, key })),
  );
}

/** Lets all that is underway come to its end. @returns what that was */
function rollOut(planned: PlannedObjects, clock: Clock): readonly ObjectReference[] {
  return planned.known.flatMap((state) => {
    const { after } = state;
    if (after === undefined) return [];
    const progress = progressOf(after);
    // What has failed may do better with what the plan changes.
    const isRetried = progress === 'stuck' && planned.get(state.type, state.key) !== undefined;
    if (progress === 'rest' || (progress === 'stuck' && !isRetried)) return [];
    const rested = atRest(after, clock.now());
    if (progressOf(rested) !== 'rest') return [];
    planned.simulate(state, rested);
    return [referenceTo(after)];
  });
}

interface Steps {
  readonly planned: PlannedObjects;
  readonly owner: UnstructuredObject;
  readonly steps: readonly PlanStep[];
}

function whole({ planned, owner, steps }: Steps): Plan & Pick<ResourcePlan, 'steps' | 'manifests'> {
  const states = [...planned.all, ...planned.keptOf(owner)];
  const plan = planOf(states, owner);
  const rollouts = steps.flatMap((step) => step.rollouts);
  const changed = plan.changed || steps.some((step) => step.changed);
  return { ...plan, rollouts, changed, steps, manifests: manifestsOf(states) };
}

function withChanges(step: Plan): Plan {
  return { ...step, objects: step.objects.filter(({ action }) => action !== 'unchanged') };
}

function requireController(
  controllers: readonly Controller[],
  { name }: OperatorDefinition,
  object: UnstructuredObject,
): void {
  if (controllers.some(({ type }) => isOfKind(type, object))) return;
  const kinds = [...new Set(controllers.map(({ type }) => type.kind))].join(', ');
  const message = `operator ${name} reconciles no ${object.kind} of ${object.apiVersion}`;
  throw new OperatorError('InvalidConfig', `${message}; what it does: ${kinds || 'nothing'}`);
}

function isOfKind(
  one: TypeReference<KubernetesObject>,
  other: TypeReference<KubernetesObject>,
): boolean {
  return one.kind === other.kind && groupOfType(one) === groupOfType(other);
}
