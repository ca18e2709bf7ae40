import type { Cache } from '../cache/cache.js';
import type { Client } from '../client/client.js';
import type { KubernetesObject } from '../object/kubernetes-object.js';
import type { Clock } from '../system/clock.js';
import type { Logger } from '../system/logger.js';
import type { Random } from '../system/random.js';
import type { ReconcileKey } from './reconcile-key.js';
import type { Trigger } from './trigger.js';

/** A source of a controller's keys. On several clusters it is started once for each. */
export interface Source {
  /** The name in logs, metrics and triggers. */
  readonly name: string;
  /** Starts the source. It must not throw: report later errors to `context.failed`. */
  start(context: SourceContext): StartedSource;
}

/** A source that was started. */
export interface StartedSource {
  /**
   * Waits until all initially existing items were enqueued. Absent if there is nothing to wait for.
   * @throws the signal's reason, as soon as it is aborted.
   */
  readonly whenSynced?: ((signal: AbortSignal) => Promise<void>) | undefined;
  /**
   * Enqueues all existing items again, with `trigger` and as at the start. Absent if the source keeps no
   * items.
   */
  readonly replay?: ((trigger: Trigger) => void) | undefined;
  /** Returns the status; cheap. Absent if the source has no status. */
  readonly status?: (() => StartedSourceStatus) | undefined;
  /** Stops the source. It must leave no timer, listener or call behind. */
  stop(): void | Promise<void>;
}

/** The status of a source. */
export interface StartedSourceStatus {
  /** True once all initially existing items were enqueued. */
  readonly synced?: boolean | undefined;
  /** True if the kind is not served; the source checks for it repeatedly. @defaultValue false */
  readonly parked?: boolean | undefined;
  /** The current problem, or undefined. */
  readonly problem?: unknown;
}

/** The context of a source. */
export interface SourceContext {
  /** The cluster that the source was started for; `''` for the only one. */
  readonly cluster: string;
  readonly cache: Cache;
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /**
   * Requests a reconcile of `key`, by default in the source's cluster.
   * @returns false if another replica owns the key and must be notified. This replica reconciles the key only
   *   if it acquires it.
   * @throws OperatorError `InvalidValue`: no object can have such a key.
   */
  enqueue(key: ReconcileKey, request: EnqueueOptions): boolean;
  /** Logs and counts an exception of `what` (a mapper, a stream). */
  failed(what: string, error: unknown, object?: KubernetesObject): void;
}

/** Options of {@link SourceContext.enqueue}. */
export interface EnqueueOptions {
  readonly trigger: Trigger;
  /** @defaultValue 0 */
  readonly priority?: number | undefined;
}
