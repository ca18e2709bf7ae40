import type { Client } from '../client/client.js';
import type { Fence } from '../client/fence.js';
import { Lease } from '../object/kinds.js';
import { whenAborted } from '../system/when-aborted.js';
import type { RequiredAccess } from './access/required-access.js';
import { LeaderElector } from './leader-election.js';
import type { LeaderElectorOptions } from './leader-election-options.js';

/** Callbacks of a {@link Leadership}. */
export interface LeadershipCallbacks {
  /** Called when this process starts to lead. */
  onStartedLeading(): void;
  /** Called when it has stopped leading; writes are refused already. */
  onStoppedLeading(): void;
  /** Called with the new leader, which may be this process. */
  onNewLeader(identity: string): void;
}

/** Interface of leader election that a manager uses. */
export interface Leadership {
  /** Refuses writes while this process does not lead. */
  readonly fence: Fence;
  readonly isLeader: boolean;
  /** Error of the last attempt to take part in the election; undefined if it succeeded. Absent if unknown. */
  readonly problem?: unknown;
  /**
   * Runs as a candidate until `signal` is aborted; then releases the lease and resolves.
   * @throws OperatorError the reason of the end: the lease was lost.
   */
  run(callbacks: LeadershipCallbacks, signal: AbortSignal): Promise<void>;
}

/** Options that a manager sets itself. */
type OwnParts = 'client' | 'clock' | 'random' | 'logger' | 'metrics';

/** The Lease that a manager competes for. */
export interface LeaderElectionOptions extends Omit<LeaderElectorOptions, OwnParts> {
  /**
   * Reads and writes the Lease. Use a separate client if the manager's has a rate limit.
   * @defaultValue that of the first cluster
   */
  readonly client?: Client | undefined;
}

/** Returns the requested leader election, or a leadership that always leads. */
export function leadershipOf(
  wanted: LeaderElectionOptions | Leadership | undefined,
  parts: Pick<LeaderElectorOptions, OwnParts>,
): Leadership {
  if (wanted === undefined) return soleLeadership();
  if ('run' in wanted) return wanted;
  const { client = parts.client } = wanted;
  return new LeaderElector({ ...wanted, ...parts, client });
}

/** Returns the access that an election needs. */
export function electionAccess(
  wanted: LeaderElectionOptions | Leadership | undefined,
): readonly RequiredAccess[] {
  if (wanted === undefined || 'run' in wanted) return [];
  const { namespace, name } = wanted;
  return [
    // RBAC cannot restrict `create` by name.
    { type: Lease, verbs: ['create'], namespace },
    { type: Lease, verbs: ['get', 'update'], namespace, names: [name] },
  ];
}

/** Returns the leadership of a manager without leader election: it always leads. */
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
