import type { Cache } from '../cache/cache.js';
import type { Client } from '../client/client.js';
import type { KubernetesObject, ObjectKey } from '../object/kubernetes-object.js';
import type { Clock } from '../system/clock.js';
import type { Logger } from '../system/logger.js';
import type { Random } from '../system/random.js';
import type { Trigger } from './trigger.js';

/** Where a controller's work comes from. */
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
  /** Ends it: it leaves no timer, listener or call behind. */
  stop(): void | Promise<void>;
}

/** What a source may use. */
export interface SourceContext {
  readonly cache: Cache;
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  enqueue(key: ObjectKey, request: EnqueueOptions): void;
  /** Logs and counts that `what` (a mapper, a stream) threw. */
  failed(what: string, error: unknown, object?: KubernetesObject): void;
}

/** Options of {@link SourceContext.enqueue}. */
export interface EnqueueOptions {
  readonly trigger: Trigger;
  /** @defaultValue 0 */
  readonly priority?: number | undefined;
}
