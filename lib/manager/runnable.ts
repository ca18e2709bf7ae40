import type { Logger } from '../system/logger.js';

/** The point at which a manager starts a {@link Runnable}. */
export type RunnablePhase =
  /** First, before webhooks and caches: servers for scrapes and probes. */
  | 'server'
  /** After the servers and before the caches: lists may need conversion webhooks. */
  | 'webhook'
  /** After the caches have synced, on every replica. */
  | 'replica'
  /** Last, on the leader only. */
  | 'leader';

/** Argument of a runnable's `run`. */
export interface RunnableContext {
  /** Aborted when the runnable must end: the manager stops or, in phase `leader`, loses the lease. */
  readonly signal: AbortSignal;
  readonly logger: Logger;
  /** Reports that the runnable is ready; phases after `server` and `webhook` wait for it. */
  readonly ready: () => void;
}

/** A component that a manager runs beside its controllers. */
export interface Runnable {
  /** Name in logs, errors and readyz. */
  readonly name: string;
  /** @defaultValue 'leader' */
  readonly phase?: RunnablePhase | undefined;
  /** Address it listens on, for the manager's status. @defaultValue it does not listen */
  readonly url?: string | undefined;
  /**
   * Resolves when the runnable has ended. If it throws, the manager stops and its `run` rejects with the
   * error. Returning before `signal` is aborted counts as ready and finished.
   */
  run(context: RunnableContext): Promise<void>;
}
