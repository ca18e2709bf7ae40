import type { Fence } from '../client/fence.js';

/** What a {@link Leadership} tells while it runs. */
export interface LeadershipCallbacks {
  /** This process leads from now on. */
  onStartedLeading(): void;
  /** It leads no more; every write is refused already. */
  onStoppedLeading(): void;
  /** Somebody leads, maybe this process. */
  onNewLeader(identity: string): void;
}

/** Who may work alone: what a manager needs of leader election. */
export interface Leadership {
  /** Refuses writes of a process that does not lead (any more). */
  readonly fence: Fence;
  readonly isLeader: boolean;
  /**
   * Candidates until `signal` is aborted; then it gives the lease back and resolves.
   * @throws OperatorError what ended it: the lease was lost.
   */
  run(callbacks: LeadershipCallbacks, signal: AbortSignal): Promise<void>;
}

/** Leads from the start and for ever: a manager without leader election. */
export function soleLeadership(): Leadership {
  return {
    fence: { check: () => undefined },
    isLeader: true,
    run: async (callbacks, signal) => {
      callbacks.onStartedLeading();
      await new Promise<void>((resolve) => {
        if (signal.aborted) resolve();
        else signal.addEventListener('abort', () => resolve(), { once: true });
      });
    },
  };
}
