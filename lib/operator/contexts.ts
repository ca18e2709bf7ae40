import type { Builder } from '../builder/builder.js';
import type { BuilderOptions } from '../builder/builder-options.js';
import type { NoNames } from '../builder/chain-names.js';
import type { ReconcileContext } from '../controller/reconciler.js';
import type { Result } from '../controller/result.js';
import type { ConditionUpdate } from '../object/conditions.js';
import type { KubernetesObject } from '../object/kubernetes-object.js';
import type { ResourceType, TypeReference } from '../object/resource-type.js';
import { OperatorError } from '../system/operator-error.js';

/**
 * The kinds of references, by name, as far as the compiler knows them: a built-in kind, or a literal
 * `{ apiVersion, kind }`. A custom resource has no literal kind: `builder.object` makes it.
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

/** The fields of an object's status that a reconciler may set; undefined counts as not set. */
export type StatusFields<T> = T extends { status?: infer S }
  ? {
      [K in Exclude<keyof NonNullable<S>, 'conditions' | 'observedGeneration'>]?:
        NonNullable<S>[K] | undefined;
    }
  : never;

/**
 * The part of an object's status that this reconcile decides, beside the conditions that the operator
 * writes. It is written once, with these, at the end. What a reconcile that succeeds does not set goes
 * away; one that fails, waits or is paused leaves what was set before.
 */
export interface StatusDraft<T extends KubernetesObject> {
  /** Sets fields of the status. @throws OperatorError `InvalidOption`: `conditions` or `observedGeneration`. */
  set(fields: StatusFields<T>): void;
  /** Sets a condition of a type of your own, or replaces `Ready`, `Progressing` or `Degraded`. */
  setCondition(condition: Omit<ConditionUpdate, 'observedGeneration'>): void;
  /**
   * Shows the object as not ready yet, with `message` in `Ready` and `Progressing`. For waits that a
   * watch ends, such as for an owned Pod to be ready; for others return `requeueAfter(ms, message)`.
   */
  setWaiting(message: string): void;
}

/** The argument of `finalizes`: what a controller's context has, and the object. */
export interface ObjectContext<T extends KubernetesObject> extends ReconcileContext {
  /** The object, as the cache has it: not to be changed. */
  readonly object: T;
  readonly status: StatusDraft<T>;
}

/** The argument of `builds` and `reconciles`. */
export interface OperatorContext<
  T extends KubernetesObject,
  Owned extends string = string,
> extends ObjectContext<T> {
  /**
   * An empty chain, owned by the object: with the client, recorder, logger and signal of this
   * reconcile, the operator's name as field manager, and the kinds that the controller owns.
   */
  readonly builder: Builder<NoNames<string, Owned>>;
}

/** The end of a handler: nothing to add, or a result. */
export type Handled = Result | undefined | Promise<Result | undefined>;

/** Returns the chain of the objects that an object should have. */
export type BuildHandler<T extends KubernetesObject, Owned extends string> = (
  context: OperatorContext<T, Owned>,
) => Builder | Promise<Builder>;

/**
 * Reconciles an object that exists and is not being deleted. The results of `context.builder` decide
 * the conditions and the next reconcile; returning `requeueAfter(ms, message)` shows a wait.
 */
export type ReconcileHandler<T extends KubernetesObject, Owned extends string> = (
  context: OperatorContext<T, Owned>,
) => Handled;

/**
 * Cleans up for an object that is being deleted, before it goes. `requeueAfter(ms, message)`: not
 * finished, called again. It must cope with a clean-up that an earlier call began.
 */
export type FinalizeHandler<T extends KubernetesObject> = (context: ObjectContext<T>) => Handled;

/** Options of the builder of an object that an operator does not decide itself. */
export type OperatorBuilderOptions = Omit<
  BuilderOptions,
  | ('client' | 'owner' | 'controllerName' | 'owns' | 'kinds' | 'onlyOwned')
  | ('recorder' | 'emitter' | 'logger' | 'signal' | 'clock')
>;

/** Options of a builder that an operator decides itself. */
const decidedOptions: readonly Exclude<keyof BuilderOptions, keyof OperatorBuilderOptions>[] = [
  ...(['client', 'owner', 'controllerName', 'owns', 'kinds', 'onlyOwned'] as const),
  ...(['recorder', 'emitter', 'logger', 'signal', 'clock'] as const),
];

/** @throws OperatorError `InvalidOption`: one of `options` is decided by the operator. */
export function refuseDecided({ kind }: { readonly kind: string }, options: object): void {
  const decided = decidedOptions.find((name) => name in options);
  if (decided === undefined) return;
  const message = `for(${kind}): withBuilder: the operator sets ${decided}; leave it out`;
  throw new OperatorError('InvalidOption', message);
}

/** Options of `context.builder`, or a function that returns them for an object. */
export type BuilderSetting<T extends KubernetesObject> =
  OperatorBuilderOptions | ((object: T) => OperatorBuilderOptions);

/** Options of {@link Operator.for}. */
export interface ForOptions {
  /**
   * Name of the controller, for logs and metrics; no two controllers may share it.
   * @defaultValue the kind, in lower case
   */
  readonly name?: string | undefined;
  /**
   * Whether the operator writes the conditions and `observedGeneration` of the objects.
   * @defaultValue true for a resource of `defineResource` whose status has conditions; else false, since
   * the status of other kinds belongs to their own controllers
   */
  readonly status?: boolean | undefined;
  /** The finalizer of `finalizes`. @defaultValue `<group>/<name of the operator>` */
  readonly finalizer?: string | undefined;
}

/** Kinds, as `owns` takes them. */
export type OwnedTypes = readonly TypeReference<KubernetesObject>[];
