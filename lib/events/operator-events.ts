import { EventEmitter } from 'eventemitter3';
import type { FieldChange, ObjectReference, RolloutStatus } from '../object/index.js';
import { silentLogger, refuseUnknownOptions } from '../system/index.js';
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
  /** The thrown error. The message of a Secret's error may quote its data: do not log it. */
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
  /** Deleted because it is no longer desired; follows `deleted`. */
  pruned: [event: ObjectWritten];
  failed: [event: WriteFailed];
  rollout: [event: RolloutChanged];
}

/** Options of {@link OperatorEvents}. */
export interface OperatorEventsOptions {
  /** Logs errors of listeners. @defaultValue no logs */
  readonly logger?: Logger | undefined;
}

/**
 * Emits an operator's actions within this process, for tests, UIs and other code that reacts to them.
 * Listeners run synchronously, in the order of registration. An error in a listener does not fail the
 * reconcile: it is logged, and the listeners after it miss that event. An async listener is not awaited, and has to
 * catch its errors itself: Node ends the process for a rejection that no code handles.
 */
export class OperatorEvents extends EventEmitter<OperatorEventMap> {
  readonly #logger: Logger;

  constructor(options: OperatorEventsOptions = {}) {
    super();
    const { logger = silentLogger } = options;
    refuseUnknownOptions<OperatorEventsOptions>('OperatorEvents', options, { logger });
    this.#logger = logger;
  }

  /** Calls the listeners of `name`. @returns true if there are any */
  override emit<Name extends keyof OperatorEventMap>(
    name: Name,
    ...payload: EventEmitter.EventArgs<OperatorEventMap, Name>
  ): boolean {
    try {
      return super.emit(name, ...payload);
    } catch (error) {
      this.#logger.error(`a listener of '${name}' threw`, { error });
      return true;
    }
  }
}
