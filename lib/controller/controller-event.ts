import type { Logger } from '../system/logger.js';
import type { FailureKind } from './failure.js';
import type { HotLoop } from './hot-loop-detector.js';
import { readableError } from './readable-error.js';
import { isThenable } from './thenable.js';
import type { TriggerList } from './trigger.js';

/** What a controller tells of itself, beside its log: for tests, user interfaces, alarms. */
export type ControllerEvent = HotLoopEvent | ReconciledEvent;

/** A key keeps writing one object, and is slowed down. */
export interface HotLoopEvent extends HotLoop {
  readonly type: 'hotLoop';
  readonly controller: string;
  /** `''`: the only one. */
  readonly cluster: string;
}

/** How a reconcile ended. */
export type ReconcileOutcome = 'success' | 'requeueAfter' | 'timeout' | FailureKind;

/** A reconcile has ended, or its time has. */
export interface ReconciledEvent {
  readonly type: 'reconciled';
  readonly controller: string;
  /** The kind that the controller reconciles. */
  readonly kind: string;
  /** `''`: the only one. */
  readonly cluster: string;
  readonly key: string;
  readonly reconcileID: string;
  /** What caused it, the first ten, and how many there were more. */
  readonly causes: TriggerList;
  readonly outcome: ReconcileOutcome;
  readonly durationMs: number;
  /** Why it failed. */
  readonly error?: unknown;
  /** When it will run again if nothing changes before, in milliseconds. */
  readonly againInMs?: number | undefined;
}

/** Takes what controllers tell. What it throws, or a promise that it returns, is logged. */
export type ControllerEventListener = (event: ControllerEvent) => void;

interface Listened {
  /** undefined: nobody is told. */
  readonly onEvent: ControllerEventListener | undefined;
  readonly logger: Logger;
}

/** Tells the listener; what it throws, at once or by a promise, is logged. */
export function tell({ onEvent, logger }: Listened, event: ControllerEvent): void {
  if (onEvent === undefined) return;
  const failed = (error: unknown): void => {
    const message = `the listener to controller events threw at ${event.type}`;
    logger.error(message, { error: readableError(error) });
  };
  try {
    // The compiler lets an async function pass; nobody else waits for it.
    const listen: (event: ControllerEvent) => unknown = onEvent;
    const answer = listen(event);
    if (isThenable(answer)) void answer.then(undefined, failed);
  } catch (error) {
    failed(error);
  }
}

/** A listener that tells the runtime's first, then another; what one throws is no matter of the other. */
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
