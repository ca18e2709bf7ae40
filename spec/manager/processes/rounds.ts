import { judge } from './judge.js';
import type { LoggedRequest, Verdict } from './judge.js';
import { ReplicaProcess } from './replica-process.js';
import { startSilentProxy } from './silent-proxy.js';
import type { SilentProxy } from './silent-proxy.js';

/** A server that replicas are run against. */
export interface RoundTarget {
  readonly port: number;
  readonly scheme: 'http' | 'https';
  readonly ca: string | undefined;
  readonly namespace: string;
  /** Makes a user of that name. @returns its token */
  token(user: string): Promise<string>;
  /** Makes the ConfigMap that the leader writes. */
  prepare(lease: string): Promise<void>;
  log(): Promise<readonly LoggedRequest[]>;
}

/** What befalls the leader of a round, and within what time another one must write, in milliseconds. */
export interface Round {
  readonly name: string;
  readonly mostMs: number;
  /** @returns what ends it, so that the former leader comes back; undefined: it does not */
  readonly befall: (leader: ReplicaProcess, proxy: SilentProxy) => (() => void) | undefined;
  /** By how much the wall clock of each replica is wrong. */
  readonly skewsMs?: readonly number[];
}

const cleanMs = 2.2 * 400 + 1_000;
const brokenMs = 3_000 + cleanMs;

/** The five. */
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
    befall: (leader) => {
      leader.signal('SIGTERM');
      return undefined;
    },
  },
];

/** Plays a round with three processes. */
export async function play(target: RoundTarget, round: Round): Promise<Verdict> {
  const lease = round.name.replaceAll(' ', '-');
  await target.prepare(lease);
  const proxies: SilentProxy[] = [];
  const replicas: ReplicaProcess[] = [];
  try {
    for (const at of [0, 1, 2]) {
      const proxy = await startSilentProxy(target.port);
      proxies.push(proxy);
      const identity = `${lease}-${at}`;
      const { scheme, ca, namespace } = target;
      const wallSkewMs = round.skewsMs?.[at] ?? 0;
      const url = `${scheme}://127.0.0.1:${proxy.port}`;
      const token = await target.token(identity);
      const more = { namespace, lease, identity, wallSkewMs };
      replicas.push(new ReplicaProcess({ url, ca, token, ...more }));
    }
    const leader = await steadyLeader(replicas);
    const proxy = proxies[replicas.indexOf(leader)]!;
    const others = replicas.filter((replica) => replica !== leader);
    const next = Promise.any(others.map((replica) => replica.until('leads')));
    const lost = leader.count('lost') + 1;
    const sinceMs = Date.now();
    const heal = round.befall(leader, proxy);
    await next;
    await Promise.any(others.map((replica) => replica.until('wrote')));
    if (heal !== undefined) {
      heal();
      await leader.when('lost', () => leader.count('lost') >= lost);
      await Promise.any(replicas.map((replica) => replica.until('wrote', 2)));
    }
    const log = (await target.log()).filter(({ user }) =>
      replicas.some(({ identity }) => identity === user),
    );
    const overtaken = leader.count('overtaken');
    return judge(log, lease, { former: leader.identity, sinceMs, overtaken });
  } finally {
    await Promise.all(replicas.map((replica) => replica.end()));
    await Promise.all(proxies.map((proxy) => proxy.close()));
  }
}

/**
 * One that leads, and writes, while the others stand by. Where the machine has so much to do that a
 * leader loses its Lease before anything befalls it, the next one is waited for.
 */
async function steadyLeader(replicas: readonly ReplicaProcess[]): Promise<ReplicaProcess> {
  await Promise.all(replicas.map((replica) => replica.once('sees')));
  for (;;) {
    const leader = await Promise.any(
      replicas.map((replica) => replica.when('leads', () => replica.leads)),
    );
    const written = leader.count('wrote') + 2;
    await leader.when('wrote', () => leader.count('wrote') >= written || !leader.leads);
    if (leader.leads) return leader;
  }
}
