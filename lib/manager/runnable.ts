import type { Logger } from '../system/logger.js';

/** When a manager starts a {@link Runnable}. */
export type RunnablePhase =
  /** First, before webhooks and caches: whoever scrapes or probes. */
  | 'server'
  /** After the servers, before the caches: conversion must answer before anything is listed. */
  | 'webhook'
  /** When the caches are synced, on every replica. */
  | 'replica'
  /** On the leader only, last. */
  | 'leader';

/** What a {@link Runnable} is given. */
export interface RunnableContext {
  /** Aborted when it has to end: the manager stops, or (phase `leader`) the lease is lost. */
  readonly signal: AbortSignal;
  readonly logger: Logger;
  /** Call it when what others wait for is there: phases after `server` and `webhook` wait for it. */
  readonly ready: () => void;
}

/** Something that a manager runs beside its controllers. */
export interface Runnable {
  /** For logs, errors and readyz. */
  readonly name: string;
  /** @defaultValue 'leader' */
  readonly phase?: RunnablePhase | undefined;
  /** Where it listens, for the manager's status. @defaultValue it does not */
  readonly url?: string | undefined;
  /**
   * Resolves when it has ended. If it throws, the manager stops and its `run` rejects with the
   * error. Returning before `signal` is aborted is fine: it has nothing more to do, and is ready.
   */
  run(context: RunnableContext): Promise<void>;
}
