import type { Client } from '../client/client.js';
import type { Fence } from '../client/fence.js';
import { Lease } from '../object/kinds.js';
import { whenAborted } from '../system/when-aborted.js';
import type { RequiredAccess } from './access/required-access.js';
import { LeaderElector } from './leader-election.js';
import type { LeaderElectorOptions } from './leader-election-options.js';

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
   * What keeps it from taking part in the election, as of the last attempt; undefined: nothing. Absent
   * where it does not know.
   */
  readonly problem?: unknown;
  /**
   * Candidates until `signal` is aborted; then it gives the lease back and resolves.
   * @throws OperatorError what ended it: the lease was lost.
   */
  run(callbacks: LeadershipCallbacks, signal: AbortSignal): Promise<void>;
}

/** What a manager fills in by itself. */
type OwnParts = 'client' | 'clock' | 'random' | 'logger' | 'metrics';

/** The Lease that a manager competes for. */
export interface LeaderElectionOptions extends Omit<LeaderElectorOptions, OwnParts> {
  /**
   * Reads and writes the Lease; one of its own, where the manager's has a rate limit.
   * @defaultValue that of the first cluster
   */
  readonly client?: Client | undefined;
}

/** Takes part in the election that is wanted, or leads. */
export function leadershipOf(
  wanted: LeaderElectionOptions | Leadership | undefined,
  parts: Pick<LeaderElectorOptions, OwnParts>,
): Leadership {
  if (wanted === undefined) return soleLeadership();
  if ('run' in wanted) return wanted;
  const { client = parts.client } = wanted;
  return new LeaderElector({ ...wanted, ...parts, client });
}

/** What an election needs. */
export function electionAccess(
  wanted: LeaderElectionOptions | Leadership | undefined,
): readonly RequiredAccess[] {
  if (wanted === undefined || 'run' in wanted) return [];
  const { namespace, name } = wanted;
  return [
    // What is not there yet has no name that RBAC would know.
    { type: Lease, verbs: ['create'], namespace },
    { type: Lease, verbs: ['get', 'update'], namespace, names: [name] },
  ];
}

/** Leads from the start and for ever: a manager without leader election. */
function soleLeadership(): Leadership {
  return {
    fence: { check: () => undefined },
    isLeader: true,
    run: async (callbacks, signal) => {
      callbacks.onStartedLeading();
      await whenAborted(signal);
    },
  };
}
