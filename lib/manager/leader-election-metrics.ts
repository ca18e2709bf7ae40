import type { Metrics } from '../system/metrics.js';

/** Metrics of one Lease, with client-go's names. */
export interface LeaderElectionMetrics {
  leads(isLeader: boolean): void;
  /** Counts a renewal that had to read the Lease first. */
  tookSlowPath(): void;
}

/** @param name - name of the Lease */
export function leaderElectionMetrics(metrics: Metrics, name: string): LeaderElectionMetrics {
  const labelNames = ['name'];
  const status = metrics.gauge({
    name: 'leader_election_master_status',
    help: 'Whether this process is the leader of that lease: 1, or 0 for a standby.',
    labelNames,
  });
  const slowPath = metrics.counter({
    name: 'leader_election_slowpath_total',
    help: 'How often a lease had to be read again to be renewed.',
    labelNames,
  });
  status.set(0, { name });
  return {
    leads: (isLeader) => status.set(isLeader ? 1 : 0, { name }),
    tookSlowPath: () => slowPath.add(1, { name }),
  };
}
