import type { Plan } from '../builder/index.js';
import { cachedClient } from '../cache/index.js';
import type { Client } from '../client/index.js';
import type { Controller } from '../controller/index.js';
import type { Convertible } from '../crd/index.js';
import { readableMessage } from '../feed/index.js';
import { Manager } from '../manager/index.js';
import type { OperatorDefinition } from '../manager/index.js';
import type {
  Condition,
  KubernetesObject,
  ObjectKey,
  UnstructuredObject,
  ObjectReference,
  Schema,
  TypeReference,
} from '../object/index.js';
import {
  deepEqual,
  fieldElement,
  fieldManagersOf,
  fieldPath,
  findCondition,
  keyElement,
  keyOf,
  referenceTo,
  groupOfType,
  versionOf,
} from '../object/index.js';
import { pausedCondition, statusConditions } from '../status/index.js';
import { asError, OperatorError } from '../system/index.js';
import type { Clock, Logger, Timer } from '../system/index.js';
import { applyResource } from './applied-resource.js';
import type { ApplyingOptions } from './applied-resource.js';
import { atRest } from './at-rest.js';
import { manifestsOf, planOf } from './plan-of.js';
import type { PlannedManifest, SchemaSource } from './plan-of.js';
import { PlannedObjects } from './planned-objects.js';
import type { Conversion, PlannedObjectState } from './planned-objects.js';
import { planningClient } from './planning-client.js';

/** Parameters of a plan. */
export interface Planning extends ApplyingOptions {
  readonly operator: OperatorDefinition;
  /** Client of the cluster; the plan stores nothing. */
  readonly client: Client;
  readonly logger: Logger;
  readonly clock: Clock;
}

/** The writes of an operator between two rollouts. */
export interface PlanStep extends Plan {
  /** Objects that must be rolled out, completed or bound before; empty in the first step. */
  readonly after: readonly ObjectReference[];
}

/** An operator's plan for a custom resource: in total and step by step. */
export interface ResourcePlan extends Plan {
  readonly steps: readonly PlanStep[];
  /** The whole objects of the plan. */
  readonly manifests: readonly PlannedManifest[];
  /** Whether the operator settles after the last step. */
  readonly settled: boolean;
  /** The operator's error after the planned writes. */
  readonly error?: Error;
  /** Text that names the annotation that pauses the operator for this resource. Absent: no condition shows a pause. */
  readonly paused?: string;
  /**
   * The wait at which the plan ends: the message of the condition `Ready`, of `Degraded` if there is no `Ready`, or of
   * `requeueAfter`. The plan does not include what follows. Absent: the operator waits for nothing.
   */
  readonly waits?: string;
}

/**
 * Maximum number of rounds per step. An operator needs several: after it adds its finalizer, it works in
 * the next reconcile.
 */
const mostReconciles = 10;

/** Maximum number of steps, one per rollout; a longer plan would be unreadable. */
const mostSteps = 30;

/**
 * Plans the effect of applying `object`. The operator's controllers reconcile it, and the objects they create
 * of their own kinds, with a dry-run client until nothing changes. Then the plan simulates the cluster:
 * workloads that were written or read count as rolled out, Jobs as complete, Pods as ready and claims as
 * bound. It continues until the operator settles. An error of the operator is part of the plan.
 * @throws OperatorError `InvalidConfig`: no controller of the operator reconciles its kind
 * @throws OperatorError `UnknownKind`: the cluster does not serve its kind
 * @throws ApiError the cluster rejects the object
 */
export async function planResource(
  object: UnstructuredObject,
  planning: Planning,
): Promise<ResourcePlan> {
  const { operator, logger, signal } = planning;
  const clock = new PlanClock(planning.clock);
  const planned = new PlannedObjects(conversionOf(operator));
  const client = planningClient(planning.client, { planned });
  const manager = new Manager({ client, logger, clock, shards: false });
  await operator.setup(manager);
  const { controllers, cache } = manager;
  requireController(controllers, operator, object);
  const schemaOf = schemasOf([
    ...(operator.resources ?? []),
    ...controllers.flatMap(({ kinds }) => kinds.map(({ type }) => type)),
  ]);
  let begin = planned.moment();
  const owner = await applyResource(object, client, planning);
  const steps: PlanStep[] = [];
  const root: Target = { type: owner, key: keyOf(owner) };
  // The cache stays empty; it provides the operator's declared indexes.
  const indexed = cachedClient(client, cache, { clock });
  const work: Work = { controllers, root, client: indexed, planned, planning, clock };
  let after: readonly ObjectReference[] = [];
  for (;;) {
    const end = await reconcileUntilQuiet(work).catch((error: unknown) => asError(error));
    if (end instanceof Error && signal.aborted) throw end;
    const isFirst = steps.length === 0;
    const step = planOf([...planned.since(begin), ...planned.keptOf(owner)], owner, schemaOf);
    if (isFirst || step.changed) steps.push({ after, ...(isFirst ? step : withChanges(step)) });
    const done = { planned, owner, steps, schemaOf };
    if (end instanceof Error) return { ...whole(done), settled: false, error: end };
    after = rollOut(planned, clock);
    const { isQuiet, message } = end;
    const waiting = { ...whole(done), ...waitOf(work, message) };
    if (after.length === 0) return { ...waiting, settled: isQuiet };
    if (!isQuiet || steps.length >= mostSteps) return { ...waiting, settled: false };
    begin = planned.moment();
  }
}

/** Returns a plan for JSON, which can't represent the error: its message replaces it. */
export function planJson({ error, ...plan }: ResourcePlan): object {
  return { ...plan, ...(error !== undefined && { error: readableMessage(error) }) };
}

/** Parses the text of {@link planJson}. */
export function planFromJson(text: string): ResourcePlan {
  const { error, ...plan } = JSON.parse(text) as ResourcePlan & { readonly error?: unknown };
  if (typeof error !== 'string') return plan;
  return { ...plan, error: new OperatorError('ReconcileFailed', error) };
}

/** A custom resource of `defineResource`. */
interface VersionedResource extends Convertible {
  withDefaults(object: UnstructuredObject): UnstructuredObject;
  schema(version: string): Schema;
}

interface Target {
  readonly type: TypeReference<KubernetesObject>;
  readonly key: ObjectKey;
}

interface Work {
  readonly controllers: readonly Controller[];
  /** The object that the plan is for. */
  readonly root: Target;
  readonly client: Client;
  readonly planned: PlannedObjects;
  readonly planning: Planning;
  readonly clock: PlanClock;
}

/**
 * A clock that advances between reconciles, because an operator writes a changed message of a status at most every 5
 * seconds.
 */
class PlanClock implements Clock {
  readonly #clock: Clock;
  #passedMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  pass(): void {
    this.#passedMs += 10_000;
  }

  now(): number {
    return this.#clock.now();
  }

  monotonicMs(): number {
    return this.#clock.monotonicMs() + this.#passedMs;
  }

  setTimer(...timer: Parameters<Clock['setTimer']>): Timer {
    return this.#clock.setTimer(...timer);
  }
}

interface StepEnd {
  /** True if the last round changed nothing; false if the limit was reached before. */
  readonly isQuiet: boolean;
  /** The message of the last result for the resource itself. */
  readonly message: string | undefined;
}

/** Reconciles until nothing changes, or the limit is reached. */
async function reconcileUntilQuiet(work: Work): Promise<StepEnd> {
  const { planned, planning, client, clock } = work;
  const { logger, signal } = planning;
  let message: string | undefined;
  for (let round = 0; round < mostReconciles; round++) {
    const { revision } = planned;
    const messages: string[] = [];
    for (const { controller, key, isRoot } of due(work)) {
      clock.pass();
      const once = { key, client, planning: true, clock, logger, signal };
      const result = await controller.reconcileOnce(once);
      const waits = isRoot && result.type === 'requeueAfter' ? result.message : undefined;
      if (waits !== undefined) messages.push(waits);
    }
    message = messages[0];
    if (planned.revision === revision) return { isQuiet: true, message };
  }
  return { isQuiet: false, message };
}

/** Returns what the operator waits for at the end of the plan. @param message - of the operator's last result */
function waitOf(work: Work, message: string | undefined): Pick<ResourcePlan, 'waits'> {
  const state = work.planned.get(work.root.type, work.root.key);
  const conditions = state?.after === undefined ? [] : statusConditions(state.after);
  if (findCondition(conditions, pausedCondition)?.status === 'True') return {};
  const own = conditions.filter((each) => state !== undefined && isOwn(each, state, work));
  const ready = findCondition(own, 'Ready');
  const degraded = findCondition(own, 'Degraded');
  const isUnready = ready === undefined ? degraded?.status === 'True' : ready.status === 'False';
  const waits = isUnready ? (ready ?? degraded)?.message : message;
  return waits === undefined || waits === '' ? {} : { waits };
}

/**
 * Whether a condition of an object counts as the operator's: the plan changes it, or its owner is one of the operator's
 * field managers or unknown.
 */
function isOwn(
  condition: Condition,
  { before, after, writers }: PlannedObjectState,
  { controllers, planning }: Work,
): boolean {
  const { type } = condition;
  const then = before && findCondition(statusConditions(before), type);
  if (after === undefined || !deepEqual(then, condition)) return true;
  const path = [
    ...fieldPath('status', 'conditions'),
    keyElement({ type }),
    fieldElement('message'),
  ];
  const inPlan = [...writers].map((writer) => writer.slice(0, writer.lastIndexOf('/')));
  // The server names a writer without a field manager after its user agent.
  const known = [
    planning.operator.name,
    ...controllers.map(({ name }) => name),
    'operator-builder',
  ];
  const owners = fieldManagersOf(after, path);
  return owners.length === 0 || owners.some(({ name }) => [...known, ...inPlan].includes(name));
}

interface Due {
  readonly controller: Controller;
  readonly key: ObjectKey;
  /** Whether `key` is that of the object that the plan is for. */
  readonly isRoot: boolean;
}

/** Returns the resource, and written objects of kinds that the operator also reconciles. */
function due({ controllers, root, planned }: Work): readonly Due[] {
  const isRoot = ({ type, key }: Target): boolean =>
    isOfKind(type, root.type) && key.name === root.key.name && key.namespace === root.key.namespace;
  const others = planned.all.filter((state) => state.after !== undefined && !isRoot(state));
  return [root, ...others].flatMap((target) =>
    controllers
      .filter((controller) => isOfKind(controller.type, target.type))
      .map((controller) => ({ controller, key: target.key, isRoot: target === root })),
  );
}

/**
 * Simulates that the cluster's controllers complete their work on all objects.
 * @returns the objects that this changes
 */
function rollOut(planned: PlannedObjects, clock: Clock): readonly ObjectReference[] {
  return planned.known.flatMap((state) => {
    const { after } = state;
    const rested = after && atRest(after, clock.now());
    if (rested === undefined) return [];
    planned.simulate(state, rested);
    return [referenceTo(rested)];
  });
}

interface Steps {
  readonly planned: PlannedObjects;
  readonly owner: UnstructuredObject;
  readonly steps: readonly PlanStep[];
  readonly schemaOf: SchemaSource;
}

function whole({
  planned,
  owner,
  steps,
  schemaOf,
}: Steps): Omit<ResourcePlan, 'settled' | 'error'> {
  const states = [...planned.all, ...planned.keptOf(owner)];
  const plan = planOf(states, owner, schemaOf);
  const rollouts = steps.flatMap((step) => step.rollouts);
  const changed = plan.changed || steps.some((step) => step.changed);
  const paused = pausedBy(planned.get(owner, keyOf(owner))?.after ?? owner);
  const state = { rollouts, changed, ...(paused !== undefined && { paused }) };
  return { ...plan, ...state, steps, manifests: manifestsOf(states, schemaOf) };
}

function pausedBy(owner: UnstructuredObject): string | undefined {
  const pause = findCondition(statusConditions(owner), pausedCondition);
  return pause?.status === 'True' ? pause.message : undefined;
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
  throw new OperatorError('InvalidConfig', `${message}; it reconciles ${kinds || 'no kinds'}`);
}

/** Returns the conversion of the operator's custom resources; objects of other kinds keep their version. */
function conversionOf({ resources = [] }: OperatorDefinition): Conversion {
  const versioned = resources.filter((type) => isVersioned(type));
  return (object, apiVersion) => {
    const resource = versioned.find((type) => isOfKind(type, object));
    return resource === undefined
      ? object
      : resource.withDefaults(resource.convert(object, apiVersion));
  };
}

/** Returns the schemas of those `types` that `defineResource` made. */
function schemasOf(types: readonly TypeReference<KubernetesObject>[]): SchemaSource {
  const resources = types.filter((type) => isVersioned(type));
  return (object) => {
    const version = versionOf(object.apiVersion);
    const resource = resources.find((type) => isOfKind(type, object));
    return resource?.versions.includes(version) === true ? resource.schema(version) : undefined;
  };
}

function isVersioned<T extends object>(resource: T): resource is T & VersionedResource {
  // Not instanceof: the resource may come from another copy of the package.
  return 'convert' in resource && 'withDefaults' in resource && 'schema' in resource;
}

function isOfKind(
  one: TypeReference<KubernetesObject>,
  other: TypeReference<KubernetesObject>,
): boolean {
  return one.kind === other.kind && groupOfType(one) === groupOfType(other);
}
