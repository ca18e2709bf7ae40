import type { Client, ConnectedClient } from '../../../lib/client/index.js';
import type { KeyOwnershipListener } from '../../../lib/controller/keys.js';
import { EmbeddedCluster } from '../../../lib/apiserver/index.js';
import { Sharding } from '../../../lib/manager/sharding/index.js';
import type { ShardingOptions } from '../../../lib/manager/sharding/index.js';
import type { ObjectKey } from '../../../lib/object/kubernetes-object.js';
import { VirtualClock } from '../../../lib/system/virtual-clock.js';

/** Short lease times. */
export const times = { leaseDurationMs: 3_000, renewDeadlineMs: 2_000, retryPeriodMs: 400 };

/** A thousand keys whose names differ only at their end. */
export const keys: readonly ObjectKey[] = Array.from({ length: 1_000 }, (_, n) => ({
  namespace: 'default',
  name: `key-${n}`,
}));

/** A replica of the group. */
export interface Replica {
  readonly sharding: Sharding;
  readonly client: ConnectedClient;
  /** Resolves when the replica has stopped. */
  readonly ended: Promise<void>;
  /** Returns how many of {@link keys} the replica owns. */
  owned(): number;
  stop(): void;
}

/** Replicas on an embedded cluster with a virtual clock. */
export class ReplicaGroup {
  readonly clock: VirtualClock;
  readonly cluster: EmbeddedCluster<VirtualClock>;
  readonly admin: ConnectedClient;
  readonly #stops: (() => void)[] = [];

  private constructor(cluster: EmbeddedCluster<VirtualClock>) {
    this.clock = cluster.clock;
    this.cluster = cluster;
    this.admin = cluster.client();
  }

  static async start(): Promise<ReplicaGroup> {
    return new ReplicaGroup(await EmbeddedCluster.start({ clock: new VirtualClock() }));
  }

  replica(
    options: Partial<ShardingOptions> = {},
    wrap: (client: Client) => Client = (client) => client,
  ): Replica {
    const { clock } = this;
    const client = this.cluster.client({ user: options.identity ?? 'replica' });
    const place = { name: 'operator', namespace: 'default', clock };
    const sharding = new Sharding({ ...place, ...times, ...options, client: wrap(client) });
    const ending = new AbortController();
    const ended = sharding.run({ signal: ending.signal, ready: () => undefined });
    const stop = (): void => ending.abort();
    this.#stops.push(stop);
    const owned = (): number => keys.filter((key) => sharding.owns(key)).length;
    return { sharding, client, ended, stop, owned };
  }

  /** Starts replicas and waits until all keys are spread over them. */
  async replicas(count: number): Promise<readonly Replica[]> {
    const replicas = Array.from({ length: count }, (_, n) => this.replica({ identity: `p${n}` }));
    await this.clock.advance(5_000);
    return replicas;
  }

  async stop(): Promise<void> {
    for (const stop of this.#stops) stop();
    await this.clock.advance(20_000);
    await this.cluster.stop();
  }
}

/** Returns a listener whose work on keys ends on demand. */
export function heldWork(): KeyOwnershipListener & {
  readonly graces: readonly number[];
  acquisitions: number;
  end(): void;
} {
  const graces: number[] = [];
  const ends: (() => void)[] = [];
  const work = {
    graces,
    acquisitions: 0,
    acquired: () => {
      work.acquisitions++;
    },
    released: (graceMs: number) => {
      graces.push(graceMs);
      return new Promise<void>((resolve) => ends.push(resolve));
    },
    end: () => {
      for (const end of ends.splice(0)) end();
    },
  };
  return work;
}
