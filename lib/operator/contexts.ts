import type { Builder, BuilderOptions, NoNames } from '../builder/index.js';
import type { Predicate, ReconcileContext, Result } from '../controller/index.js';
import { isJsonObject } from '../object/index.js';
import type {
  Condition,
  ConditionUpdate,
  KubernetesObject,
  ResourceType,
  TypeReference,
} from '../object/index.js';
import type { StatusUpdate } from '../status/index.js';
import { OperatorError, refuseUnknownOptions, withoutUndefined } from '../system/index.js';
import type { Logger, OptionNames } from '../system/index.js';

/**
 * The kind names of type references that the compiler knows: built-in kinds and literals
 * `{ apiVersion, kind }`. A custom resource has no literal kind; use `builder.object` for it.
 */
export type KindsOf<R> =
  R extends ResourceType<infer T>
    ? string extends T['kind']
      ? never
      : T['kind']
    : R extends { readonly kind: infer K extends string }
      ? string extends K
        ? never
        : K
      : never;

/** Status fields that a reconciler may set; undefined counts as not set. Lists and objects may be read-only. */
export type StatusFields<T> = T extends { status?: infer S }
  ? {
      readonly [K in Exclude<keyof NonNullable<S>, 'conditions' | 'observedGeneration'>]?:
        AsReadonly<NonNullable<S>[K]> | undefined;
    }
  : never;

type AsReadonly<T> = T extends readonly (infer Item)[]
  ? readonly AsReadonly<Item>[]
  : T extends object
    ? { readonly [K in keyof T]: AsReadonly<T[K]> }
    : T;

/**
 * The status that this reconcile sets besides the operator's conditions. The operator writes both once, at the
 * end. A successful reconcile removes fields that it does not set. A reconcile that fails, waits or is paused
 * keeps the earlier ones.
 */
export interface StatusDraft<T extends KubernetesObject> {
  /**
   * Sets fields of the status. After the handler, the status is checked against the schema of `defineResource` before
   * it is written: a status that does not fit fails the reconcile, without a retry. A `finalizes` that waits is still
   * called again.
   * @throws OperatorError `InvalidOption`: `conditions` or `observedGeneration` is given, or the controller writes no
   * status (see the option `status` of `Operator.for`). In `finalizes`, a controller that writes no status only logs
   * this, since the deletion must end.
   */
  set(fields: StatusFields<T>): void;
  /**
   * Sets a condition of your own type, or replaces `Ready`, `Progressing` or `Degraded`. The reason is a word in
   * CamelCase. A text that the API server would refuse as a reason, such as the code of another system, is made one:
   * `no space left` becomes `noSpaceLeft`. A message is cut to 32,768 characters.
   * @throws OperatorError `InvalidOption`: a field is unknown or has another type, or the type or reason is empty, or
   * the controller writes no status, except in `finalizes`.
   */
  setCondition(condition: Omit<ConditionUpdate, 'observedGeneration'>): void;
  /**
   * Marks the object as not ready, with `message` in `Ready` and `Progressing`. Use it for a wait that a
   * watch event ends, such as for an owned Pod. For other waits return `requeueAfter(ms, message)`.
   */
  setWaiting(message: string): void;
}

/** The status that a handler sets. */
export class Draft<T extends KubernetesObject> implements StatusDraft<T> {
  readonly #generation: number | undefined;
  readonly #conditions = new Map<string, ConditionUpdate>();
  readonly #waits = new Set<string>();
  readonly #onLost: ((method: string) => void) | undefined;
  #warnOfLateCall: ((method: string) => void) | undefined;
  #fields: Readonly<Record<string, unknown>> = {};

  /**
   * @param onLost - called when a handler sets fields or conditions that will not be written; undefined if the
   *   controller writes the status
   */
  constructor({ metadata }: T, onLost?: (method: string) => void) {
    this.#generation = metadata.generation;
    this.#onLost = onLost;
  }

  /** True if no field and no condition is set. */
  get isEmpty(): boolean {
    return this.#conditions.size === 0 && Object.keys(this.#fields).length === 0;
  }

  /** True if the handler itself shows that the object is not ready. */
  get isUnready(): boolean {
    return (this.#conditions.get('Ready')?.status ?? 'True') !== 'True';
  }

  /** Ends the draft when its handler has returned: later calls have no effect, and the first one is logged. */
  close(logger: Logger): void {
    this.#warnOfLateCall = (method) => {
      this.#warnOfLateCall = () => undefined;
      logger.warn(`status.${method} was called after the handler had returned; await each call`);
    };
  }

  set(fields: object): void {
    if (this.#isLate('set')) return;
    this.#onLost?.('set');
    if (!isJsonObject(fields)) refuseNonObject('status.set: want fields of the status', fields);
    const taken = ['conditions', 'observedGeneration'].find((name) => name in fields);
    if (taken !== undefined) {
      const remedy = taken === 'conditions' ? 'use setCondition' : 'the operator sets it';
      throw new OperatorError('InvalidOption', `status.set: ${taken} can't be set; ${remedy}`);
    }
    this.#fields = withoutUndefined({ ...this.#fields, ...fields });
  }

  setCondition(condition: Omit<ConditionUpdate, 'observedGeneration'>): void {
    if (this.#isLate('setCondition')) return;
    this.#onLost?.('setCondition');
    checkCondition(condition);
    const observed = this.#generation === undefined ? {} : { observedGeneration: this.#generation };
    this.#conditions.set(condition.type, { ...condition, ...observed });
  }

  setWaiting(message: string): void {
    if (!this.#isLate('setWaiting')) this.#waits.add(message);
  }

  #isLate(method: string): boolean {
    this.#warnOfLateCall?.(method);
    return this.#warnOfLateCall !== undefined;
  }

  /** Joins the returned message and those of `setWaiting`; undefined if there are no messages. */
  waitsFor(returned: string | undefined): string | undefined {
    const all = [...(returned === undefined ? [] : [returned]), ...this.#waits];
    return all.length === 0 ? undefined : all.join('; ');
  }

  /** Merges the draft over the operator's own update. */
  over({ conditions = [] }: StatusUpdate): StatusUpdate {
    const own = conditions.filter(({ type }) => !this.#conditions.has(type));
    return { conditions: [...own, ...this.#conditions.values()], fields: this.#fields };
  }

  /**
   * Merges the draft over a failure. The failure wins over a draft condition with another status, such as a
   * `Ready` set to True earlier.
   */
  overFailure({ conditions = [] }: StatusUpdate): StatusUpdate {
    const refuted = conditions.filter(
      ({ type, status }) => (this.#conditions.get(type)?.status ?? status) !== status,
    );
    const types = refuted.map(({ type }) => type);
    const { conditions: all = [], fields } = this.over({ conditions });
    return { conditions: [...all.filter(({ type }) => !types.includes(type)), ...refuted], fields };
  }
}

function refuseNonObject(problem: string, given: unknown): never {
  const kind = given instanceof Promise ? 'a promise' : `a value of type ${typeof given}`;
  throw new OperatorError('InvalidOption', `${problem}, got ${given === null ? 'null' : kind}`);
}

const conditionStatuses: readonly unknown[] = ['True', 'False', 'Unknown'];

/** Fields of metav1.Condition and times of built-in kinds, so that a condition of another object can be copied. */
const conditionFields: OptionNames<Condition> = {
  ...{ type: true, status: true, reason: true, message: true },
  ...{ observedGeneration: true, lastTransitionTime: true },
  ...{ lastUpdateTime: true, lastProbeTime: true, lastHeartbeatTime: true },
};

function checkCondition(condition: Omit<ConditionUpdate, 'observedGeneration'>): void {
  if (!isJsonObject(condition)) refuseNonObject('status.setCondition: want an object', condition);
  const { type, status, reason, message = '' } = condition;
  const isNamed = typeof type === 'string' && type !== '';
  const subject = `status.setCondition${isNamed ? ` ${type}` : ''}`;
  const refuse = (field: string, wanted: string, got: unknown): never => {
    const problem = `${field}: want ${wanted}, got ${JSON.stringify(got)}`;
    throw new OperatorError('InvalidOption', `${subject}: ${problem}`);
  };
  if (typeof type !== 'string') refuse('type', 'a string', type);
  if (type === '') refuse('type', 'a name in CamelCase, such as BackedUp', type);
  if (!conditionStatuses.includes(status)) refuse('status', "'True', 'False' or 'Unknown'", status);
  if (typeof reason !== 'string') refuse('reason', 'a string', reason);
  if (!/[A-Za-z0-9_]/.test(reason)) refuse('reason', 'a word in CamelCase, such as Done', reason);
  if (typeof message !== 'string') refuse('message', 'a string', message);
  refuseUnknownOptions<object>(subject, condition, conditionFields);
}

/** Argument of `finalizes`: the controller's context plus the object. */
export interface ObjectContext<T extends KubernetesObject> extends ReconcileContext {
  /** The object from the cache; read-only. */
  readonly object: T;
  readonly status: StatusDraft<T>;
}

/** Argument of `builds` and `reconciles`. */
export interface OperatorContext<
  T extends KubernetesObject,
  Owned extends string = string,
> extends ObjectContext<T> {
  /**
   * An empty chain owned by the object. It uses the client, recorder, logger and signal of this reconcile,
   * the operator's name as field manager, and the controller's owned kinds.
   */
  readonly builder: Builder<NoNames<string, Owned>>;
}

/** Return value of a handler: nothing, or a result. */
// Not `undefined`: before version 6.0, TypeScript infers `void` for an arrow function that returns nothing.
// eslint-disable-next-line @typescript-eslint/no-invalid-void-type
export type Handled = Result | void | Promise<Result | void>;

/** Returns the chain of the objects that an object should have. */
export type BuildHandler<T extends KubernetesObject, Owned extends string> = (
  context: OperatorContext<T, Owned>,
) => Builder | Promise<Builder>;

/**
 * Reconciles an object that exists and is not being deleted. The results of `context.builder` decide the
 * conditions and the next reconcile. Returning `requeueAfter(ms, message)` reports a wait.
 */
export type ReconcileHandler<T extends KubernetesObject, Owned extends string> = (
  context: OperatorContext<T, Owned>,
) => Handled;

/**
 * Cleans up for an object that is being deleted. `requeueAfter(ms, message)` and `status.setWaiting(message)`
 * mean not finished: the handler is called again. It must handle a clean-up that an earlier call began.
 */
export type FinalizeHandler<T extends KubernetesObject> = (context: ObjectContext<T>) => Handled;

/** Builder options that the operator does not set itself. */
export type OperatorBuilderOptions = Omit<
  BuilderOptions,
  | ('client' | 'owner' | 'controllerName' | 'owns' | 'onlyOwned')
  | ('recorder' | 'emitter' | 'logger' | 'signal' | 'clock')
>;

/** Builder options that the operator sets itself. */
const decidedOptions: readonly Exclude<keyof BuilderOptions, keyof OperatorBuilderOptions>[] = [
  ...(['client', 'owner', 'controllerName', 'owns', 'onlyOwned'] as const),
  ...(['recorder', 'emitter', 'logger', 'signal', 'clock'] as const),
];

const builderOptionNames: OptionNames<OperatorBuilderOptions> = {
  ...{ labels: true, namespace: true, scope: true, onImmutable: true, adopt: true },
  ...{ adoptManagers: true, rolloutOrder: true, rollout: true, orderCreation: true },
  ...{ maxDeletions: true, onResult: true, pruneClaims: true },
};

/** @throws OperatorError `InvalidOption`: the operator sets one of `options` itself, or one is unknown. */
export function refuseDecided({ kind }: { readonly kind: string }, options: object): void {
  const subject = `for(${kind}): withBuilder`;
  // In plain JavaScript, the function may be async: its options would be ignored.
  if (options instanceof Promise || !isJsonObject(options)) {
    refuseNonObject(`${subject}: want options or a function that returns them`, options);
  }
  const decided = decidedOptions.find((name) => name in options);
  if (decided !== undefined) {
    const message = `${subject}: the operator sets ${decided}; leave it out`;
    throw new OperatorError('InvalidOption', message);
  }
  refuseUnknownOptions(subject, options, builderOptionNames);
}

/** Options of `context.builder`, or a function that returns them for an object. */
export type BuilderSetting<T extends KubernetesObject> =
  OperatorBuilderOptions | ((object: T) => OperatorBuilderOptions);

/** Options of {@link Operator.for}. */
export interface ForOptions<T extends KubernetesObject = KubernetesObject> {
  /** Name of the controller in logs and metrics; must be unique. @defaultValue the kind, in lower case */
  readonly name?: string | undefined;
  /**
   * Lets the operator write the conditions and `observedGeneration` of the objects.
   * @defaultValue true for a resource of `defineResource` whose status has conditions; else false, since the
   * status of other kinds belongs to their own controllers. Without it `status.set` and `status.setCondition` are
   * refused (`InvalidOption`); in `finalizes` they have no effect, and a warning is logged once
   */
  readonly status?: boolean | undefined;
  /** The finalizer of `finalizes`. @defaultValue `<group>/<name of the operator>` */
  readonly finalizer?: string | undefined;
  /**
   * Selects the events of the kind's own objects that cause a reconcile. It does not apply to the events of
   * owned and watched objects, of sources and of requeues. A pause ends by a change of an annotation, which
   * `generationChanged` alone rejects. @defaultValue all, except the operator's own status writes
   */
  readonly predicate?: Predicate<T> | undefined;
}

/** Kinds that a controller owns; arguments of `owns`. */
export type OwnedTypes = readonly TypeReference<KubernetesObject>[];
