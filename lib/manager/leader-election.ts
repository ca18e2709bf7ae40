import type { Client, Fence } from '../client/index.js';
import { Lease } from '../object/index.js';
import { waited, whenAborted, isOperatorError, OperatorError } from '../system/index.js';
import type { Timer } from '../system/index.js';
import type { RequiredAccess } from './access/required-access.js';
import {
  jitterFactor,
  leaderElectionMetrics,
  resolveLeaderElectorOptions,
} from './leader-election-options.js';
import type {
  LeaderElectorOptions,
  ResolvedLeaderElectorOptions,
} from './leader-election-options.js';
import { LeaseClaim, closedFence, LeaseFence } from './lease-claim.js';
import type { Moment } from './lease-claim.js';
import { inTime, LeaseObserver, LeaseStore } from './lease.js';

/** Argument of `onStartedLeading`. */
export interface LeaderContext {
  /** Aborted when this process must stop leading: it was stopped, or lost the Lease. */
  readonly signal: AbortSignal;
  /** Fence of this term; it never reopens after the term is lost. */
  readonly fence: Fence;
}

/** Callbacks of a {@link LeaderElector}. */
export interface LeaderCallbacks {
  /**
   * Called when this process starts to lead. If it returns a promise, the Lease is held and writes are
   * allowed until that settles, even after `context.signal` is aborted. An error from it ends the term, and
   * `run` rejects with it.
   */
  onStartedLeading?(context: LeaderContext): void | Promise<void>;
  /** Called when a leader has stopped leading; writes are refused already. */
  onStoppedLeading?(): void;
  /** Called when the leader changes; the new leader may be this process. */
  onNewLeader?(identity: string): void;
}

/**
 * Elects one leader among replicas by a `coordination.k8s.io/v1` Lease. It uses client-go's record, times and
 * defaults, so that it may share a Lease with processes written in Go.
 *
 * ```text
 *   standby ──acquired──▶ leading ──signal──▶ draining ──▶ given back
 *                            └───── renewDeadlineMs over, or taken ─────▶ lost
 * ```
 *
 * ## Guarantees
 * - No write through {@link LeaderElector.fence} starts later than `renewDeadlineMs` after the start of the
 *   last successful renewal. Time while the process is stopped or the machine sleeps counts.
 * - A replica takes the Lease only after it has seen no renewal for the duration that the Lease records, on its own
 *   monotonic clock; `leaseDurationMs` at most if the Lease is deleted. Wall clocks do not matter.
 * - After the leader releases the Lease, a replica that reaches the API server leads within 2.2
 *   `retryPeriodMs`. After the leader crashes, `leaseDurationMs` is added.
 *
 * ## Caveats
 * The server does not enforce a Lease: a write that was sent in time may take effect later.
 */
export class LeaderElector implements Leadership {
  /** Refuses writes while this process does not lead. Calls that began in an earlier term stay refused. */
  readonly fence: Fence;
  readonly #options: ResolvedLeaderElectorOptions;
  readonly #store: LeaseStore;
  readonly #metrics: ReturnType<typeof leaderElectionMetrics>;
  /**
   * The values of `renewTime` that this process wrote, in all of its terms. If a Lease has one of these values, this
   * process still holds the Lease, for example after an outage of the API server.
   */
  readonly #marks: string[] = [];
  #observer: LeaseObserver;
  #reported = '';
  #term: LeaseFence | undefined;
  #running = false;
  #problem: unknown;

  /** @throws OperatorError `InvalidOption`: an option is missing, out of range, or contradicts another. */
  constructor(options: LeaderElectorOptions) {
    this.#options = resolveLeaderElectorOptions(options);
    const { name, metrics, clock, leaseDurationMs } = this.#options;
    this.#store = new LeaseStore(this.#options);
    this.#metrics = leaderElectionMetrics(metrics, name);
    this.#observer = new LeaseObserver(clock, leaseDurationMs);
    const closed = closedFence(this.#store.key);
    const term = (): Fence => this.#term ?? closed;
    this.fence = { check: (what) => term().check(what), term };
  }

  /** Identity of this process in the Lease. */
  get identity(): string {
    return this.#options.identity;
  }

  /** True while this process may write. */
  get isLeader(): boolean {
    return this.#term !== undefined && this.#term.remainingMs > 0;
  }

  /** The leader last seen by this process; `''` if the Lease is free. */
  get leader(): string {
    return this.#observer.holder;
  }

  /** Error of the last attempt at the Lease, for readiness checks; undefined if it succeeded. */
  get problem(): unknown {
    return this.#problem;
  }

  /**
   * Competes for the Lease and leads until `signal` is aborted. Then waits for the leader's work to end,
   * releases the Lease and resolves. It may be called again afterwards.
   * @throws OperatorError `LeadershipLost`: this process led, and its Lease was not renewed in time, or was
   * taken.
   * @throws OperatorError `Stopped`: it runs already.
   * @throws the error of `onStartedLeading`, after the release of the Lease.
   */
  async run(callbacks: LeaderCallbacks = {}, signal?: AbortSignal): Promise<void> {
    if (this.#running)
      throw new OperatorError(
        'Stopped',
        `Lease ${this.#store.key}: run was called before, and has not ended`,
      );
    this.#running = true;
    const { clock, leaseDurationMs } = this.#options;
    this.#observer = new LeaseObserver(clock, leaseDurationMs);
    const claim = new LeaseClaim(this.#options, this.#store, this.#observer, this.#marks);
    try {
      const acquired = await this.#acquire(claim, callbacks, signal);
      if (acquired !== undefined) await this.#lead(claim, callbacks, acquired, signal);
      // The signal was aborted during an attempt, which the server may have granted.
      else if (claim.isUnsettled) await this.#release(claim);
    } finally {
      this.#running = false;
    }
  }

  /** @returns the fence of the term; undefined if `signal` was aborted */
  async #acquire(
    claim: LeaseClaim,
    callbacks: LeaderCallbacks,
    signal: AbortSignal | undefined,
  ): Promise<LeaseFence | undefined> {
    const { clock, random, retryPeriodMs, renewDeadlineMs } = this.#options;
    while (signal?.aborted !== true) {
      const started = await this.#attempt(renewDeadlineMs / 2, signal, (until) =>
        this.#take(claim, until),
      );
      this.#report(callbacks, started !== undefined || claim.isUnsettled);
      if (started !== undefined) {
        const options = { clock, validMs: renewDeadlineMs, lease: this.#store.key };
        const fence = new LeaseFence(options, started);
        // If the attempt took too long, the fence has expired already: try again.
        if (fence.remainingMs > 0) return fence;
      }
      const jitteredMs = retryPeriodMs * (1 + jitterFactor * random.next());
      // Do not wait past the expiry of the holder's lease: that would only delay the takeover.
      const { remainingMs } = this.#observer;
      const waitMs = remainingMs > 0 ? Math.min(jitteredMs, remainingMs) : jitteredMs;
      await waited(clock, waitMs, signal);
    }
    return undefined;
  }

  async #take(claim: LeaseClaim, signal: AbortSignal): Promise<Moment | undefined> {
    const outcome = await claim.acquire(signal);
    return outcome.type === 'held' ? outcome.started : undefined;
  }

  async #lead(
    claim: LeaseClaim,
    callbacks: LeaderCallbacks,
    fence: LeaseFence,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    this.#term = fence;
    this.#announce(claim, 'became leader', true);
    const ending = new AbortController();
    const work = begin(callbacks, { signal: ending.signal, fence });
    const onAbort = (): void => ending.abort(signal?.reason);
    if (signal?.aborted === true) onAbort();
    signal?.addEventListener('abort', onAbort, { once: true });
    // An error of the leader's work ends its term.
    const failed = work.then(
      () => undefined,
      (error: unknown) => {
        ending.abort(error);
        return { error };
      },
    );
    try {
      await this.#hold(claim, fence, ending.signal, failed);
      this.#end(fence, new OperatorError('Stopped', 'it was released'), callbacks);
      await this.#release(claim);
    } catch (error) {
      const lost = lostOf(error, this.#store.key);
      this.#end(fence, lost, callbacks);
      ending.abort(lost);
      this.#report(callbacks, claim.isUnsettled);
      await failed;
      throw lost;
    } finally {
      signal?.removeEventListener('abort', onAbort);
      this.#announce(claim, 'stopped leading', false);
    }
    const failure = await failed;
    if (failure !== undefined) throw failure.error;
  }

  /**
   * Renews the Lease until the leader's work has ended.
   * @param ending - aborted when the leader's work is to end
   * @param drained - settles when the leader's work has ended
   * @throws the reason why the Lease is lost.
   */
  async #hold(
    claim: LeaseClaim,
    fence: LeaseFence,
    ending: AbortSignal,
    drained: Promise<unknown>,
  ): Promise<void> {
    const { clock, retryPeriodMs } = this.#options;
    // Ends the waits when the work has ended, or the lease expires.
    const over = new AbortController();
    const expiry = (): Timer => clock.setTimer(() => over.abort(), fence.remainingMs);
    let timer = expiry();
    let isDone = false;
    const isOver = (): boolean => isDone;
    const drain = async (): Promise<void> => {
      await whenAborted(ending);
      await drained;
      isDone = true;
      over.abort();
    };
    void drain();
    try {
      while (!isOver()) {
        await waited(clock, retryPeriodMs, over.signal);
        if (isOver()) return;
        if (fence.remainingMs === 0) {
          throw new OperatorError('LeadershipLost', 'it was not renewed in time');
        }
        await this.#renew(claim, fence, over.signal);
        timer.cancel();
        timer = expiry();
      }
    } finally {
      timer.cancel();
    }
  }

  async #renew(claim: LeaseClaim, fence: LeaseFence, signal: AbortSignal): Promise<void> {
    const { renewDeadlineMs } = this.#options;
    const timeoutMs = Math.min(renewDeadlineMs / 2, fence.remainingMs);
    const started = await this.#attempt(timeoutMs, signal, async (until) => {
      let outcome = await claim.renew(until);
      if (outcome.type === 'beaten') {
        this.#metrics.tookSlowPath();
        outcome = await claim.renewAfresh(until);
      }
      if (outcome.type === 'foreign') throw takenBy(outcome.holder);
      return outcome.type === 'held' ? outcome.started : undefined;
    });
    if (started !== undefined) fence.renew(started);
  }

  /** Runs one attempt at the Lease. Logs an error; the caller retries. */
  async #attempt(
    timeoutMs: number,
    signal: AbortSignal | undefined,
    attempt: (signal: AbortSignal) => Promise<Moment | undefined>,
  ): Promise<Moment | undefined> {
    const { logger } = this.#options;
    try {
      const started = await inTime({ ...this.#limits(timeoutMs), signal }, attempt);
      this.#problem = undefined;
      return started;
    } catch (error) {
      if (isOperatorError(error, 'LeadershipLost')) throw error;
      if (signal?.aborted === true) return undefined;
      this.#problem = error;
      logger.warn(`Lease ${this.#store.key}: an attempt to acquire or renew it failed`, { error });
      return undefined;
    }
  }

  #limits(timeoutMs: number) {
    return { what: `Lease ${this.#store.key}`, clock: this.#options.clock, timeoutMs };
  }

  #end(fence: LeaseFence, reason: OperatorError, callbacks: LeaderCallbacks): void {
    fence.close(reason);
    this.#term = undefined;
    this.#notify(() => callbacks.onStoppedLeading?.());
  }

  /** Runs a callback; an error in it must not stop the election. */
  #notify(callback: () => void): void {
    try {
      callback();
    } catch (error) {
      this.#options.logger.error(`Lease ${this.#store.key}: a callback failed`, { error });
    }
  }

  async #release(claim: LeaseClaim): Promise<void> {
    const { releaseOnCancel, renewDeadlineMs, logger } = this.#options;
    if (!releaseOnCancel) return;
    try {
      await inTime(this.#limits(renewDeadlineMs / 2), (signal) => claim.release(signal));
    } catch (error) {
      const message = `Lease ${this.#store.key}: not released; other replicas wait until it expires`;
      logger.warn(message, { error });
    }
  }

  /**
   * Logs a change of the leader, and calls `onNewLeader`.
   * @param isOwn - whether this process may hold the Lease, rather than another process with its identity
   */
  #report(callbacks: LeaderCallbacks, isOwn: boolean): void {
    const { leader } = this;
    if (leader === this.#reported) return;
    this.#reported = leader;
    const { identity, logger } = this.#options;
    if (leader !== identity) {
      const what = leader === '' ? 'no leader' : 'standing by';
      logger.info(`Lease ${this.#store.key}: ${what}`, { identity, leader });
    } else if (!isOwn) {
      const what =
        'standing by: another process, or an earlier one, holds the Lease with this identity';
      logger.warn(`Lease ${this.#store.key}: ${what} (give each process its own identity)`, {
        identity,
      });
    }
    if (leader !== '') this.#notify(() => callbacks.onNewLeader?.(leader));
  }

  #announce(claim: LeaseClaim, what: string, isLeader: boolean): void {
    const { recorder, identity, logger } = this.#options;
    this.#metrics.leads(isLeader);
    logger.info(`Lease ${this.#store.key}: ${what}`, { identity });
    if (claim.lease === undefined) return;
    const said = { type: 'Normal', reason: 'LeaderElection', action: 'LeaderElection' } as const;
    recorder?.record({ ...said, regarding: claim.lease, note: `${identity} ${what}` });
  }
}

async function begin(callbacks: LeaderCallbacks, context: LeaderContext): Promise<void> {
  await callbacks.onStartedLeading?.(context);
}

function takenBy(holder: string): OperatorError {
  const who = holder === '' ? 'another client released it' : `${holder} holds it`;
  return new OperatorError('LeadershipLost', who);
}

function lostOf(error: unknown, lease: string): OperatorError {
  const known = isOperatorError(error, 'LeadershipLost');
  const why = known ? error.message : 'the election failed';
  return new OperatorError('LeadershipLost', `Lease ${lease}: lost: ${why}`, { cause: error });
}

/** Callbacks of a {@link Leadership}. */
export interface LeadershipCallbacks {
  /** Called when this process starts to lead. */
  onStartedLeading(): void;
  /** Called when this process has stopped leading; writes are refused already. */
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
   * @throws OperatorError the lease was lost; the error names the reason.
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

/** Returns the requested leader election; without one, a {@link Leadership} with which this process always leads. */
export function leadershipOf(
  wanted: LeaderElectionOptions | Leadership | undefined,
  parts: Pick<LeaderElectorOptions, OwnParts>,
): Leadership {
  if (wanted === undefined) return soleLeadership();
  if ('run' in wanted) return wanted;
  const { client = parts.client } = wanted;
  return new LeaderElector({ ...wanted, ...parts, client });
}

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

/** Returns the {@link Leadership} of a manager without leader election: the process always leads. */
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
