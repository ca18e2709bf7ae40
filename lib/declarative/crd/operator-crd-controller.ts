import { addFinalizer, getIfExists, removeFinalizer } from '../../client/index.js';
import {
  annotationChanged,
  controllerFor,
  done,
  generationChanged,
  or,
  requeueAfter,
} from '../../controller/index.js';
import type {
  Controller,
  ControllerOptions,
  ReconcileContext,
  Result,
  Source,
} from '../../controller/index.js';
import type { RequiredAccess } from '../../manager/index.js';
import { setCondition, deepEqual, formatTime } from '../../object/index.js';
import type { ConditionUpdate } from '../../object/index.js';
import { StatusWriter } from '../../status/index.js';
import { asError, refuseUnknownOptions } from '../../system/index.js';
import type { Clock } from '../../system/index.js';
import type { CleanUpPolicy } from '../operator/controller-set.js';
import type { Group } from '../operator/group.js';
import { planOperator, viewKindsOf } from '../operator/operator-plan.js';
import { trimMiddle } from '../expression/operands.js';
import {
  cleanUpAnnotation,
  cleanUpFinalizer,
  cleanUpPolicyOf,
  OperatorResource,
} from './operator-resource.js';
import type { OperatorStatus } from './operator-resource.js';
import {
  continued,
  isStarting,
  StatusPace,
  formerControllers,
  unrecorded,
  withRecords,
} from './status-record.js';

/** Options of {@link operatorCrdController}. */
export interface OperatorCrdControllerOptions extends Pick<ControllerOptions, 'name'> {
  /** The group that runs the operators. The caller starts it. */
  readonly group: Group;
}

/**
 * The access that {@link operatorCrdController} needs besides watching `Operator` objects, for `Manager.add`.
 */
export const operatorCrdAccess: readonly RequiredAccess[] = [
  { type: OperatorResource, verbs: ['patch'] },
  { type: OperatorResource, verbs: ['patch'], subresource: 'status' },
];

/**
 * Returns a controller that runs an operator in `group` for each `Operator` object of the cluster, and
 * writes the operator's status into the object. The caller installs the custom resource: `ensureCrd` with
 * `OperatorResource.crd`.
 *
 * ## Guarantees
 * - A change of an object replaces only the changed controllers. The status names its generation. It is
 *   written only when it changes, at most once a second.
 * - With the annotation `operator-builder.io/clean-up: delete`, the objects of a removed controller are
 *   deleted. The deletion of an `Operator` object deletes the objects of all its controllers. This also holds
 *   if the process was restarted meanwhile. A finalizer keeps the `Operator` object until then. Without the
 *   annotation there is no finalizer, and written objects stay.
 *
 * ## Caveats
 * - An operator that was added to the group by other means is left alone: the status of an `Operator`
 *   object with its name reports the conflict.
 *
 * @example
 * ```ts
 * const group = new Group({ manager });
 * await ensureCrd(client, OperatorResource.crd);
 * manager.add(operatorCrdController({ group }), { requires: operatorCrdAccess });
 * await group.start(signal);
 * ```
 */
export function operatorCrdController(options: OperatorCrdControllerOptions): Controller {
  const { group, name = 'operators.dcontroller.io' } = options;
  const names = { group, name };
  refuseUnknownOptions<OperatorCrdControllerOptions>('operatorCrdController', options, names);
  const objects = new OperatorObjects(group);
  const predicate = or(generationChanged(), annotationChanged());
  return controllerFor(OperatorResource, { predicate })
    .from(statusSource(group))
    .withOptions({ name, maxConcurrentReconciles: 4 })
    .complete((context) => objects.reconcile(context));
}

/** Requests a reconcile of an object when its status has changed. */
function statusSource(group: Group): Source {
  const name = 'operator status';
  return {
    name,
    start: (context) => {
      const stop = group.listen((operator) => {
        context.enqueue({ name: operator }, { trigger: { type: 'source', source: name } });
      });
      return { stop };
    },
  };
}

const fieldManager = 'operator-builder-operators';
const finalizer = cleanUpFinalizer;
/** Interval in milliseconds, and maximum number, of the checks for other operators. */
const [lookMs, mostLooks] = [50, 20];

/** Applies the `Operator` objects of a cluster to a group. */
class OperatorObjects {
  readonly #group: Group;
  readonly #pace: StatusPace;
  readonly #status = new StatusWriter<OperatorResource>({
    ...{ type: OperatorResource, fieldManager, strategy: 'apply', generation: false },
    // Fields that dcontroller's own definition of the resource does not have.
    optional: ['controllers[].target', 'controllers[].conditions[].observedGeneration'],
    remedy: 'run one operator for them',
  });
  /** Names of the operators that the group runs for an object. */
  readonly #own = new Set<string>();
  /** Number of checks of each object that waits for other operators. */
  readonly #looks = new Map<string, number>();

  constructor(group: Group) {
    this.#group = group;
    this.#pace = new StatusPace(group.manager.clock);
  }

  /** Brings the operator of one object to its desired state. */
  async reconcile(context: ReconcileContext): Promise<Result> {
    const { client, key, signal } = context;
    const object = await getIfExists(client, OperatorResource, key, { signal });
    if (object === undefined) {
      await this.#remove(key.name, 'orphan', undefined);
      return done();
    }
    const isForeign = !this.#own.has(key.name) && this.#group.getOperator(key.name) !== undefined;
    if (object.metadata.deletionTimestamp !== undefined) {
      if (!isForeign) await this.#remove(key.name, policyOf(object, context), object.status);
      await removeFinalizer(client, object, { finalizer, fieldManager, signal });
      return done();
    }
    if (isForeign) return this.#refuse(object, context);
    if (await this.#waitsForOthers(object, context)) return requeueAfter(lookMs);
    return this.#run(object, context);
  }

  async #remove(
    name: string,
    cleanUp: CleanUpPolicy,
    status: OperatorStatus | undefined,
  ): Promise<void> {
    const former = formerControllers(status);
    if (!this.#own.has(name) && (cleanUp === 'orphan' || former.length === 0)) return;
    await this.#group.deleteOperator(name, { cleanUp, former });
    this.#own.delete(name);
    this.#looks.delete(name);
    this.#pace.forget(name);
  }

  /**
   * Whether an operator reads views of operators that have an object but are not in the group yet. At process
   * start those must be added first. Operators that read each other's views do not wait forever.
   */
  async #waitsForOthers(
    object: OperatorResource,
    { client, signal }: ReconcileContext,
  ): Promise<boolean> {
    const { name = '' } = object.metadata;
    const looks = this.#looks.get(name) ?? 0;
    if (this.#own.has(name) || looks >= mostLooks) return false;
    this.#looks.set(name, looks + 1);
    const specs = planOperator(name, object).controllers.map(({ spec }) => spec);
    const others = viewKindsOf(name, specs).map(({ operator }) => operator);
    for (const other of new Set(others)) {
      if (other === name || this.#group.getOperator(other) !== undefined) continue;
      if (await getIfExists(client, OperatorResource, { name: other }, { signal })) return true;
    }
    return false;
  }

  async #run(given: OperatorResource, context: ReconcileContext): Promise<Result> {
    const { name = '' } = given.metadata;
    const cleanUp = policyOf(given, context);
    const object = await this.#prepared(given, cleanUp, context);
    const { generation } = object.metadata;
    const { clock } = this.#group.manager;
    const former = formerControllers(object.status);
    this.#own.add(name);
    const failure = await this.#group
      .upsertOperator(name, object, { cleanUp, former })
      .then(() => undefined, asError);
    const told = this.#group.getOperator(name)?.getStatus(generation);
    // The operator could not even be added.
    if (told === undefined) throw failure ?? new Error(`operator ${name} is not there`);
    const keepsFormer = failure !== undefined && cleanUp === 'delete';
    const controllers = withRecords(told.controllers, { before: object.status, keepsFormer });
    const status = failure === undefined ? told : withFailure(told, failure, clock);
    const result = await this.#report(object, { ...status, controllers }, context);
    if (failure !== undefined) throw failure;
    return result;
  }

  /** Sets the finalizer and records the targets on the server, before the operator writes anything. */
  async #prepared(
    object: OperatorResource,
    cleanUp: CleanUpPolicy,
    context: ReconcileContext,
  ): Promise<OperatorResource> {
    const { client, signal } = context;
    const options = { finalizer, fieldManager, signal };
    if (cleanUp === 'orphan') return (await removeFinalizer(client, object, options)) ?? object;
    const kept = await addFinalizer(client, object, options);
    const plan = planOperator(object.metadata.name ?? '', object);
    const able = plan.controllers.filter(({ problems }) => problems.length === 0);
    const needed = able.map(({ name, spec: { target } }) => ({ name, target }));
    const entries = unrecorded(kept.status, needed);
    if (entries.length === 0) return kept;
    const controllers = [...(kept.status?.controllers ?? []), ...entries];
    return this.#write(kept, { ...kept.status, controllers }, context);
  }

  /** Writes a changed status, as soon as the pace allows. */
  async #report(
    object: OperatorResource,
    told: OperatorStatus,
    context: ReconcileContext,
  ): Promise<Result> {
    const { name = '' } = object.metadata;
    const status = continued(told, object.status);
    if (deepEqual(status, object.status)) return done();
    // Most operators start within moments: wait for that, so that one status write is enough.
    const waitMs = isStarting(told) ? this.#pace.calmMs(name) : this.#pace.waitMs(name);
    if (waitMs > 0) return requeueAfter(waitMs);
    await this.#write(object, status, context);
    this.#pace.written(name);
    return done();
  }

  /** @returns the resulting object */
  async #write(
    object: OperatorResource,
    { conditions = [], ...fields }: OperatorStatus,
    context: ReconcileContext,
  ): Promise<OperatorResource> {
    return (await this.#status.write(object, { conditions, fields }, { context })).object;
  }

  /** Reports that the group runs another operator of this name. */
  async #refuse(object: OperatorResource, context: ReconcileContext): Promise<Result> {
    const { generation = 0, name = '' } = object.metadata;
    const message = `the process runs an operator ${name} that is not from this object`;
    const lastTransitionTime = formatTime(this.#group.manager.clock.now());
    const ready = { type: 'Ready', status: 'False', reason: 'NotReady', message } as const;
    const conditions = [{ ...ready, observedGeneration: generation, lastTransitionTime }];
    const controllers = object.status?.controllers ?? [];
    return this.#report(
      object,
      { observedGeneration: generation, conditions, controllers },
      context,
    );
  }
}

function policyOf(object: OperatorResource, { logger }: ReconcileContext): CleanUpPolicy {
  const policy = cleanUpPolicyOf(object);
  if (policy === undefined) {
    logger.warn(`${cleanUpAnnotation}: want delete or orphan; it counts as orphan`);
  }
  return policy ?? 'orphan';
}

/** Reports an operator that runs although its change failed. */
function withFailure(status: OperatorStatus, { message }: Error, clock: Clock): OperatorStatus {
  const { conditions = [], observedGeneration = 0 } = status;
  const ready: ConditionUpdate = {
    ...{ type: 'Ready', status: 'Unknown', reason: 'ReconciliationFailed', observedGeneration },
    message: trimMiddle(message),
  };
  return { ...status, conditions: setCondition(conditions, ready, clock) };
}
