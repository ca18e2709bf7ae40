import type { Logger } from '../system/logger.js';
import type { FailureKind } from './failure.js';
import type { HotLoop } from './hot-loop-detector.js';
import { readableError } from './readable-error.js';
import { isThenable } from './thenable.js';
import type { TriggerList } from './trigger.js';

/** An event about a controller, in addition to its log: for tests, user interfaces and alerts. */
export type ControllerEvent = HotLoopEvent | ReconciledEvent;

/** A key repeatedly writes one object and is slowed down. */
export interface HotLoopEvent extends HotLoop {
  readonly type: 'hotLoop';
  readonly controller: string;
  /** The cluster's name; `''` for the only one. */
  readonly cluster: string;
}

/** The outcome of a reconcile. */
export type ReconcileOutcome = 'success' | 'requeueAfter' | 'timeout' | FailureKind;

/** A reconcile ended or timed out. */
export interface ReconciledEvent {
  readonly type: 'reconciled';
  readonly controller: string;
  /** The kind that the controller reconciles. */
  readonly kind: string;
  /** The cluster's name; `''` for the only one. */
  readonly cluster: string;
  readonly key: string;
  readonly reconcileID: string;
  /** The first ten triggers, and the number of further ones. */
  readonly causes: TriggerList;
  readonly outcome: ReconcileOutcome;
  readonly durationMs: number;
  /** The reason for a failure. */
  readonly error?: unknown;
  /** The delay until the next reconcile if nothing changes before, in milliseconds. */
  readonly againInMs?: number | undefined;
}

/** Receives controller events. An exception, or the rejection of a returned promise, is logged. */
export type ControllerEventListener = (event: ControllerEvent) => void;

interface Listened {
  /** Undefined if there is no listener. */
  readonly onEvent: ControllerEventListener | undefined;
  readonly logger: Logger;
}

/** Calls the listener; logs an exception or the rejection of a returned promise. */
export function tell({ onEvent, logger }: Listened, event: ControllerEvent): void {
  if (onEvent === undefined) return;
  const failed = (error: unknown): void => {
    const message = `the listener to controller events threw at ${event.type}`;
    logger.error(message, { error: readableError(error) });
  };
  try {
    // The compiler accepts an async function here, and nothing else awaits its promise.
    const listen: (event: ControllerEvent) => unknown = onEvent;
    const answer = listen(event);
    if (isThenable(answer)) void answer.then(undefined, failed);
  } catch (error) {
    failed(error);
  }
}

/**
 * Returns a listener that calls the runtime's listener, then `second`; an exception in one does not affect
 * the other.
 */
export function bothOf(
  { onEvent: first, logger }: Listened,
  second: ControllerEventListener | undefined,
): ControllerEventListener | undefined {
  if (first === undefined || second === undefined) return first ?? second;
  return (event) => {
    tell({ onEvent: first, logger }, event);
    tell({ onEvent: second, logger }, event);
  };
}
