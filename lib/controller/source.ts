import type { Cache } from '../cache/cache.js';
import type { Client } from '../client/client.js';
import type { KubernetesObject } from '../object/kubernetes-object.js';
import type { Clock } from '../system/clock.js';
import type { Logger } from '../system/logger.js';
import type { Random } from '../system/random.js';
import type { ReconcileKey } from './reconcile-key.js';
import type { Trigger } from './trigger.js';

/** Where a controller's work comes from; on several clusters it is started once for each. */
export interface Source {
  /** For logs, metrics and triggers. */
  readonly name: string;
  /** Begins. It must not throw: what goes wrong later is told to `context.failed`. */
  start(context: SourceContext): StartedSource;
}

/** A source that was started. */
export interface StartedSource {
  /**
   * Waits until all that existed at the start was enqueued. Absent: there is nothing to wait for.
   * @throws the signal's reason, as soon as it is aborted.
   */
  readonly whenSynced?: ((signal: AbortSignal) => Promise<void>) | undefined;
  /**
   * Enqueues once more what is there, because of `trigger` and as what existed at the start. Absent:
   * it remembers nothing.
   */
  readonly replay?: ((trigger: Trigger) => void) | undefined;
  /** How it is doing; cheap. Absent: it has nothing to tell. */
  readonly status?: (() => StartedSourceStatus) | undefined;
  /** Ends it: it leaves no timer, listener or call behind. */
  stop(): void | Promise<void>;
}

/** How a source is doing. */
export interface StartedSourceStatus {
  /** All that existed at the start was enqueued. */
  readonly synced?: boolean | undefined;
  /** Its kind is not served; it is looked for again and again. @defaultValue false */
  readonly parked?: boolean | undefined;
  /** What is wrong right now, or undefined. */
  readonly problem?: unknown;
}

/** What a source may use. */
export interface SourceContext {
  /** The cluster that it was started for. `''`: the only one. */
  readonly cluster: string;
  readonly cache: Cache;
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /**
   * Asks for a reconcile of `key`, in the source's cluster where it names none.
   * @returns false: another replica owns the key, and is to be told; here it is reconciled only if
   * this replica takes it over
   * @throws OperatorError `InvalidValue`: no object can have such a key.
   */
  enqueue(key: ReconcileKey, request: EnqueueOptions): boolean;
  /** Logs and counts that `what` (a mapper, a stream) threw. */
  failed(what: string, error: unknown, object?: KubernetesObject): void;
}

/** Options of {@link SourceContext.enqueue}. */
export interface EnqueueOptions {
  readonly trigger: Trigger;
  /** @defaultValue 0 */
  readonly priority?: number | undefined;
}
