import { createClient, fenced } from '../../lib/client/index.js';
import type { Client } from '../../lib/client/index.js';
import { LeaderElector } from '../../lib/manager/leader-election.js';
import { ConfigMap } from '../../lib/object/kinds.js';
import { sleep } from '../../lib/system/clock.js';
import type { Clock } from '../../lib/system/clock.js';
import { OperatorError } from '../../lib/system/operator-error.js';
import { seededRandom } from '../../lib/system/random.js';
import type { Random } from '../../lib/system/random.js';
import type { Transport, TransportRequest, TransportResponse } from '../../lib/system/transport.js';
import { VirtualClock } from '../../lib/system/virtual-clock.js';
import { LeaseServer, refusal } from './lease-server.js';

/** The faults that strike the leader of a schedule. */
export const disasters = [
  ...(['crash', 'pause', 'cut', 'deaf', 'mute', 'slow', 'errors', 'clean'] as const),
];

type Disaster = (typeof disasters)[number];

/** The times of the elections, in milliseconds. */
export const leaseDurationMs = 3_000;
export const renewDeadlineMs = 2_000;

const writeEveryMs = 250;

/** One replica: a process whose callbacks can be held, and its connection to the server. */
class Replica {
  readonly name: string;
  readonly elector: LeaderElector;
  readonly random: Random;
  readonly #schedule: Schedule;
  readonly #held: (() => void)[] = [];
  readonly #writer: Client;
  #writes = false;
  #paused = false;
  /** How many milliseconds the wall clock of the replica is ahead. */
  skewMs: number;
  state: Disaster | 'well' = 'well';
  /** The start time of the last Lease request whose grant the replica has received. */
  grantedMs = -Infinity;
  readonly ending = new AbortController();

  constructor(schedule: Schedule, name: string, random: Random) {
    this.#schedule = schedule;
    this.name = name;
    this.random = random;
    this.skewMs = (random.next() - 0.5) * 3_600_000;
    const clock = this.#clock();
    const { retryPeriodMs, leaseName } = schedule;
    const transport = this.#transport();
    const client = createClient({ transport, clock, random });
    const times = { leaseDurationMs, renewDeadlineMs, retryPeriodMs };
    const lease = { namespace: 'default', name: leaseName, identity: name };
    this.elector = new LeaderElector({ client, ...lease, ...times, clock, random });
    void this.#candidate(clock);
    this.#writer = fenced(client, this.elector.fence);
  }

  /** Holds every callback of the process until {@link Replica.resume}. */
  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    for (const callback of this.#held.splice(0)) callback();
  }

  async #candidate(clock: Clock): Promise<void> {
    const { signal } = this.ending;
    const onStartedLeading = (): void => {
      // Writes from its first term on, even after the term has ended.
      this.#begin(clock);
    };
    const isEnding = (): boolean => signal.aborted;
    while (!isEnding()) {
      await this.elector.run({ onStartedLeading }, signal).catch(() => undefined);
      if (!isEnding()) await sleep(clock, 1);
    }
  }

  #begin(clock: Clock): void {
    if (!this.#writes) void this.#write(clock);
    this.#writes = true;
  }

  async #write(clock: Clock): Promise<void> {
    const key = { namespace: 'default', name: 'nothing' };
    while (!this.#schedule.isOver) {
      // The writes are not awaited, so that they queue up. Only the time at which each starts matters.
      void this.#writer.delete(ConfigMap, key).catch(() => undefined);
      await sleep(clock, writeEveryMs);
    }
  }

  #clock(): Clock {
    const { clock } = this.#schedule;
    return {
      now: () => clock.now() + this.skewMs,
      monotonicMs: () => clock.monotonicMs(),
      setTimer: (callback, delayMs) => {
        let cancelled = false;
        const run = (): void => {
          if (cancelled) return;
          if (this.#paused) this.#held.push(run);
          else callback();
        };
        const timer = clock.setTimer(run, delayMs);
        const cancel = (): void => {
          cancelled = true;
          timer.cancel();
        };
        return { cancel };
      },
    };
  }

  #transport(): Transport {
    return { request: (request) => this.#request(request), close: async () => undefined };
  }

  async #request(request: TransportRequest): Promise<TransportResponse> {
    const { clock } = this.#schedule;
    const beganMs = clock.monotonicMs();
    const isLease = request.path.includes('/leases');
    const wayMs =
      this.state === 'well' ? 1 : this.random.next() * (this.state === 'slow' ? 900 : 3);
    // Until it is sent, the request waits in the queue of a pool, or for a handshake. The process may be paused then.
    await this.#passing(wayMs, request);
    request.beforeSend?.();
    if (!isLease) this.#schedule.started(this);
    if (this.state === 'cut' || this.state === 'mute') await never(request);
    if (this.state === 'errors' && this.random.next() < 0.8) {
      return this.random.next() < 0.5 ? refusal(409, 'Conflict') : refusal(500, 'InternalError');
    }
    if (!isLease) return refusal(404, 'NotFound');
    const response = this.#schedule.server.request(request);
    const granted = request.method !== 'GET' && response.status < 300;
    if (granted) this.#schedule.granted(request);
    await this.#passing(wayMs, request);
    if (this.state === 'cut' || this.state === 'deaf') await never(request);
    if (granted) this.grantedMs = beganMs;
    return response;
  }

  /** Simulates the time on the wire. A stopped process receives nothing. */
  async #passing(ms: number, { signal }: TransportRequest): Promise<void> {
    await sleep(this.#schedule.clock, ms, signal).catch(() => aborted());
    while (this.#paused) await new Promise<void>((resolve) => this.#held.push(resolve));
    if (signal?.aborted === true) aborted();
  }
}

/** Three replicas, a fault that strikes the leader, and the invariants that must always hold. */
export class Schedule {
  readonly clock = new VirtualClock();
  readonly server = new LeaseServer();
  readonly leaseName: string;
  readonly retryPeriodMs: number;
  readonly disaster: Disaster;
  readonly violations: string[] = [];
  isOver = false;
  readonly #random: Random;
  readonly #replicas: readonly Replica[];
  /** The holder of the Lease on the server. */
  #holder = '';
  #lastWriteMs = NaN;
  #longestGapMs = 0;

  constructor(seed: number) {
    this.leaseName = `schedule-${seed}`;
    this.#random = seededRandom(seed);
    this.retryPeriodMs = 400 + Math.floor(this.#random.next() * 400);
    this.disaster = disasters[seed % disasters.length] ?? 'crash';
    const names = ['a', 'b', 'c'];
    this.#replicas = names.map((name, at) => new Replica(this, name, seededRandom(seed * 3 + at)));
  }

  /** Runs the schedule. @returns the violated invariants */
  async run(): Promise<readonly string[]> {
    const { clock } = this;
    await clock.advance(100 + this.#random.next() * 1_000);
    const leader = this.#replicas.find(({ elector }) => elector.isLeader);
    if (leader === undefined) return ['no replica leads'];
    this.#befall(leader);
    await clock.advance(this.#random.next() * 5_000);
    if (this.disaster !== 'crash') this.#heal(leader);
    await clock.advance(leaseDurationMs + 2.2 * this.retryPeriodMs + 1_000);
    this.#checkGap();
    await this.#end();
    return this.violations;
  }

  /** Checks the invariants when a write starts. */
  started(replica: Replica): void {
    if (this.isOver) return;
    const nowMs = this.clock.monotonicMs();
    const at = `${Math.round(nowMs)} ${replica.name}`;
    const lateMs = nowMs - replica.grantedMs - renewDeadlineMs;
    if (lateMs > 0) this.violations.push(`${at}: writes ${lateMs} ms too late`);
    if (this.#holder !== replica.name) {
      this.violations.push(`${at}: writes, but ${this.#holder} holds the Lease`);
    }
    const fresh = this.#replicas.filter(({ elector }) => elector.isLeader);
    if (fresh.length > 1) this.violations.push(`${at}: ${fresh.length} leaders at a time`);
    if (nowMs - this.#lastWriteMs > this.#longestGapMs) {
      this.#longestGapMs = nowMs - this.#lastWriteMs;
    }
    this.#lastWriteMs = nowMs;
  }

  /** Records the holder of a Lease that the server has stored. */
  granted({ body = '' }: TransportRequest): void {
    const lease = JSON.parse(body.toString()) as { spec: { holderIdentity: string } };
    this.#holder = lease.spec.holderIdentity;
  }

  #befall(leader: Replica): void {
    leader.state = this.disaster;
    // In addition to the fault, the leader's wall clock jumps.
    leader.skewMs += (this.#random.next() - 0.5) * 600_000;
    if (this.disaster === 'crash' || this.disaster === 'pause') leader.pause();
    if (this.disaster === 'clean') leader.ending.abort();
  }

  #heal(leader: Replica): void {
    leader.state = 'well';
    leader.resume();
  }

  #checkGap(): void {
    const { retryPeriodMs, disaster, clock } = this;
    const lease = disaster === 'clean' ? 0 : leaseDurationMs;
    const mostMs = lease + 2.2 * retryPeriodMs + 1_000 + writeEveryMs;
    const sinceMs = clock.monotonicMs() - this.#lastWriteMs;
    const gapMs = Math.max(this.#longestGapMs, sinceMs);
    if (!(gapMs <= mostMs)) this.violations.push(`no replica wrote for ${gapMs} of ${mostMs} ms`);
  }

  async #end(): Promise<void> {
    this.isOver = true;
    for (const replica of this.#replicas) {
      replica.state = 'well';
      replica.ending.abort();
      replica.resume();
    }
    await this.clock.advance(renewDeadlineMs);
  }
}

function aborted(): never {
  throw new OperatorError('Aborted', 'the request was aborted');
}

/** Rejects when the request is aborted, and otherwise never settles. */
function never({ signal }: TransportRequest): Promise<never> {
  return new Promise((_, reject) => {
    const onAbort = (): void => reject(new OperatorError('Aborted', 'no answer came'));
    if (signal?.aborted === true) onAbort();
    else signal?.addEventListener('abort', onAbort, { once: true });
  });
}
