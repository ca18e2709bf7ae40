import { EventEmitter } from 'eventemitter3';
import type { FieldChange, ObjectReference, RolloutStatus } from '../object/index.js';
import { silentLogger, refuseUnknownOptions, OperatorError } from '../system/index.js';
import type { Logger } from '../system/index.js';

/** An object was written. */
export interface ObjectWritten {
  readonly ref: ObjectReference;
  /** The owner whose reconcile wrote the object, if known. */
  readonly owner?: ObjectReference | undefined;
  /** Known changes; a Secret's values are redacted. */
  readonly changes: readonly FieldChange[];
  /** Human-readable cause, if known: `drift`, `ConfigMap shop/web changed`. */
  readonly cause?: string | undefined;
}

/** A write failed. Conflicts do not count: they are retried. */
export interface WriteFailed {
  /** Without a name if the server generates it. */
  readonly ref: Omit<ObjectReference, 'name'> & { readonly name?: string | undefined };
  readonly owner?: ObjectReference | undefined;
  readonly verb: WriteVerb;
  /** The thrown error. If the object is a Secret, the message may quote its data: do not log it. */
  readonly error: unknown;
}

/** A verb that writes. */
export type WriteVerb = 'create' | 'update' | 'patch' | 'apply' | 'delete' | 'deleteCollection';

/** The rollout of a workload started or progressed. */
export interface RolloutChanged {
  readonly ref: ObjectReference;
  readonly owner?: ObjectReference | undefined;
  /** The change that caused the rollout, for example `ConfigMap shop/web`. */
  readonly cause?: string | undefined;
  readonly status: RolloutStatus;
}

/** The events of {@link OperatorEvents}, each with one payload. */
export interface OperatorEventMap {
  created: [event: ObjectWritten];
  configured: [event: ObjectWritten];
  deleted: [event: ObjectWritten];
  /** An object was deleted because it is no longer desired. This event follows `deleted`. */
  pruned: [event: ObjectWritten];
  failed: [event: WriteFailed];
  rollout: [event: RolloutChanged];
}

/** Options of {@link OperatorEvents}. */
export interface OperatorEventsOptions {
  /** Logs errors of listeners. @defaultValue no logs */
  readonly logger?: Logger | undefined;
}

type EventName = keyof OperatorEventMap;
type Listener<N extends EventName = EventName> = EventEmitter.EventListener<OperatorEventMap, N>;

/**
 * Emits an operator's actions within this process, for tests, UIs and other code that reacts to them.
 * Listeners run synchronously, in the order of registration; an async one is not awaited. An error or a rejection in a
 * listener fails neither the reconcile nor other listeners: it is logged.
 */
export class OperatorEvents extends EventEmitter<OperatorEventMap> {
  readonly #logger: Logger;
  /** The registered function of each listener, by event. */
  readonly #guards = new WeakMap<object, Map<EventName, Listener>>();
  readonly #listeners = new WeakMap<object, Listener>();

  constructor(options: OperatorEventsOptions = {}) {
    super();
    const { logger = silentLogger } = options;
    refuseUnknownOptions<OperatorEventsOptions>('OperatorEvents', options, { logger });
    this.#logger = logger;
  }

  override on<Name extends keyof OperatorEventMap>(
    name: Name,
    listener: EventEmitter.EventListener<OperatorEventMap, Name>,
    context?: unknown,
  ): this {
    return super.on(name, this.#guard(name, listener), context);
  }

  override addListener<Name extends keyof OperatorEventMap>(
    name: Name,
    listener: EventEmitter.EventListener<OperatorEventMap, Name>,
    context?: unknown,
  ): this {
    return this.on(name, listener, context);
  }

  override once<Name extends keyof OperatorEventMap>(
    name: Name,
    listener: EventEmitter.EventListener<OperatorEventMap, Name>,
    context?: unknown,
  ): this {
    return super.once(name, this.#guard(name, listener), context);
  }

  override removeListener<Name extends keyof OperatorEventMap>(
    name: Name,
    listener?: EventEmitter.EventListener<OperatorEventMap, Name>,
    context?: unknown,
    once?: boolean,
  ): this {
    const guard = listener && this.#guards.get(listener)?.get(name);
    // To remove a listener of `once`, the emitter passes the registered function itself.
    return super.removeListener(
      name,
      (guard as EventEmitter.EventListener<OperatorEventMap, Name> | undefined) ?? listener,
      context,
      once,
    );
  }

  override off<Name extends keyof OperatorEventMap>(
    name: Name,
    listener?: EventEmitter.EventListener<OperatorEventMap, Name>,
    context?: unknown,
    once?: boolean,
  ): this {
    return this.removeListener(name, listener, context, once);
  }

  override listeners<Name extends keyof OperatorEventMap>(
    name: Name,
  ): EventEmitter.EventListener<OperatorEventMap, Name>[] {
    return super.listeners(name).map((guard) => this.#listeners.get(guard) ?? guard);
  }

  /** Returns a function that calls `listener` and logs its errors. It is the same function for each call. */
  #guard<N extends EventName>(name: N, listener: Listener<N>): Listener<N> {
    if (typeof (listener as unknown) !== 'function') {
      const message = `OperatorEvents: listener of '${name}': want a function, got ${typeof listener}`;
      throw new OperatorError('InvalidOption', message);
    }
    const known = this.#guards.get(listener) ?? new Map<EventName, Listener>();
    this.#guards.set(listener, known);
    const logger = this.#logger;
    const guard = known.get(name) ?? guardOf(name, listener as Listener, logger);
    known.set(name, guard);
    this.#listeners.set(guard, listener as Listener);
    return guard;
  }
}

function guardOf(name: EventName, listener: Listener, logger: Logger): Listener {
  const log = (error: unknown): void => logger.error(`a listener of '${name}' threw`, { error });
  const call = listener as (...payload: unknown[]) => unknown;
  return function (this: unknown, ...payload) {
    try {
      const returned = call.apply(this, payload);
      if (returned instanceof Promise) returned.catch(log);
    } catch (error) {
      log(error);
    }
  };
}
