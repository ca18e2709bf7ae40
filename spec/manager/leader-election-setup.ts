import type { ConnectedClient } from '../../lib/client/index.js';
import { EmbeddedCluster } from '../../lib/apiserver/index.js';
import { LeaderElector } from '../../lib/manager/leader-election.js';
import type { LeaderCallbacks } from '../../lib/manager/leader-election.js';
import type { LeaderElectorOptions } from '../../lib/manager/leader-election-options.js';
import { Lease } from '../../lib/object/kinds.js';
import { VirtualClock } from '../../lib/system/virtual-clock.js';

/** The key of the Lease in these specs. */
export const leaseKey = { namespace: 'default', name: 'operator' };

/** A replica, and its callbacks as lines with the time in milliseconds. */
export interface Candidate {
  readonly elector: LeaderElector;
  readonly client: ConnectedClient;
  readonly told: string[];
  /** The result of `run`. */
  readonly ended: Promise<unknown>;
  stop(): void;
}

/** Replicas on an embedded cluster with a virtual clock. */
export class Election {
  readonly clock: VirtualClock;
  readonly cluster: EmbeddedCluster<VirtualClock>;
  readonly admin: ConnectedClient;

  private constructor(clock: VirtualClock, cluster: EmbeddedCluster<VirtualClock>) {
    this.clock = clock;
    this.cluster = cluster;
    this.admin = cluster.client();
  }

  static async start(): Promise<Election> {
    const clock = new VirtualClock();
    return new Election(clock, await EmbeddedCluster.start({ clock }));
  }

  /** Runs a replica whose user on the server is its identity. */
  candidate(
    identity: string,
    options: Partial<LeaderElectorOptions> = {},
    callbacks: LeaderCallbacks = {},
  ): Candidate {
    const { clock, cluster } = this;
    const client = cluster.client({ user: identity });
    const all = { ...leaseKey, client, clock, identity, ...options };
    const elector = new LeaderElector(all);
    const told: string[] = [];
    const tell = (what: string): void =>
      void told.push(`${Math.round(clock.monotonicMs())} ${what}`);
    const ending = new AbortController();
    const run = elector.run(
      {
        onStartedLeading: (context) => {
          tell('started');
          return callbacks.onStartedLeading?.(context);
        },
        onStoppedLeading: () => {
          tell('stopped');
          callbacks.onStoppedLeading?.();
        },
        onNewLeader: (leader) => {
          tell(`sees ${leader}`);
          callbacks.onNewLeader?.(leader);
        },
      },
      ending.signal,
    );
    const ended = run.then(
      () => 'given back',
      (error: unknown) => error,
    );
    return { elector, client, told, ended, stop: () => ending.abort() };
  }

  lease(): Promise<Lease> {
    return this.admin.get(Lease, leaseKey);
  }

  /** Changes the spec of the Lease like a user with an editor. */
  async edit(spec: object, metadata: object = {}): Promise<void> {
    const body = { spec, metadata };
    await this.admin.patch(Lease, leaseKey, { type: 'merge', body });
  }

  async createLease(spec?: Record<string, unknown>): Promise<void> {
    const type = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' } as const;
    await this.admin.create<Lease>({ ...type, metadata: { ...leaseKey }, ...(spec && { spec }) });
  }

  /** Answers every request of `user` with an error. */
  fail(user: string, code: number, verb?: 'get' | 'update' | 'create') {
    const match = { user, resource: 'leases', ...(verb && { verb }) };
    return this.cluster.faults.add({ match, effect: { type: 'status', code } });
  }

  /** Delays every response to `user`. */
  slow(user: string, ms: number) {
    const match = { user, resource: 'leases' };
    return this.cluster.faults.add({ match, effect: { type: 'latency', ms } });
  }
}
