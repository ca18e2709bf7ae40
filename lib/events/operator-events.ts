import { EventEmitter } from 'eventemitter3';
import type { FieldChange } from '../object/diff-by-path.js';
import type { ObjectReference } from '../object/object-reference.js';
import type { RolloutStatus } from '../object/rollout-status.js';
import { silentLogger } from '../system/logger.js';
import type { Logger } from '../system/logger.js';
import { refuseUnknownOptions } from '../system/known-options.js';

/** An object was written. */
export interface ObjectWritten {
  readonly ref: ObjectReference;
  /** Whose desired state it is, where that is known. */
  readonly owner?: ObjectReference | undefined;
  /** What changed, as far as it is known; a Secret's values are redacted. */
  readonly changes: readonly FieldChange[];
  /** Why, for people, where that is known: `drift`, `ConfigMap shop/web changed`. */
  readonly cause?: string | undefined;
}

/** A write failed. Conflicts are no failures: they are retried. */
export interface WriteFailed {
  /** Without a name where the server was to generate it. */
  readonly ref: Omit<ObjectReference, 'name'> & { readonly name?: string | undefined };
  readonly owner?: ObjectReference | undefined;
  readonly verb: WriteVerb;
  /** As it was thrown. The message of a Secret's error may quote its data: do not log that. */
  readonly error: unknown;
}

/** A verb that writes. */
export type WriteVerb = 'create' | 'update' | 'patch' | 'apply' | 'delete' | 'deleteCollection';

/** A workload rolls its Pods, or its rollout went on. */
export interface RolloutChanged {
  readonly ref: ObjectReference;
  readonly owner?: ObjectReference | undefined;
  /** Which change made it necessary, for example `ConfigMap shop/web`. */
  readonly cause?: string | undefined;
  readonly status: RolloutStatus;
}

/** What {@link OperatorEvents} emits, each with one payload. */
export interface OperatorEventMap {
  created: [event: ObjectWritten];
  configured: [event: ObjectWritten];
  deleted: [event: ObjectWritten];
  /** Deleted because nothing desires it any more; follows `deleted`. */
  pruned: [event: ObjectWritten];
  failed: [event: WriteFailed];
  rollout: [event: RolloutChanged];
}

/** Options of {@link OperatorEvents}. */
export interface OperatorEventsOptions {
  /** Hears of listeners that throw. @defaultValue silent */
  readonly logger?: Logger | undefined;
}

/**
 * What an operator does, in this process: for tests, UIs and whoever wants to react. Listeners are
 * called at once, in the order in which they came; one that throws fails no reconcile: it is logged,
 * and the listeners after it miss that event.
 */
export class OperatorEvents extends EventEmitter<OperatorEventMap> {
  readonly #logger: Logger;

  constructor(options: OperatorEventsOptions = {}) {
    super();
    const { logger = silentLogger } = options;
    refuseUnknownOptions<OperatorEventsOptions>('OperatorEvents', options, { logger });
    this.#logger = logger;
  }

  /** Calls the listeners of `name`. @returns whether there are any */
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
