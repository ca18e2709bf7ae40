import type { Client } from '../../client/index.js';
import { addFinalizer, removeFinalizer, getIfExists, isStaleWrite } from '../../client/index.js';
import {
  failureKindOf,
  done,
  reportingOf,
  requeueAfter,
  UnfinishedFailure,
} from '../../controller/index.js';
import type { Result, Trigger } from '../../controller/index.js';
import type { Recorder } from '../../events/index.js';
import { isNotFound, deepFreeze, keyString } from '../../object/index.js';
import type { KubernetesObject, ObjectKey } from '../../object/index.js';
import type { Logger } from '../../system/index.js';
import { describePlace, messageOf, isResourceFailed } from '../errors.js';
import { newResourceContext } from '../pass-context.js';
import { notStartedOf, placeOf, runResourceSet } from '../process.js';
import type { PassMethod } from '../process.js';
import type { Cancellation, ResourceContext } from '../resource-context.js';
import type { ResourceFailedError } from '../errors.js';
import type { ResourceSet } from '../resource-set.js';
import type { WrittenStatus } from '../../status/index.js';
import type { FrameworkMetrics, StuckWatch } from './framework-metrics.js';
import {
  ObjectState,
  LatestReports,
  describeKeepers,
  isOverlapError,
  overlapCondition,
  readinessOf,
} from './object-state.js';
import type { ResolvedFrameworkOptions } from './framework-options.js';
import { reportWhenStuck } from './framework-metrics.js';
import { LruMap, Turns, isOperatorError } from '../../system/index.js';

/** The inputs of one reconcile of an object; a controller's `ReconcileContext` is one. */
export interface FrameworkPass {
  readonly key: ObjectKey;
  /** `''` if there is only one cluster. */
  readonly cluster: string;
  readonly client: ResourceContext['client'];
  readonly signal: AbortSignal;
  readonly logger: Logger;
  /** The reasons for the reconcile; absent if it was called directly. */
  readonly triggers?: readonly Trigger[];
}

/** The outputs of a {@link FrameworkReconciler}: events and metrics. */
export interface FrameworkReporting {
  readonly recorder: Recorder;
  /** Called for each use: the metrics may not exist yet when the reconciler is made. */
  readonly metrics: () => FrameworkMetrics;
}

/** An object during its reconcile, and the id that distinguishes it from all others. */
interface Subject<T extends KubernetesObject> {
  readonly pass: FrameworkPass;
  readonly object: T;
  readonly id: string;
}

/**
 * A reconcile that timed out. It could not write after its time-out, so the next reconcile of the object writes the
 * condition.
 */
interface TimedOut {
  readonly note: string;
  readonly generation: number | undefined;
}

const rememberedTimeouts = 10_000;

/*
 *   gone? ── being deleted, without our finalizer? ──► done
 *     │
 *     ▼ which sets handle it?
 *   none ──► done                several ──► terminal error        one
 *                 paused ──► event, done                            │
 *                                                                   ▼
 *        being deleted ◄────────────────────────────────────── our finalizer?
 *     ensureDeleted of all                             no: added      yes: ensureCreated of all
 *   kept? again later · finalizer removed              again at once  again after resyncPeriodMs
 */

/** Reconciles the objects of a framework: decides which chain runs, and when. */
export class FrameworkReconciler<T extends KubernetesObject> {
  readonly #options: ResolvedFrameworkOptions<T>;
  readonly #reporting: FrameworkReporting;
  readonly #reports = new LatestReports();
  readonly #turns = new Turns();
  /** The time-outs to report in the next reconcile, by the id of the object. */
  readonly #timeouts = new LruMap<string, TimedOut>(rememberedTimeouts);
  readonly #state: ObjectState<T>;

  constructor(options: ResolvedFrameworkOptions<T>, reporting: FrameworkReporting) {
    this.#options = options;
    this.#reporting = reporting;
    this.#state = new ObjectState(options, reporting.recorder, this.#reports);
  }

  /**
   * Reconciles one object after the running reconciles of the same object have ended: the queue and callers
   * of `updateFunc` are independent of each other.
   * @throws the error, with its failure kind for the controller; it is already recorded. UnfinishedFailure: the
   * error is terminal, and the object is to be reconciled again.
   */
  reconcile(pass: FrameworkPass): Promise<Result> {
    const id = `${pass.cluster}//${keyString(pass.key)}`;
    return this.#turns.run(id, () => this.#reconcile(pass));
  }

  async #reconcile(pass: FrameworkPass): Promise<Result> {
    const { logger } = pass;
    const object = await this.#read(pass);
    if (object === undefined) return done();
    // The UID, not the name: reports about an earlier object of the same name must be repeated.
    const id = `${pass.cluster}/${object.metadata.uid ?? ''}`;
    try {
      return await this.#pass({ pass, object, id });
    } catch (error) {
      if (isNotFound(error)) {
        logger.debug('the object is gone, or another one has its name', { error });
        return done();
      }
      this.#report({ pass, object, id }, error);
      throw this.#unfinished(error, await this.#show({ pass, object, id }, error));
    }
  }

  async #read({ client, key, signal }: FrameworkPass): Promise<T | undefined> {
    try {
      // Objects from a cache are frozen; objects from a server must behave the same.
      return deepFreeze(await getIfExists(client, this.#options.type, key, { signal }));
    } catch (error) {
      this.#count('error');
      throw error;
    }
  }

  async #pass(found: Subject<T>): Promise<Result> {
    const { finalizer, resourceRouter } = this.#options;
    const { metadata } = found.object;
    const isDeleting = metadata.deletionTimestamp !== undefined;
    const isHeld = metadata.finalizers?.includes(finalizer) === true;
    // The rest of the deletion belongs to the owners of the remaining finalizers.
    if (isDeleting && !isHeld) return done();
    const sets = resourceRouter.resourceSetsOf(found.object);
    const object = deepFreeze(await this.#state.settle(found, sets));
    const subject = { ...found, object };
    const [set] = sets;
    if (set === undefined) return this.#unhandled(subject, { isStuck: isDeleting });
    if (await this.#state.isPaused(subject)) return done();
    if (sets.length > 1) await this.#state.refuseOverlap(subject, sets);
    const shown = await this.#showTimeout(subject);
    if (isDeleting) return this.#delete(shown, set);
    return isHeld ? this.#create(shown, set) : this.#hold(shown);
  }

  /** Shows in the condition that the reconcile before this retry has timed out. @returns the subject as written */
  async #showTimeout(subject: Subject<T>): Promise<Subject<T>> {
    const { id, object, pass } = subject;
    const timedOut = this.#timeouts.get(id);
    this.#timeouts.delete(id);
    // If this reconcile is not a retry, another process may have reconciled the object since the time-out.
    const isRetry = pass.triggers?.some(({ type }) => type === 'retry') ?? true;
    const isCurrent = isRetry && timedOut?.generation === object.metadata.generation;
    if (timedOut === undefined || !isCurrent) return subject;
    const { object: written } = await this.#showFailure(subject, timedOut.note);
    return { ...subject, object: deepFreeze(written) };
  }

  /** Adds the finalizer before anything is created, so that `ensureDeleted` is sure to run. */
  async #hold({ pass: { client, signal }, object }: Subject<T>): Promise<Result> {
    const { finalizer } = this.#options;
    await addFinalizer(client, object, { finalizer, signal });
    this.#count('create');
    // The watch reports the change too, but its events may be filtered.
    return requeueAfter(1);
  }

  async #create(subject: Subject<T>, set: ResourceSet<T>): Promise<Result> {
    this.#count('update');
    const context = await this.#carryOut(subject, set, 'ensureCreated');
    const { reconciliationCanceled: canceled, notReadyFor, requeueAfterMs = Infinity } = context;
    this.#reportCanceled(subject, canceled);
    const waiting = canceled === undefined ? notReadyFor : [...notReadyFor, canceled];
    const readiness = readinessOf(waiting, notStartedOf(context));
    const isNew = this.#reports.isNew(subject.id, 'readiness', readiness.message ?? '');
    if (isNew && notReadyFor.length > 0) subject.pass.logger.info(readiness.message ?? '');
    const { waitMs = Infinity } = await this.#state.setReady(subject, readiness);
    return this.#again(Math.min(requeueAfterMs, waitMs));
  }

  /** Records that a chain ended early: it has not created everything, and must not look like a success. */
  #reportCanceled({ object, id }: Subject<T>, canceled: Cancellation | undefined): void {
    if (canceled === undefined) {
      this.#reports.isOver(id, 'canceled');
      return;
    }
    const note = `the chain ended early: ${describeKeepers([canceled])}`;
    if (!this.#reports.isNew(id, 'canceled', note)) return;
    const action = `${canceled.step}: ${canceled.resource}`;
    const facts = { type: 'Normal', reason: 'ReconciliationCanceled', action, note } as const;
    this.#reporting.recorder.record({ regarding: object, ...facts });
  }

  async #delete(subject: Subject<T>, set: ResourceSet<T>): Promise<Result> {
    this.#count('delete');
    const context = await this.#carryOut(subject, set, 'ensureDeleted');
    const { finalizersKept, reconciliationCanceled: canceled } = context;
    const keepers = canceled === undefined ? finalizersKept : [...finalizersKept, canceled];
    if (keepers.length > 0) {
      const message = `the deletion waits for ${describeKeepers(keepers)}`;
      const readiness = { status: 'False', reason: 'Deleting', message } as const;
      const { waitMs = Infinity } = await this.#state.setReady(subject, readiness);
      const { requeueAfterMs = Infinity } = context;
      return this.#kept(subject, keepers, Math.min(requeueAfterMs, waitMs));
    }
    await this.#release(subject);
    return done();
  }

  async #carryOut(
    subject: Subject<T>,
    set: ResourceSet<T>,
    method: PassMethod,
  ): Promise<ResourceContext> {
    const { pass, object } = subject;
    const { client, signal, logger } = pass;
    const { clock, random, controller, name: fieldManager } = this.#options;
    const { recorder } = this.#reporting;
    const parts = { client, signal, logger, recorder, clock, random, fieldManager };
    const context = newResourceContext({ ...parts, resourceSet: set.name });
    const report = (lastedMs: number): void =>
      this.#reportStuck(pass, object, { context, lastedMs });
    const show: StuckWatch['show'] = async (lastedMs, ended) => {
      const reporting = { ...pass, ...reportingOf(pass), signal: ended };
      const note = stuckText(context, lastedMs);
      return (await this.#showFailure({ ...subject, pass: reporting }, note)).waitMs;
    };
    const untilStopped = (): AbortSignal => (reportingOf(pass) ?? pass).signal;
    const { reconcileTimeoutMs: timeoutMs = Infinity } = controller;
    const watch = { signal, clock, timeoutMs, report, untilStopped, show, logger };
    await reportWhenStuck(watch, () => runResourceSet(context, object, { set, method }));
    return context;
  }

  /** Removes the finalizer. A resource may have written to the object in the meantime. */
  async #release({ pass: { client, key, signal }, object }: Subject<T>): Promise<void> {
    const { finalizer, type } = this.#options;
    const remove = async (from: Client): Promise<void> => {
      const now = await getIfExists(from, type, key, { signal });
      if (now === undefined || now.metadata.uid !== object.metadata.uid) return;
      await removeFinalizer(client, now, { finalizer, signal });
    };
    try {
      await remove(client);
    } catch (error) {
      if (!isStaleWrite(error)) throw error;
      await remove(client.live ?? client);
    }
  }

  #kept(
    { pass, object, id }: Subject<T>,
    keepers: readonly Cancellation[],
    askedMs: number,
  ): Result {
    const note = `the finalizer ${this.#options.finalizer} is kept by ${describeKeepers(keepers)}`;
    if (this.#reports.isNew(id, 'kept', note)) {
      pass.logger.info(note);
      // Events with the same action form one series, which keeps its first note.
      const action = `Delete: ${keepers.map(({ resource }) => resource).join(', ')}`;
      const facts = { reason: 'FinalizerKept', action, note } as const;
      this.#reporting.recorder.record({ regarding: object, type: 'Normal', ...facts });
    }
    return requeueAfter(Math.min(this.#options.keptFinalizerRetryMs, askedMs));
  }

  #unhandled({ pass, object, id }: Subject<T>, { isStuck }: { readonly isStuck: boolean }): Result {
    if (!isStuck) {
      pass.logger.debug('no resource set handles the object');
      return done();
    }
    const { finalizer } = this.#options;
    const note = `no resource set handles the object, which is being deleted, so its finalizer ${finalizer} stays; let a set handle it, or remove the finalizer`;
    if (this.#reports.isNew(id, 'unhandled', note)) {
      pass.logger.warn(note);
      const facts = { reason: 'NoResourceSet', action: 'Delete', note } as const;
      this.#reporting.recorder.record({ regarding: object, type: 'Warning', ...facts });
    }
    // Write no condition: a framework in another process may handle this object and write the condition.
    return this.#again(undefined);
  }

  /** Requeues for the next resync, spread so that not all objects are reconciled at once. */
  #again(askedMs: number | undefined): Result {
    const afterMs = Math.min(askedMs ?? Infinity, this.#resyncMs());
    return afterMs === Infinity ? done() : requeueAfter(afterMs);
  }

  /**
   * Returns the error for the queue. The queue does not retry terminal errors. This method therefore gives a terminal
   * error the delay of a resync: the server may accept a rejected write later, for example after an admission webhook
   * has changed, and no watch reports that.
   * @param postponedMs - milliseconds until the condition may show the error
   */
  #unfinished(error: unknown, postponedMs = Infinity): unknown {
    const afterMs = Math.min(postponedMs, this.#resyncMs());
    if (failureKindOf(error) !== 'terminal' || afterMs === Infinity) return error;
    return new UnfinishedFailure(error, afterMs);
  }

  #resyncMs(): number {
    const { resyncPeriodMs, random } = this.#options;
    return resyncPeriodMs * (0.9 + random.next() * 0.2);
  }

  #reportStuck(
    { logger }: FrameworkPass,
    object: T,
    { context, lastedMs }: { readonly context: ResourceContext; readonly lastedMs: number },
  ): void {
    const place = placeOf(context);
    const note = stuckText(context, lastedMs);
    logger.warn(note, { ...place });
    const facts = { reason: 'ResourceHangs', action: place.step, note } as const;
    this.#reporting.recorder.record({ regarding: object, type: 'Warning', ...facts });
  }

  /**
   * Shows the failure in the condition, or records it for the next reconcile if the reconcile may no longer write.
   * @returns milliseconds until a changed message may be written; undefined if nothing is pending
   */
  async #show(subject: Subject<T>, error: unknown): Promise<number | undefined> {
    const { signal } = subject.pass;
    const { generation } = subject.object.metadata;
    if (isOperatorError(signal.reason, 'Timeout')) {
      this.#timeouts.set(subject.id, { note: noteOf(error, signal.reason), generation });
    }
    const kind = failureKindOf(error);
    if (signal.aborted || kind === 'conflict' || kind === 'waiting') return undefined;
    const reason = isOverlapError(error) ? overlapCondition : undefined;
    return (await this.#showFailure(subject, noteOf(error), reason)).waitMs;
  }

  /** Writes the condition. An error of that write must not hide the failure. */
  async #showFailure(
    subject: Subject<T>,
    said: string,
    reason = 'ReconcileFailed',
  ): Promise<WrittenStatus<T>> {
    const { object, pass } = subject;
    const held = `the deletion waits and ${this.#options.finalizer} stays, since it failed`;
    const readiness =
      object.metadata.deletionTimestamp === undefined
        ? { reason, message: said }
        : { reason: 'DeletionFailed', message: `${held}: ${said}` };
    try {
      return await this.#state.setReady(subject, { status: 'False', ...readiness });
    } catch (failure) {
      pass.logger.debug('the failure is not shown in the condition', { error: failure });
      return { object };
    }
  }

  /** Records the failure. The controller logs it. */
  #report({ pass, object }: Subject<T>, error: unknown): void {
    this.#count('error');
    const kind = failureKindOf(error);
    if (pass.signal.aborted || kind === 'conflict' || kind === 'waiting') return;
    const isOverlap = isOverlapError(error);
    const reason = isOverlap ? overlapCondition : 'ReconcileFailed';
    const facts = isResourceFailed(error)
      ? { reason: 'ResourceFailed', action: actionOf(error), note: noteOf(error) }
      : { reason, action: 'Reconcile', note: noteOf(error) };
    this.#reporting.recorder.record({ regarding: object, type: 'Warning', ...facts });
  }

  #count(event: 'create' | 'update' | 'delete' | 'error'): void {
    this.#reporting.metrics().events.add(1, { event });
  }
}

function stuckText(context: ResourceContext, lastedMs: number): string {
  return `${describePlace(placeOf(context))} has not ended after ${Math.round(lastedMs)} ms`;
}

/** Each step has its own action, because the events of an object have limits for each reason and action. */
function actionOf({ resource, step }: ResourceFailedError): string {
  return resource === '' ? step : `${step}: ${resource}`;
}

/** Describes a failure by its place, if it has one, and its cause. */
function noteOf(
  error: unknown,
  cause: unknown = isResourceFailed(error) ? error.cause : error,
): string {
  return isResourceFailed(error)
    ? `${describePlace(error)}: ${messageOf(cause)}`
    : messageOf(cause);
}
