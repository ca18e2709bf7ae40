import { getIfExists } from '../client/index.js';
import type { KubernetesObject, TypeReference } from '../object/index.js';
import { keyOf, apiVersionOf } from '../object/index.js';
import { OperatorError, isOperatorError } from '../system/index.js';
import type { LifecycleObject } from './lifecycle-status.js';
import type { Client } from '../client/index.js';
import type { Recorder } from '../events/index.js';
import type { Logger } from '../system/index.js';

/** Calls callbacks for operations on objects; {@link CallbackDispatcher} is an implementation. */
export interface Callbacks<CR extends LifecycleObject = LifecycleObject> {
  /** Calls the callbacks in sequence. The first error ends the sequence and is thrown. */
  invokeCallbacks(args: CallbackArguments<CR>): Promise<void>;
  /** Whether there is a callback for the kind of `object`. @defaultValue always true */
  handles?(object: KubernetesObject): boolean;
}

/** Calls callbacks by the kind of the object, in the order in which they were added. */
export class CallbackDispatcher<
  CR extends LifecycleObject = LifecycleObject,
> implements Callbacks<CR> {
  readonly #byKind = new Map<string | null, Callback<CR>[]>();

  /**
   * Adds a callback for objects of `type`; `null` adds it for every kind, after those of the kind.
   * @throws OperatorError `InvalidOption`: `callback` is not a function.
   */
  addCallback(type: TypeReference<KubernetesObject> | null, callback: Callback<CR>): void {
    if (typeof callback !== 'function') {
      const message = `addCallback: want a function, got ${typeof callback}`;
      throw new OperatorError('InvalidOption', message);
    }
    const kind = type === null ? null : kindOf(apiVersionOf(type), type.kind);
    this.#byKind.set(kind, [...(this.#byKind.get(kind) ?? []), callback]);
  }

  /** Whether there is a callback for the kind of `object`. */
  handles({ apiVersion, kind }: KubernetesObject): boolean {
    return this.#byKind.has(null) || this.#byKind.has(kindOf(apiVersion, kind));
  }

  /**
   * Calls the callbacks of the kind of `desired` (else of `current`), then those of every kind. Reads
   * `current` first if it is missing and the object may exist.
   * @throws the error of a callback, unchanged; later callbacks are not called.
   */
  async invokeCallbacks(args: CallbackArguments<CR>): Promise<void> {
    const object = args.desired ?? args.current;
    const own = object && this.#byKind.get(kindOf(object.apiVersion, object.kind));
    const callbacks = [...(own ?? []), ...(this.#byKind.get(null) ?? [])];
    if (callbacks.length === 0) return;
    const complete = { ...args, current: args.current ?? (await currentOf(args)) };
    for (const callback of callbacks) await callback(complete);
  }
}

async function currentOf({
  client,
  desired,
  state,
  signal,
}: CallbackArguments): Promise<KubernetesObject | undefined> {
  if (desired === undefined || state === 'PRE_CREATE') return undefined;
  const { apiVersion, kind } = desired;
  try {
    return await getIfExists(client, { apiVersion, kind }, keyOf(desired), { signal });
  } catch (error) {
    // A kind that is not served has no objects.
    if (isOperatorError(error, 'UnknownKind')) return undefined;
    throw error;
  }
}

function kindOf(apiVersion: string, kind: string): string {
  return `${apiVersion} ${kind}`;
}

/** The point in an operation at which a callback is called. */
export type CallbackState =
  /** Called before an object is created. Changes of `desired` are part of the creation. */
  | 'PRE_CREATE'
  | 'POST_CREATE'
  /** Called after an existing object was read. Changes of `current` are merged and written. */
  | 'POST_READ'
  /** Called before a changed object is written. Changes of `current` are written. */
  | 'PRE_UPDATE'
  | 'POST_UPDATE'
  /** Called before an object is pruned. */
  | 'PRE_DELETE'
  | 'POST_DELETE'
  /** Called for each object when the configuration is being deleted, before any deletion. */
  | 'OPERATOR_DELETE';

/**
 * The arguments of a callback. The objects are copies: changes of them are written where the state allows it.
 */
export interface CallbackArguments<CR extends LifecycleObject = LifecycleObject> {
  readonly logger: Logger;
  /** Reads from the server, never from a cache. */
  readonly client: Client;
  readonly recorder: Recorder;
  /** The operator's namespace. */
  readonly namespace: string;
  readonly cr: CR;
  readonly state: CallbackState;
  /** The desired object; undefined if the object is pruned. */
  readonly desired: KubernetesObject | undefined;
  /** The live object; undefined if it does not exist. */
  readonly current: KubernetesObject | undefined;
  readonly signal: AbortSignal;
}

/** Called at a {@link CallbackState}. Its errors reach the reconciler unchanged. */
export type Callback<CR extends LifecycleObject = LifecycleObject> = (
  args: CallbackArguments<CR>,
) => void | Promise<void>;
