import type { ConnectedClient } from '../../lib/client/index.js';
import { EmbeddedCluster } from '../../lib/embedded/index.js';
import { LeaderElector } from '../../lib/manager/leader-election.js';
import type { LeaderCallbacks } from '../../lib/manager/leader-election.js';
import type { LeaderElectorOptions } from '../../lib/manager/leader-election-options.js';
import { Lease } from '../../lib/object/kinds.js';
import { VirtualClock } from '../../lib/system/virtual-clock.js';

/** Where the Lease of these specs lives. */
export const leaseKey = { namespace: 'default', name: 'operator' };

/** One replica and what it told, each line with the millisecond. */
export interface Candidate {
  readonly elector: LeaderElector;
  readonly client: ConnectedClient;
  readonly told: string[];
  /** How `run` ended. */
  readonly ended: Promise<unknown>;
  stop(): void;
}

/** Replicas on one embedded cluster, on a virtual clock. */
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

  /** Runs a replica; its user on the server is its identity. */
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

  /** Changes the spec of the Lease as somebody with an editor does. */
  async edit(spec: object, metadata: object = {}): Promise<void> {
    const body = { spec, metadata };
    await this.admin.patch(Lease, leaseKey, { type: 'merge', body });
  }

  async createLease(spec?: Record<string, unknown>): Promise<void> {
    const type = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' } as const;
    await this.admin.create<Lease>({ ...type, metadata: { ...leaseKey }, ...(spec && { spec }) });
  }

  /** Every answer to `user` is an error from now on. */
  fail(user: string, code: number, verb?: 'get' | 'update' | 'create') {
    const match = { user, resource: 'leases', ...(verb && { verb }) };
    return this.cluster.faults.add({ match, effect: { type: 'status', code } });
  }

  /** Every answer to `user` comes later from now on. */
  slow(user: string, ms: number) {
    const match = { user, resource: 'leases' };
    return this.cluster.faults.add({ match, effect: { type: 'latency', ms } });
  }
}
