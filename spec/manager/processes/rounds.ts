import { judge } from './judge.js';
import type { LoggedRequest, Verdict } from './judge.js';
import { ReplicaProcess } from './replica-process.js';
import { startSilentProxy } from './silent-proxy.js';
import type { SilentProxy } from './silent-proxy.js';

/** A server for the replicas. */
export interface RoundTarget {
  readonly port: number;
  readonly scheme: 'http' | 'https';
  readonly ca: string | undefined;
  readonly namespace: string;
  /** Creates a user. @returns its token */
  token(user: string): Promise<string>;
  /** Creates the ConfigMap that the leader writes. */
  prepare(lease: string): Promise<void>;
  log(): Promise<readonly LoggedRequest[]>;
}

/** The fault of a round, and the time in milliseconds within which another leader must write. */
export interface Round {
  readonly name: string;
  readonly mostMs: number;
  /** @returns a function that ends the fault so that the former leader returns, or undefined */
  readonly befall: (leader: ReplicaProcess, proxy: SilentProxy) => (() => void) | undefined;
  /** The error of each replica's wall clock, which jumps back and forth by twice as much. */
  readonly skewsMs?: readonly number[];
  /** True if the leader releases the Lease. @defaultValue false */
  readonly givesBack?: boolean;
}

const cleanMs = 2.2 * 400 + 1_000;
const brokenMs = 3_000 + cleanMs;

/** The five rounds. */
export const rounds: readonly Round[] = [
  {
    name: 'is killed',
    mostMs: brokenMs,
    befall: (leader) => {
      leader.signal('SIGKILL');
      return undefined;
    },
  },
  {
    name: 'is stopped for a while',
    mostMs: brokenMs,
    befall: (leader) => {
      leader.signal('SIGSTOP');
      return () => leader.signal('SIGCONT');
    },
  },
  {
    name: 'is killed among wrong clocks',
    mostMs: brokenMs,
    befall: (leader) => {
      leader.signal('SIGKILL');
      return undefined;
    },
    skewsMs: [-3_600_000, 0, 3_600_000],
  },
  {
    name: 'is cut off from the server',
    mostMs: brokenMs,
    befall: (_, proxy) => {
      proxy.silence();
      return () => proxy.heal();
    },
  },
  {
    name: 'ends in good order',
    mostMs: cleanMs,
    givesBack: true,
    befall: (leader) => {
      leader.signal('SIGTERM');
      return undefined;
    },
  },
];

/** The three processes of a round, with a proxy to the server for each. */
export class RoundCast {
  readonly #target: RoundTarget;
  readonly #round: Round;
  readonly #lease: string;
  readonly #proxies: SilentProxy[] = [];
  readonly #replicas: ReplicaProcess[] = [];

  constructor(target: RoundTarget, round: Round) {
    this.#target = target;
    this.#round = round;
    this.#lease = round.name.replaceAll(' ', '-');
  }

  /** Resolves when all processes are up and have observed a leader. */
  async start(): Promise<void> {
    const { scheme, ca, namespace, port } = this.#target;
    const lease = this.#lease;
    await this.#target.prepare(lease);
    for (const at of [0, 1, 2]) {
      const proxy = await startSilentProxy(port);
      this.#proxies.push(proxy);
      const identity = `${lease}-${at}`;
      const wallSkewMs = this.#round.skewsMs?.[at] ?? 0;
      const url = `${scheme}://127.0.0.1:${proxy.port}`;
      const token = await this.#target.token(identity);
      const more = { namespace, lease, identity, wallSkewMs };
      this.#replicas.push(new ReplicaProcess({ url, ca, token, ...more }));
    }
    await Promise.all(this.#replicas.map((replica) => replica.once('sees')));
  }

  /** Applies the fault to the leader and waits until another process takes over. */
  async play(): Promise<Verdict> {
    const replicas = this.#replicas;
    const leader = await steadyLeader(replicas);
    const proxy = this.#proxies[replicas.indexOf(leader)]!;
    const others = replicas.filter((replica) => replica !== leader);
    const next = Promise.any(others.map((replica) => replica.until('leads')));
    const lost = leader.count('lost') + 1;
    const sinceMs = Date.now();
    const heal = this.#round.befall(leader, proxy);
    await next;
    await Promise.any(others.map((replica) => replica.until('wrote')));
    if (heal !== undefined) {
      heal();
      await leader.when('lost', () => leader.count('lost') >= lost);
      await Promise.any(replicas.map((replica) => replica.until('wrote', 2)));
    }
    const all = await this.#target.log();
    const log = all.filter(({ user }) => replicas.some(({ identity }) => identity === user));
    const overtaken = leader.count('overtaken');
    const { givesBack = false } = this.#round;
    const facts = { former: leader.identity, sinceMs, overtaken, givesBack };
    return judge(log, this.#lease, facts);
  }

  async end(): Promise<void> {
    await Promise.all(this.#replicas.map((replica) => replica.end()));
    await Promise.all(this.#proxies.map((proxy) => proxy.close()));
  }
}

/**
 * Returns a leader that writes.
 * If a busy machine makes a leader lose its Lease before the fault, waits for the next one.
 */
async function steadyLeader(replicas: readonly ReplicaProcess[]): Promise<ReplicaProcess> {
  for (;;) {
    const leader = await Promise.any(
      replicas.map((replica) => replica.when('leads', () => replica.leads)),
    );
    const written = leader.count('wrote') + 2;
    await leader.when('wrote', () => leader.count('wrote') >= written || !leader.leads);
    if (leader.leads) return leader;
  }
}
