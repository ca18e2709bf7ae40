import omitBy from 'lodash/omitBy.js';
import { isReconcileFailed, requeueAfterOf } from '../apply/index.js';
import type { ObjectResult } from '../apply/index.js';
import { Builder } from '../builder/builder.js';
import type { NoNames } from '../builder/chain-names.js';
import { addFinalizer, removeFinalizer } from '../client/finalizers.js';
import { getIfExists } from '../client/get-if-exists.js';
import { failureKindOf } from '../controller/failure.js';
import { InvalidResultError } from '../controller/invalid-result-error.js';
import type { ReconcileContext } from '../controller/reconciler.js';
import { checkedResult, done, isResult, requeueAfter, shapeOf } from '../controller/result.js';
import type { Result } from '../controller/result.js';
import { OperatorEvents } from '../events/operator-events.js';
import type { ConditionUpdate } from '../object/conditions.js';
import { describeObject } from '../object/describe-object.js';
import { keyOf } from '../object/object-key.js';
import type { KubernetesObject } from '../object/kubernetes-object.js';
import type { TypeReference } from '../object/resource-type.js';
import {
  StatusWriter,
  commonPauseAnnotations,
  pauseOf,
  statusConditions,
} from '../status/index.js';
import type { StatusUpdate, StatusWriterOptions, StatusWriting } from '../status/index.js';
import { asError } from '../system/as-error.js';
import { OperatorError, isOperatorError } from '../system/operator-error.js';
import { conditionsOf, deletingConditions, terminalReasonOf } from './conditions.js';
import { refuseDecided } from './contexts.js';
import type {
  BuildHandler,
  BuilderSetting,
  FinalizeHandler,
  ObjectContext,
  OperatorContext,
  OwnedTypes,
  ReconcileHandler,
  StatusDraft,
} from './contexts.js';

/** Remembers the failures that builders have recorded as events, so that none is recorded twice. */
export class FailureReports {
  /** The events of all builders of an operator. */
  readonly events = new OperatorEvents();
  readonly #reported = new WeakSet();

  constructor() {
    this.events.on('failed', ({ error }) => {
      if (error instanceof Error) this.#reported.add(error);
    });
  }

  has(error: unknown): boolean {
    if (isReconcileFailed(error)) return true;
    if (!isOperatorError(error)) return false;
    return [error, error.cause].some((each) => each instanceof Error && this.#reported.has(each));
  }
}

/** A controller of an operator, as its links have described it. */
export interface ControllerPlan<T extends KubernetesObject> {
  readonly operatorName: string;
  readonly type: TypeReference<T>;
  readonly owns: OwnedTypes;
  readonly handler:
    | { readonly type: 'builds'; readonly handle: BuildHandler<T, string> }
    | { readonly type: 'reconciles'; readonly handle: ReconcileHandler<T, string> };
  readonly finalize: FinalizeHandler<T> | undefined;
  /** Removed where `finalize` is not there. Undefined: another controller of the kind has it. */
  readonly finalizer: string | undefined;
  /** Undefined: no status is written. */
  readonly status: Pick<StatusWriterOptions<T>, 'atomicConditions' | 'generation'> | undefined;
  readonly builderOptions: BuilderSetting<T>;
  readonly reports: FailureReports;
}

/** The end of a reconcile that wrote no status yet. */
interface ObjectEnd {
  readonly result: Result;
  readonly conditions: readonly ConditionUpdate[];
  /** Whether fields and conditions of the user that were not set have to stay. */
  readonly keepOthers: boolean;
}

/**
 * Reconciles the objects of one controller of an operator.
 *
 * ## Flow
 * Read the object; nothing to do where it is gone. Paused: show it. Being deleted: run `finalizes`,
 * then remove the finalizer. Else add the finalizer where `finalizes` is there, run the handler, write
 * the status, requeue as the results ask.
 *
 * ## Guarantees
 * - An error shows in the conditions and in a Warning before it is thrown to the controller, which
 *   retries. Conflicts and waits are no errors: they show nowhere.
 * - Nothing is sent for an object whose state and status are as wanted.
 */
export class ObjectReconciler<T extends KubernetesObject> {
  readonly #plan: ControllerPlan<T>;
  readonly #status: StatusWriter<T> | undefined;

  constructor(plan: ControllerPlan<T>) {
    this.#plan = plan;
    const { operatorName: fieldManager, type, status } = plan;
    const remedy = 'give for(…) the option status: false, or set a condition of another type';
    const options = { ...status, generation: status?.generation === true, remedy };
    this.#status =
      status && new StatusWriter({ ...options, type, fieldManager, strategy: 'apply' });
  }

  async reconcile(context: ReconcileContext): Promise<Result> {
    const { client, key, signal } = context;
    const object = await getIfExists(client, this.#plan.type, key, { signal });
    if (object === undefined) return done();
    const pause = pauseOf(object, statusConditions(object), commonPauseAnnotations);
    if (pause.by !== undefined) return this.#pause(object, pause.update, context);
    if (object.metadata.deletionTimestamp !== undefined) return this.#finalize(object, context);
    const { finalize, finalizer } = this.#plan;
    const guarded =
      finalize === undefined || finalizer === undefined
        ? object
        : await addFinalizer(client, object, { finalizer, signal });
    return this.#handle(guarded, context);
  }

  /** Whether an event shows only the status that this process wrote. */
  isOwnStatusWrite(old: T, object: T): boolean {
    return this.#status?.isOwnWrite(old, object) === true;
  }

  async #pause(
    object: T,
    told: ConditionUpdate | undefined,
    context: ReconcileContext,
  ): Promise<Result> {
    const how = { context, keepOthers: true, isObserved: false };
    if (told !== undefined) await this.#write(object, { conditions: [told] }, how);
    return done();
  }

  /** @returns milliseconds after which a changed message may be written; undefined: nothing is left */
  async #write(object: T, update: StatusUpdate, how: StatusWriting): Promise<number | undefined> {
    return (await this.#status?.write(object, update, how))?.waitMs;
  }

  async #handle(object: T, context: ReconcileContext): Promise<Result> {
    const draft = new Draft<T>(object);
    const results = new Map<string, ObjectResult>();
    const parts = { context, draft, results };
    let end: ObjectEnd | undefined;
    try {
      end = await this.#run(object, parts);
    } catch (error) {
      return this.#fail(object, error, parts);
    }
    // The event of the deletion has queued the key again.
    if (end === undefined) return done();
    const { conditions, keepOthers } = end;
    try {
      const update = draft.over({ conditions });
      return soonest(end.result, await this.#write(object, update, { context, keepOthers }));
    } catch (error) {
      // What the server refuses is what the handler has set.
      return this.#fail(object, error, { ...parts, draft: new Draft<T>(object) });
    }
  }

  /** @returns undefined: the object has gone while its chain was described, so nothing was applied */
  async #run(
    object: T,
    { context, draft, results }: HandlerParts<T>,
  ): Promise<ObjectEnd | undefined> {
    const { handler } = this.#plan;
    const onResult = (result: ObjectResult): void => {
      results.set(describeObject(result.ref), result);
    };
    let chain: Builder<NoNames> | undefined;
    const newChain = (): Builder<NoNames> => this.#newChain({ ...context, object }, onResult);
    const given: OperatorContext<T> = {
      ...{ ...context, object, status: draft },
      get builder() {
        return (chain ??= newChain());
      },
    };
    let returned: Result | undefined;
    if (handler.type === 'reconciles') returned = await handler.handle(given);
    else {
      const built = await handler.handle(given);
      if (!(await this.#isThere(object, context))) return undefined;
      await reconcileChain(built, object);
    }
    const all = [...results.values()];
    checkHandled(handler.type, returned, object);
    const returnedWait = returned?.type === 'requeueAfter' ? returned.message : undefined;
    const waitsFor = draft.waitsFor(returnedWait);
    const conditions = conditionsOf({ results: all, waitsFor, ...this.#observed(object) });
    const result = soonest(returned ?? done(), requeueAfterOf(all));
    return { result, conditions, keepOthers: returnedWait !== undefined };
  }

  #newChain(
    { object, client, recorder, logger, signal, clock }: Omit<ObjectContext<T>, 'status'>,
    onResult: (result: ObjectResult) => void,
  ): Builder<NoNames> {
    const { operatorName: controllerName, owns, builderOptions, reports } = this.#plan;
    const own = typeof builderOptions === 'function' ? builderOptions(object) : builderOptions;
    refuseDecided(this.#plan.type, own);
    return new Builder({
      ...own,
      ...{ client, owner: object, controllerName, owns, onlyOwned: true },
      ...{ recorder, logger, signal, clock },
      emitter: reports.events,
      onResult: (result) => {
        onResult(result);
        own.onResult?.(result);
      },
    });
  }

  async #fail(object: T, thrown: unknown, parts: HandlerParts<T>): Promise<never> {
    const { context, draft } = parts;
    // What is no error fails all the same, even undefined.
    const error = asError(thrown);
    const kind = failureKindOf(error);
    // A reconcile that was stopped, or whose time is over, may not write.
    if (kind === 'conflict' || kind === 'waiting' || context.signal.aborted) throw error;
    if (!this.#plan.reports.has(error)) {
      const reason = terminalReasonOf(error) ?? 'ReconcileFailed';
      const event = { type: 'Warning', reason, action: 'Reconcile' } as const;
      context.recorder.record({ ...event, regarding: object, note: error.message });
    }
    const conditions = conditionsOf({ error, ...this.#observed(object) });
    // The server may refuse what the handler has set: then the failure shows without it.
    for (const update of [draft.overFailure({ conditions }), { conditions }]) {
      try {
        await this.#write(object, update, { context, keepOthers: true });
        break;
      } catch (unwritten) {
        // The first error is the one to be reported.
        context.logger.warn('status not written', { error: unwritten });
      }
    }
    throw error;
  }

  async #finalize(object: T, context: ReconcileContext): Promise<Result> {
    const { finalize, finalizer } = this.#plan;
    const { client, signal } = context;
    const { finalizers = [] } = object.metadata;
    if (finalizer === undefined || !finalizers.includes(finalizer)) return done();
    const draft = new Draft<T>(object);
    const parts = { context, draft, results: new Map<string, ObjectResult>() };
    let returned: Result | undefined;
    try {
      returned = await finalize?.({ ...context, object, status: draft });
      checkHandled('finalizes', returned, object);
    } catch (error) {
      return this.#fail(object, error, parts);
    }
    if (returned?.type === 'requeueAfter') {
      const waitsFor = draft.waitsFor(returned.message) ?? 'the clean-up is not finished';
      const conditions = deletingConditions(waitsFor);
      const update = draft.over({ conditions: this.#withGeneration(object, conditions) });
      const againMs = await this.#write(object, update, { context, keepOthers: true });
      return soonest(returned, againMs);
    }
    await removeFinalizer(client, await this.#latest(object, context), { finalizer, signal });
    return done();
  }

  /** Whether the cache still has the object, and not another one of its name. */
  async #isThere({ metadata }: T, { client, key, signal }: ReconcileContext): Promise<boolean> {
    const now = await getIfExists(client, this.#plan.type, key, { signal });
    return now?.metadata.uid === metadata.uid;
  }

  /** The object as it is after the writes of `finalizes`, for a finalizer is removed by its version. */
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

/** What one call of a handler is given, and leaves. */
interface HandlerParts<T extends KubernetesObject> {
  readonly context: ReconcileContext;
  readonly draft: Draft<T>;
  /** The last result of each object. */
  readonly results: Map<string, ObjectResult>;
}

/** The status that a handler sets. */
class Draft<T extends KubernetesObject> implements StatusDraft<T> {
  readonly #generation: number | undefined;
  readonly #conditions = new Map<string, ConditionUpdate>();
  readonly #waits = new Set<string>();
  #fields: Readonly<Record<string, unknown>> = {};

  constructor({ metadata }: T) {
    this.#generation = metadata.generation;
  }

  set(fields: object): void {
    const taken = ['conditions', 'observedGeneration'].find((name) => name in fields);
    if (taken !== undefined) {
      const remedy = taken === 'conditions' ? 'use setCondition' : 'the operator sets it';
      throw new OperatorError('InvalidOption', `status.set: ${taken} can't be set; ${remedy}`);
    }
    this.#fields = omitBy({ ...this.#fields, ...fields }, (value) => value === undefined);
  }

  setCondition(condition: Omit<ConditionUpdate, 'observedGeneration'>): void {
    const observed = this.#generation === undefined ? {} : { observedGeneration: this.#generation };
    this.#conditions.set(condition.type, { ...condition, ...observed });
  }

  setWaiting(message: string): void {
    this.#waits.add(message);
  }

  /** The messages of `setWaiting` after that of the result; undefined: there are none. */
  waitsFor(returned: string | undefined): string | undefined {
    const all = [...(returned === undefined ? [] : [returned]), ...this.#waits];
    return all.length === 0 ? undefined : all.join('; ');
  }

  /** The draft over what the operator writes itself. */
  over({ conditions = [] }: StatusUpdate): StatusUpdate {
    const own = conditions.filter(({ type }) => !this.#conditions.has(type));
    return { conditions: [...own, ...this.#conditions.values()], fields: this.#fields };
  }

  /** The draft over a failure: a `Ready` that was set to True before it does not stand. */
  overFailure({ conditions = [] }: StatusUpdate): StatusUpdate {
    const refuted = conditions.filter(
      ({ type, status }) => (this.#conditions.get(type)?.status ?? status) !== status,
    );
    const types = refuted.map(({ type }) => type);
    const { conditions: all = [], fields } = this.over({ conditions });
    return { conditions: [...all.filter(({ type }) => !types.includes(type)), ...refuted], fields };
  }
}

async function reconcileChain(chain: unknown, object: KubernetesObject): Promise<void> {
  const isChain = typeof chain === 'object' && chain !== null && 'reconcile' in chain;
  if (!isChain) {
    const message = `builds for ${describeObject(object)}: want the chain to be returned, got ${typeof chain}`;
    throw new OperatorError('InvalidOption', `${message}; return builder.configMap(…)`);
  }
  await (chain as Builder).reconcile();
}

/** @throws InvalidResultError: what a handler returned is neither nothing nor a result. */
function checkHandled(by: string, returned: unknown, object: KubernetesObject): void {
  if (returned === undefined || returned === null) return;
  if (isResult(returned)) {
    checkedResult(returned);
    return;
  }
  const message = `${by} for ${describeObject(object)}: want nothing or a result, got ${shapeOf(returned)}`;
  const remedy =
    returned instanceof Builder
      ? 'give the chain to builds(…), or await its steps'
      : 'return nothing, done() or requeueAfter(ms, message)';
  throw new InvalidResultError(`${message}; ${remedy}`);
}

function soonest(result: Result, afterMs: number | undefined): Result {
  if (afterMs === undefined) return result;
  if (result.type === 'done') return requeueAfter(afterMs);
  return { ...result, afterMs: Math.min(result.afterMs, afterMs) };
}
