import { requeueAfterOf } from '../apply/index.js';
import type { ObjectResult } from '../apply/index.js';
import { Builder, refuseUnused, startHandler } from '../builder/index.js';
import type { NoNames } from '../builder/index.js';
import { removeFinalizer, getIfExists } from '../client/index.js';
import {
  failureKindOf,
  InvalidResultError,
  checkedResult,
  done,
  extendContext,
  readableError,
  warnOfPendingWrites,
  isResult,
  requeueAfter,
  shapeOf,
  UnfinishedFailure,
} from '../controller/index.js';
import type { ReconcileContext, Result } from '../controller/index.js';
import { briefError } from '../feed/index.js';
import type { ConditionUpdate, KubernetesObject, TypeReference } from '../object/index.js';
import { describeObject, isNotFound, isUnavailable, keyOf } from '../object/index.js';
import {
  StatusWriter,
  commonPauseAnnotations,
  hasAtomicConditions,
  pauseOf,
  statusConditions,
} from '../status/index.js';
import type { StatusUpdate, StatusWriting, WrittenStatus } from '../status/index.js';
import { asError, isOperatorError, OperatorError } from '../system/index.js';
import { conditionsOf, deletingConditions, terminalReasonOf } from './conditions.js';
import { Draft, refuseDecided } from './contexts.js';
import type {
  BuildHandler,
  BuilderSetting,
  FinalizeHandler,
  OwnedTypes,
  ReconcileHandler,
} from './contexts.js';
import { UnshownFailures } from './failures.js';
import type { Failure, FailureReports } from './failures.js';
import { FinalizerWriter } from './finalizer-writer.js';
import { awaitingChains, usedBuilder, withBuilder } from './handler-builder.js';
import type { StatusSettings } from './status-schema.js';

/** The complete description of one controller of an operator. */
export interface ControllerPlan<T extends KubernetesObject> {
  readonly operatorName: string;
  readonly type: TypeReference<T>;
  readonly owns: OwnedTypes;
  readonly handler:
    | { readonly type: 'builds'; readonly handle: BuildHandler<T, string> }
    | { readonly type: 'reconciles'; readonly handle: ReconcileHandler<T, string> };
  readonly finalize: FinalizeHandler<T> | undefined;
  /** The finalizer to add, or to remove if `finalize` is undefined. Undefined if another controller uses it. */
  readonly finalizer: string | undefined;
  /** Undefined if no status is written. */
  readonly status: StatusSettings<T> | undefined;
  readonly builderOptions: BuilderSetting<T>;
  readonly reports: FailureReports;
}

/** The end of a reconcile before its status is written. */
interface ObjectEnd {
  readonly result: Result;
  readonly conditions: readonly ConditionUpdate[];
  /** True to keep the user's fields and conditions that this reconcile did not set. */
  readonly keepOthers: boolean;
}

/**
 * Reconciles the objects of one controller of an operator.
 *
 * ## Flow
 * Read the object; stop if it does not exist. If it is paused, write the pause condition. If it is being
 * deleted, run `finalizes`, then remove the finalizer. Else add the finalizer if `finalizes` is set, run the
 * handler, write the status, and requeue as the results request.
 *
 * ## Guarantees
 * - An error is written to the conditions and recorded as a Warning before the controller receives and
 *   retries it. Conflicts and waits are not errors: they are not reported.
 * - No request is sent for an object whose state and status are as desired.
 */
export class ObjectReconciler<T extends KubernetesObject> {
  readonly #plan: ControllerPlan<T>;
  readonly #status: StatusWriter<T> | undefined;
  /** Undefined if objects need no finalizer. */
  readonly #finalizer: FinalizerWriter<T> | undefined;
  readonly #unshown = new UnshownFailures();
  #hasWarnedOfLost = false;

  constructor(plan: ControllerPlan<T>) {
    this.#plan = plan;
    const { operatorName: fieldManager, type, status } = plan;
    const remedy = 'give for(…) the option status: false, or set a condition of another type';
    const options = { ...status, generation: status?.generation === true, remedy };
    this.#status =
      status && new StatusWriter({ ...options, type, fieldManager, strategy: 'apply' });
    const { finalize, finalizer } = plan;
    const isUsed = finalize !== undefined && finalizer !== undefined;
    this.#finalizer = isUsed ? new FinalizerWriter(finalizer) : undefined;
  }

  async reconcile(context: ReconcileContext): Promise<Result> {
    const { client, key } = context;
    // The context's client ends this read with the reconcile's signal. Passing `context.signal` would create
    // that signal even if the cache answers.
    const found = await getIfExists(client, this.#plan.type, key);
    if (found === undefined) return done();
    const unshown = this.#unshown.take(found, context);
    if (unshown !== undefined && unshown.isTimeout !== true) {
      return this.#show(found, unshown, context);
    }
    const { object = found } =
      unshown === undefined ? {} : await this.#tryWrites(found, unshown, context);
    const pause = pauseOf(object, statusConditions(object), commonPauseAnnotations);
    if (pause.by !== undefined) return this.#pause(object, pause.update, context);
    if (object.metadata.deletionTimestamp !== undefined) return this.#finalize(object, context);
    return this.#handle(object, context);
  }

  /** Adds the finalizer if the object needs one. Returns the object; undefined if it is gone. */
  async #withFinalizer(object: T, context: ReconcileContext): Promise<T | undefined> {
    if (this.#finalizer === undefined) return object;
    const { client, signal } = context;
    try {
      return await this.#finalizer.add(client, object, signal);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  /** Returns whether an update event contains only this process's own write of the status or the finalizer. */
  isOwnWrite(old: T, object: T): boolean {
    return [this.#status, this.#finalizer].some((writer) => writer?.isOwnWrite(old, object));
  }

  async #pause(
    object: T,
    condition: ConditionUpdate | undefined,
    context: ReconcileContext,
  ): Promise<Result> {
    const how = { context, keepOthers: true, isObserved: false };
    if (condition !== undefined) await this.#write(object, { conditions: [condition] }, how);
    return done();
  }

  async #write(object: T, update: StatusUpdate, how: StatusWriting): Promise<WrittenStatus<T>> {
    const whole = this.#resumed(object, update, how);
    return this.#status?.write(object, whole, how) ?? { object };
  }

  /**
   * Adds the condition that ends a pause to an update that keeps the other conditions. If an update replaces all
   * conditions, it removes that of the pause anyway.
   */
  #resumed(object: T, update: StatusUpdate, { keepOthers }: StatusWriting): StatusUpdate {
    const { by, update: end } = pauseOf(object, statusConditions(object), commonPauseAnnotations);
    if (by !== undefined || end === undefined) return update;
    const { atomicConditions = hasAtomicConditions(object) } = this.#plan.status ?? {};
    const { conditions = [] } = update;
    const isSet = conditions.some(({ type }) => type === end.type);
    if (isSet || (keepOthers !== true && !atomicConditions)) return update;
    return { ...update, conditions: [...conditions, end] };
  }

  async #handle(found: T, context: ReconcileContext): Promise<Result> {
    const draft = this.#newDraft(found);
    const results = new Map<string, ObjectResult>();
    const parts = { context, draft, results };
    let object = found;
    let end: ObjectEnd | undefined;
    try {
      const guarded = await this.#withFinalizer(found, context);
      if (guarded === undefined) return done();
      object = guarded;
      end = await this.#run(object, parts);
      draft.close(context.logger);
    } catch (error) {
      return this.#fail(object, error, parts);
    }
    // The deletion event has requeued the key.
    if (end === undefined) return done();
    const { conditions, keepOthers } = end;
    try {
      const update = draft.over({ conditions });
      const { waitMs } = await this.#write(object, update, { context, keepOthers });
      return soonest(end.result, waitMs);
    } catch (error) {
      // The server may reject the fields that the handler set.
      return this.#fail(object, error, { context, draft: this.#newDraft(object) });
    }
  }

  /** Runs the handler and its chain. Returns undefined, and applies nothing, if the object was deleted meanwhile. */
  async #run(
    object: T,
    { context, draft, results }: HandlerParts<T>,
  ): Promise<ObjectEnd | undefined> {
    const { handler } = this.#plan;
    const onResult = (result: ObjectResult): void => {
      results.set(describeObject(result.ref), result);
    };
    const given = withBuilder(extendContext(context, { object, status: draft }), () =>
      this.#newChain(object, context, onResult),
    );
    const answer = await awaitingChains(given, () => handler.handle(given));
    const made = usedBuilder(given);
    warnOfPendingWrites(context);
    let returned: Result | undefined;
    if (handler.type === 'reconciles') returned = handled(answer, handler.type, object);
    else {
      if (!(await this.#isThere(object, context))) return undefined;
      await reconcileChain(answer, object);
    }
    const all = [...results.values()];
    const returnedWait = returned?.type === 'requeueAfter' ? returned.message : undefined;
    const waitsFor = draft.waitsFor(returnedWait);
    // A handler that returns a result, waits, or calls the object not ready, has decided not to use its chain.
    const hasDecided = returned !== undefined || waitsFor !== undefined || draft.isUnready;
    if (made !== undefined && !hasDecided) {
      refuseUnused(made, `${handler.type} for ${describeObject(object)}`);
    }
    const end = { results: all, waitsFor, ...this.#observed(object) };
    const conditions = this.#status === undefined ? [] : conditionsOf(end);
    const result = soonest(returned ?? done(), requeueAfterOf(all));
    return { result, conditions, keepOthers: returnedWait !== undefined };
  }

  /** @param onLost - called with the problem if a handler sets a status that this controller does not write */
  #newDraft(object: T, onLost: (problem: string) => void = refuseLost): Draft<T> {
    const { status, type, operatorName } = this.#plan;
    if (status !== undefined) return new Draft(object);
    const problem = `this controller does not write the status of ${type.kind}`;
    const remedy = `give for(…) the option status: true, or call patchStatus with a fieldManager other than ${operatorName}`;
    return new Draft(object, (method) => onLost(`status.${method}: ${problem}; ${remedy}`));
  }

  #newChain(
    object: T,
    { client, recorder, logger, signal, clock, planning }: ReconcileContext,
    onResult: (result: ObjectResult) => void,
  ): Builder<NoNames> {
    const { operatorName: controllerName, owns, builderOptions, reports } = this.#plan;
    const own = typeof builderOptions === 'function' ? builderOptions(object) : builderOptions;
    refuseDecided(this.#plan.type, own);
    const chain = new Builder({
      ...own,
      ...{ client, owner: object, controllerName, owns, onlyOwned: true },
      ...{ recorder, logger, signal, clock },
      // In a plan, emit no events to the listeners of the running operator: a plan changes nothing.
      emitter: planning ? undefined : reports.events,
      onResult: (result) => {
        onResult(result);
        if (!planning) own.onResult?.(result);
      },
    });
    startHandler(chain);
    return chain;
  }

  async #fail(object: T, thrown: unknown, parts: FailedParts<T>): Promise<never> {
    const { context } = parts;
    const { signal } = context;
    // A thrown value that is not an error, even undefined, counts as a failure.
    const error = asError(readableError(thrown));
    if (isOperatorError(signal.reason, 'Timeout')) {
      // A reconcile must not write after its time-out, so the next reconcile writes the conditions that show the
      // time-out.
      const failure = this.#reported(object, signal.reason, parts);
      this.#unshown.keep(object, { ...failure, isTimeout: true }, context);
      throw error;
    }
    const kind = failureKindOf(error);
    // A stopped reconcile must not write.
    if (kind === 'conflict' || kind === 'waiting' || signal.aborted) throw error;
    return this.#show(object, this.#reported(object, error, parts), context);
  }

  /** Records a failure as a Warning, unless a builder did. @returns the failure with the status that shows it */
  #reported(object: T, error: Error, { context, draft }: FailedParts<T>): Failure {
    if (!this.#plan.reports.has(error)) {
      const reason = terminalReasonOf(error) ?? 'ReconcileFailed';
      const event = { type: 'Warning', reason, action: 'Reconcile' } as const;
      context.recorder.record({ ...event, regarding: object, note: briefError(error) });
    }
    const conditions = conditionsOf({ error, ...this.#observed(object) });
    // The server may reject the fields that the handler set; then write the failure without them.
    const drafted = draft.isEmpty ? [] : [draft.overFailure({ conditions })];
    const { generation } = object.metadata;
    return { error, generation, updates: [...drafted, { conditions }] };
  }

  /**
   * Writes the conditions of a failure, and throws it. If the conditions of a terminal failure can't be
   * written now, the thrown error requeues the object, and the next reconcile only writes them.
   */
  async #show(object: T, failure: Failure, context: ReconcileContext): Promise<never> {
    const { error } = failure;
    const { waitMs, problem } = await this.#tryWrites(object, failure, context);
    if (waitMs === undefined && problem === undefined) throw error;
    const isKept = this.#unshown.keep(object, failure, context);
    if (waitMs !== undefined) throw new UnfinishedFailure(error, waitMs);
    if (!isKept) throw error;
    throw new AggregateError([error, problem], `${error.message}; the status could not be written`);
  }

  /**
   * Tries the updates of a failure until one succeeds, or the server is unavailable.
   * @returns the problem of the last update if all failed
   */
  async #tryWrites(
    object: T,
    { updates, generation }: Failure,
    context: ReconcileContext,
  ): Promise<Partial<WrittenStatus<T>> & { readonly problem?: unknown }> {
    // The failure may be a time-out in a reconcile of an earlier generation. Its conditions are written all the same.
    const isObserved = generation === object.metadata.generation;
    let problem: unknown;
    for (const update of updates) {
      try {
        return await this.#write(object, update, { context, keepOthers: true, isObserved });
      } catch (error) {
        problem = error;
        context.logger.warn('the status could not be written', { error });
        // Another update would fail too, and would only burden the server.
        if (isUnavailable(error)) break;
      }
    }
    return { problem };
  }

  async #finalize(object: T, context: ReconcileContext): Promise<Result> {
    const { finalize, finalizer } = this.#plan;
    const { client, signal } = context;
    const { finalizers = [] } = object.metadata;
    if (finalizer === undefined || !finalizers.includes(finalizer)) return done();
    const draft = this.#newDraft(object, (problem) => this.#warnOfLost(problem, context));
    try {
      const answer = await finalize?.(extendContext(context, { object, status: draft }));
      warnOfPendingWrites(context);
      const returned = handled(answer, 'finalizes', object);
      const isRepeated = returned?.type === 'requeueAfter';
      const waitsFor = draft.waitsFor(isRepeated ? returned.message : undefined);
      draft.close(context.logger);
      if (!isRepeated && waitsFor === undefined) {
        await removeFinalizer(client, await this.#latest(object, context), { finalizer, signal });
        return done();
      }
      const waiting = waitsFor ?? 'the clean-up is not finished';
      const { waitMs } = await this.#writeWait(object, waiting, { context, draft });
      return soonest(returned ?? done(), waitMs);
    } catch (error) {
      return this.#fail(object, error, { context, draft });
    }
  }

  /**
   * Shows that a clean-up is not finished. If the schema refuses the status of the handler, shows the refusal instead
   * of throwing it: a terminal failure would end the calls of `finalizes`, and leave the object with its finalizer.
   */
  async #writeWait(
    object: T,
    waiting: string,
    { context, draft }: FailedParts<T>,
  ): Promise<Pick<WrittenStatus<T>, 'waitMs'>> {
    const conditions = this.#withGeneration(object, deletingConditions(waiting));
    try {
      const update = draft.over({ conditions });
      return await this.#write(object, update, { context, keepOthers: true });
    } catch (error) {
      if (draft.isEmpty || failureKindOf(error) !== 'terminal') throw error;
      context.logger.warn('the status could not be written', { error });
      const parts = { context, draft: new Draft(object) };
      return this.#tryWrites(object, this.#reported(object, asError(error), parts), context);
    }
  }

  /** Warns once that the status is not written. An error would leave the object with its finalizer forever. */
  #warnOfLost(problem: string, { logger }: ReconcileContext): void {
    if (this.#hasWarnedOfLost) return;
    this.#hasWarnedOfLost = true;
    logger.warn(`finalizes: ${problem}`);
  }

  /** Returns whether the cache still has this object, not a new one with the same name. */
  async #isThere({ metadata }: T, { client, key }: ReconcileContext): Promise<boolean> {
    const now = await getIfExists(client, this.#plan.type, key);
    return now?.metadata.uid === metadata.uid;
  }

  /**
   * Returns the object after the writes of `finalizes`: removing a finalizer needs the current resource
   * version.
   */
  async #latest(object: T, { client, signal }: ReconcileContext): Promise<T> {
    const now = await getIfExists(client, this.#plan.type, keyOf(object), { signal });
    return now?.metadata.uid === object.metadata.uid && now !== undefined ? now : object;
  }

  #observed(object: T): { readonly observedGeneration?: number } {
    const { generation } = object.metadata;
    return generation === undefined ? {} : { observedGeneration: generation };
  }

  #withGeneration(object: T, updates: readonly ConditionUpdate[]): readonly ConditionUpdate[] {
    return updates.map((update) => ({ ...update, ...this.#observed(object) }));
  }
}

/** The parts of a handler call that its failure needs. */
interface FailedParts<T extends KubernetesObject> {
  readonly context: ReconcileContext;
  readonly draft: Draft<T>;
}

/** Input and collected output of one handler call. */
interface HandlerParts<T extends KubernetesObject> extends FailedParts<T> {
  readonly results: Map<string, ObjectResult>;
}

function refuseLost(problem: string): never {
  throw new OperatorError('InvalidOption', problem);
}

async function reconcileChain(chain: unknown, object: KubernetesObject): Promise<void> {
  const isChain = typeof chain === 'object' && chain !== null && 'reconcile' in chain;
  if (!isChain) {
    const message = `builds for ${describeObject(object)}: return the chain, got ${shapeOf(chain)}`;
    throw new OperatorError('InvalidOption', `${message}; return builder.configMap(…)`);
  }
  await (chain as Builder).reconcile();
}

/** @throws InvalidResultError: a handler returned something other than nothing or a result. */
function handled(returned: unknown, by: string, object: KubernetesObject): Result | undefined {
  if (returned === undefined || returned === null) return undefined;
  if (isResult(returned)) return checkedResult(returned);
  const isChain = returned instanceof Builder;
  const got = isChain ? 'a chain' : shapeOf(returned);
  const message = `${by} for ${describeObject(object)}: want nothing or a result, got ${got}`;
  const remedy = isChain
    ? 'return the chain in builds(…), or await chain.reconcile()'
    : 'return nothing, done() or requeueAfter(ms, message)';
  throw new InvalidResultError(`${message}; ${remedy}`);
}

function soonest(result: Result, afterMs: number | undefined): Result {
  if (afterMs === undefined) return result;
  if (result.type === 'done') return requeueAfter(afterMs);
  return { ...result, afterMs: Math.min(result.afterMs, afterMs) };
}
