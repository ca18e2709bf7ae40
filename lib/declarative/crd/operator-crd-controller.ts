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
  SourceContext,
} from '../../controller/index.js';
import type { RequiredAccess } from '../../manager/index.js';
import { setCondition, deepEqual } from '../../object/index.js';
import type { ConditionUpdate } from '../../object/index.js';
import { StatusWriter } from '../../status/index.js';
import { asError, refuseUnknownOptions } from '../../system/index.js';
import type { Clock, Logger } from '../../system/index.js';
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

/** The access that {@link operatorCrdController} needs besides watching `Operator` objects, for `Manager.add`. */
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
 * - A change of an object replaces only the changed controllers. The status names the generation of the object. The
 *   status is written only when it changes, at most once a second.
 * - With the annotation `operator-builder.io/clean-up: delete`, the objects of a removed controller are
 *   deleted. The deletion of an `Operator` object deletes the objects of all its controllers. This also holds
 *   if the process was restarted meanwhile. A finalizer keeps the `Operator` object until then. Without the
 *   annotation there is no finalizer, and written objects stay.
 * - A process that loses leadership and stands by ends the operators of the objects. When it leads again, it runs
 *   them as the objects specify then.
 * - Other operators of the group that read views of these operators wait until the operators run: after the start,
 *   and after leadership was lost.
 *
 * ## Caveats
 * - An operator that was added to the group by other means is left alone: the status of an `Operator`
 *   object with its name reports the conflict.
 * - If this controller is removed from the running manager, it ends the operators of the objects. Other operators then
 *   find the views of these operators empty, as after `Group.deleteOperator`.
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
    .from(statusSource(group, objects))
    .withOptions({ name, maxConcurrentReconciles: 4 })
    .complete((context) => objects.reconcile(context));
}

/** Requests a reconcile of an object when its status has changed. */
function statusSource(group: Group, objects: OperatorObjects): Source {
  const name = 'operator status';
  return {
    name,
    start: (context) => {
      const stop = group.listen((operator) => {
        context.enqueue({ name: operator }, { trigger: { type: 'source', source: name } });
      });
      const stopFollowing = objects.follow(context);
      return {
        stop: () => {
          stop();
          stopFollowing();
          // If the whole group stops, its manager stops the operators.
          if (group.manager.phase === 'running') objects.release(context.logger);
        },
      };
    },
  };
}

const fieldManager = 'operator-builder-operators';
const finalizer = cleanUpFinalizer;
/** Intervals in milliseconds at which an object that waits for other operators is checked: at first, and later. */
const [lookMs, laterLookMs] = [50, 1_000];
/** Number of first checks. If an object still waits after them, operators that read each other's views start. */
const mostLooks = 20;

/** Applies the `Operator` objects of a cluster to a group. */
class OperatorObjects {
  readonly #group: Group;
  readonly #pace: StatusPace;
  readonly #status = new StatusWriter<OperatorResource>({
    ...{ type: OperatorResource, fieldManager, strategy: 'apply', generation: false },
    // Fields that dcontroller's own definition of the resource does not have.
    optional: ['controllers[].target', 'controllers[].conditions[].observedGeneration'],
    remedy: 'let only one program write the status of Operator objects',
  });
  /** Names of the operators that the group runs for an object. */
  readonly #own = new Set<string>();
  /** Names of the operators that {@link OperatorObjects.release} is removing. */
  readonly #leaving = new Set<string>();
  /** Returns whether an object needs an operator; undefined until the objects are listed. */
  #isWanted: (name: string) => boolean | undefined = () => undefined;
  /** Settled when {@link OperatorObjects.release} is done. */
  #released: Promise<unknown> = Promise.resolve();
  /** The number of checks of each waiting object, and the operators that it waits for, by the name of the object. */
  readonly #waiting = new Map<string, { readonly looks: number; readonly others: string[] }>();

  constructor(group: Group) {
    this.#group = group;
    this.#pace = new StatusPace(group.manager.clock);
    group.manager.viewWriters.awaitOperators((name) => this.#isComing(name));
  }

  /**
   * Follows the `Operator` objects. Operators that the program itself added wait until the operators of these objects
   * run. If they read views that are still empty, they would delete the objects that they have made from these views.
   * @returns a function that stops following
   */
  follow({ cache }: SourceContext): () => void {
    const { viewWriters } = this.#group.manager;
    const handle = cache.informer(OperatorResource);
    const informer = cache.peek(OperatorResource);
    const isWanted = (name: string): boolean | undefined => {
      if (informer?.synced !== true) return undefined;
      const object = informer.get({ name });
      return object !== undefined && object.metadata.deletionTimestamp === undefined;
    };
    this.#isWanted = isWanted;
    const stop = informer?.changes.listen(() => viewWriters.notify());
    return () => {
      stop?.();
      handle.release();
      // A process that becomes a standby calls `follow` again before it calls this function.
      if (this.#isWanted !== isWanted) return;
      const { phase } = this.#group.manager;
      // While the manager stops, operators must continue to wait for missing views: with empty views they would write
      // wrong objects.
      if (phase === 'stopping' || phase === 'stopped') return;
      // This controller has ended and starts no more operators of objects, so no other operator may wait for them.
      this.#isWanted = () => false;
      viewWriters.notify();
    };
  }

  #isComing(name: string): boolean {
    if (this.#leaving.has(name)) return true;
    return this.#group.getOperator(name) === undefined && (this.#isWanted(name) ?? true);
  }

  /**
   * Removes the operators from the group, and keeps what they wrote. Otherwise, when this process leads again, their
   * controllers would write by an old specification until the objects are reconciled again.
   */
  release(logger: Logger): void {
    const { views, viewWriters } = this.#group.manager;
    const removed = [...this.#own].map(async (name) => {
      this.#leaving.add(name);
      try {
        const kinds = views.types(name).map((type) => `${type.group}/${type.kind}`);
        // Without a restart, operators that read these views would treat their removal as deletions, and delete
        // derived objects.
        await viewWriters.restartReaders(kinds);
        await this.#remove(name, 'orphan', undefined);
      } catch (error) {
        logger.error(`operator ${name} is not removed`, { error });
      } finally {
        this.#leaving.delete(name);
        viewWriters.notify();
      }
    });
    this.#released = Promise.all(removed);
  }

  /** Brings the operator of one object to its desired state. */
  async reconcile(context: ReconcileContext): Promise<Result> {
    const { client, key, signal } = context;
    await this.#released;
    const object = await getIfExists(client, OperatorResource, key, { signal });
    if (object === undefined) {
      await this.#remove(key.name, 'orphan', undefined);
      return done();
    }
    const isForeign = !this.#own.has(key.name) && this.#group.getOperator(key.name) !== undefined;
    if (object.metadata.deletionTimestamp !== undefined) {
      if (!isForeign) await this.#removeDeleted(object, context);
      await removeFinalizer(client, object, { finalizer, fieldManager, signal });
      return done();
    }
    if (isForeign) return this.#refuse(object, context);
    return (await this.#waitForOthers(object, context)) ?? this.#run(object, context);
  }

  /**
   * Removes the operator of a deleted object. The object stays until its clean-up succeeds: its status shows failures.
   */
  async #removeDeleted(object: OperatorResource, context: ReconcileContext): Promise<void> {
    try {
      await this.#remove(context.key.name, policyOf(object, context), object.status);
    } catch (error) {
      const status = { ...object.status, controllers: object.status?.controllers ?? [] };
      const { clock } = this.#group.manager;
      await this.#report(object, withFailure(status, asError(error), clock), context);
      throw error;
    }
  }

  async #remove(
    name: string,
    cleanUp: CleanUpPolicy,
    status: OperatorStatus | undefined,
  ): Promise<void> {
    this.#waiting.delete(name);
    const former = formerControllers(status);
    if (!this.#own.has(name) && (cleanUp === 'orphan' || former.length === 0)) return;
    await this.#group.deleteOperator(name, { cleanUp, former });
    this.#own.delete(name);
    this.#pace.forget(name);
  }

  /**
   * Delays an operator that reads the views of other operators until all those with an `Operator` object are in the
   * group. Without the delay, the views would count as empty, and the operator would delete the objects that it derived
   * from them earlier. If operators read each other's views, the wait ends after a while.
   * @returns undefined if there is nothing to wait for
   */
  async #waitForOthers(
    object: OperatorResource,
    context: ReconcileContext,
  ): Promise<Result | undefined> {
    const { name = '' } = object.metadata;
    if (this.#own.has(name)) return undefined;
    const others = await this.#othersToCome(object, context);
    const looks = (this.#waiting.get(name)?.looks ?? 0) + 1;
    this.#waiting.set(name, { looks, others });
    if (others.length === 0 || (looks > mostLooks && this.#isInCycle(name))) {
      this.#waiting.delete(name);
      return undefined;
    }
    if (looks <= mostLooks) return requeueAfter(lookMs);
    const message = `waits for ${others.map((other) => `operator ${other}`).join(', ')}, whose views it reads`;
    await this.#reportNotRunning(
      object,
      { status: 'Unknown', reason: 'Waiting', message },
      context,
    );
    return requeueAfter(laterLookMs);
  }

  /** Returns the operators whose views an operator reads, and that are about to be added. */
  async #othersToCome(
    object: OperatorResource,
    { client, signal }: ReconcileContext,
  ): Promise<string[]> {
    const { name = '' } = object.metadata;
    const specs = planOperator(name, object).controllers.map(({ spec }) => spec);
    const found: string[] = [];
    for (const other of new Set(viewKindsOf(name, specs).map(({ operator }) => operator))) {
      if (other === name || this.#group.getOperator(other) !== undefined) continue;
      const there = await getIfExists(client, OperatorResource, { name: other }, { signal });
      if (there !== undefined && there.metadata.deletionTimestamp === undefined) found.push(other);
    }
    return found;
  }

  /** Whether all objects that an object waits for, directly or not, wait too, and one of them waits for the object. */
  #isInCycle(name: string): boolean {
    const seen = new Set<string>(this.#waiting.get(name)?.others);
    // The loop also visits the names that it adds.
    for (const each of seen) {
      const waiting = this.#waiting.get(each);
      if (waiting === undefined) return false;
      for (const other of waiting.others) seen.add(other);
    }
    return seen.has(name);
  }

  async #run(given: OperatorResource, context: ReconcileContext): Promise<Result> {
    const { name = '' } = given.metadata;
    const { signal } = context;
    const cleanUp = policyOf(given, context);
    const object = await this.#prepared(given, cleanUp, context);
    const { generation } = object.metadata;
    const { clock } = this.#group.manager;
    const former = formerControllers(object.status);
    signal.throwIfAborted();
    this.#own.add(name);
    const failure = await this.#group
      .upsertOperator(name, object, { cleanUp, former })
      .then(() => undefined, asError);
    const current = this.#group.getOperator(name)?.getStatus(generation);
    // The group refused the operator, so it has no status.
    if (current === undefined) throw failure ?? new Error(`operator ${name} was not added`);
    const keepsFormer = failure !== undefined && cleanUp === 'delete';
    const controllers = withRecords(current.controllers, { before: object.status, keepsFormer });
    const status = failure === undefined ? current : withFailure(current, failure, clock);
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

  /** Writes a changed status, as soon as the limit of status writes allows. */
  async #report(
    object: OperatorResource,
    current: OperatorStatus,
    context: ReconcileContext,
  ): Promise<Result> {
    const { name = '' } = object.metadata;
    const status = continued(current, object.status);
    if (deepEqual(status, object.status)) return done();
    // Most operators start within moments: wait for that, so that one status write is enough.
    const waitMs = isStarting(current) ? this.#pace.calmMs(name) : this.#pace.waitMs(name);
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
    const { name = '' } = object.metadata;
    const message = `the process runs an operator ${name} that is not from this object; rename one of them`;
    return this.#reportNotRunning(
      object,
      { status: 'False', reason: 'NotReady', message },
      context,
    );
  }

  /** Reports why the operator of an object does not run. */
  async #reportNotRunning(
    object: OperatorResource,
    ready: Omit<ConditionUpdate, 'type'>,
    context: ReconcileContext,
  ): Promise<Result> {
    const { generation = 0 } = object.metadata;
    const { clock } = this.#group.manager;
    const update = { type: 'Ready', ...ready, observedGeneration: generation };
    const conditions = setCondition([], update, clock);
    const controllers = object.status?.controllers ?? [];
    const status = { observedGeneration: generation, conditions: [...conditions], controllers };
    return this.#report(object, status, context);
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
