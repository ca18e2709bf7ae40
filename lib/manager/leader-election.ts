import type { Fence } from '../client/fence.js';
import { sleep } from '../system/clock.js';
import { OperatorError, isOperatorError } from '../system/operator-error.js';
import { whenAborted } from '../system/when-aborted.js';
import { leaderElectionMetrics } from './leader-election-metrics.js';
import type { LeaderElectionMetrics } from './leader-election-metrics.js';
import { jitterFactor, resolveLeaderElectorOptions } from './leader-election-options.js';
import type {
  LeaderElectorOptions,
  ResolvedLeaderElectorOptions,
} from './leader-election-options.js';
import type { Leadership } from './leadership.js';
import { LeaseClaim } from './lease-claim.js';
import { LeaseDeadline } from './lease-deadline.js';
import { LeaseFence, closedFence } from './lease-fence.js';
import type { Moment } from './lease-fence.js';
import { LeaseObserver } from './lease-observer.js';
import { LeaseStore } from './lease-store.js';

/** What a leader is given. */
export interface LeaderContext {
  /** Aborted when this process has to stop leading: it was asked to end, or lost the Lease. */
  readonly signal: AbortSignal;
  /** The fence of this term: never opens again once it is lost. */
  readonly fence: Fence;
}

/** What a {@link LeaderElector} tells while it runs. */
export interface LeaderCallbacks {
  /**
   * This process leads from now on. Where it returns a promise, the Lease is held (and writes are
   * allowed) until that settles, after `context.signal` was aborted, too. What it throws ends the
   * term, and `run` rejects with it.
   */
  onStartedLeading?(context: LeaderContext): void | Promise<void>;
  /** It leads no more: every write is refused already. Only called where it led. */
  onStoppedLeading?(): void;
  /** Somebody else than before leads, maybe this process. */
  onNewLeader?(identity: string): void;
}

/**
 * Elects one leader among replicas by a `coordination.k8s.io/v1` Lease, with client-go's record,
 * times and defaults, so that it may share a Lease with processes written in Go.
 *
 * ```text
 *   standby ──acquired──▶ leading ──signal──▶ draining ──▶ given back
 *                            └───── renewDeadlineMs over, or taken ─────▶ lost
 * ```
 *
 * ## Guarantees
 * - No write through {@link LeaderElector.fence} is started later than `renewDeadlineMs` after the
 *   start of the last successful renewal. Where the process was stopped, or the machine asleep, that
 *   time counts.
 * - Nobody takes the Lease before `leaseDurationMs` have gone by, by its own monotonic clock, since it
 *   saw the last sign of life of the holder. Wall clocks do not matter.
 * - When the leader dies, a replica that reaches the API server leads after `leaseDurationMs` and 2.2
 *   `retryPeriodMs` at the latest; when it gives the Lease back, after 2.2 `retryPeriodMs`.
 *
 * ## Caveats
 * A Lease fences nothing at the server: a write that was on the wire when its time ran out may land.
 */
export class LeaderElector implements Leadership {
  /** Refuses writes while this process does not lead; a call of an earlier term stays refused. */
  readonly fence: Fence;
  readonly #options: ResolvedLeaderElectorOptions;
  readonly #store: LeaseStore;
  readonly #metrics: LeaderElectionMetrics;
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

  /** Who this process is, as it stands in the Lease. */
  get identity(): string {
    return this.#options.identity;
  }

  /** Whether this process may write now. */
  get isLeader(): boolean {
    return this.#term !== undefined && this.#term.remainingMs > 0;
  }

  /** Who leads, as far as this process has seen; `''`: nobody. */
  get leader(): string {
    return this.#observer.holder;
  }

  /** What the last attempt at the Lease failed with; undefined: it did not. For readiness checks. */
  get problem(): unknown {
    return this.#problem;
  }

  /**
   * Candidates, and leads, until `signal` is aborted: then it ends what it leads, gives the Lease back
   * and resolves. May be called again when it has ended.
   * @throws OperatorError `LeadershipLost`: this process led, and its Lease was not renewed in time, or
   * was taken.
   * @throws OperatorError `Stopped`: it runs already.
   * @throws what `onStartedLeading` throws; the Lease is given back first.
   */
  async run(callbacks: LeaderCallbacks = {}, signal?: AbortSignal): Promise<void> {
    if (this.#running) throw new OperatorError('Stopped', `Lease ${this.#store.key}: runs already`);
    this.#running = true;
    const { clock, leaseDurationMs } = this.#options;
    this.#observer = new LeaseObserver(clock, leaseDurationMs);
    const claim = new LeaseClaim(this.#options, this.#store, this.#observer);
    try {
      const acquired = await this.#acquire(claim, callbacks, signal);
      if (acquired !== undefined) await this.#lead({ claim, callbacks, acquired }, signal);
      // Asked to end in the middle of an attempt, which may have been granted.
      else if (claim.isUnsettled) await this.#release(claim);
    } finally {
      this.#running = false;
    }
  }

  /** @returns undefined: `signal` was aborted. */
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
      this.#report(callbacks);
      if (started !== undefined) {
        const options = { clock, validMs: renewDeadlineMs, lease: this.#store.key };
        const fence = new LeaseFence(options, started);
        // It took so long that it may not write already: once more.
        if (fence.remainingMs > 0) return fence;
      }
      const jitteredMs = retryPeriodMs * (1 + jitterFactor * random.next());
      // Not later than the holder's time is over: else that could cost another round.
      const { remainingMs } = this.#observer;
      const waitMs = remainingMs > 0 ? Math.min(jitteredMs, remainingMs) : jitteredMs;
      await sleep(clock, waitMs, signal).catch(() => undefined);
    }
    return undefined;
  }

  async #take(claim: LeaseClaim, signal: AbortSignal): Promise<Moment | undefined> {
    const outcome = await claim.acquire(signal);
    return outcome.type === 'held' ? outcome.started : undefined;
  }

  async #lead(
    term: { claim: LeaseClaim; callbacks: LeaderCallbacks; acquired: LeaseFence },
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const { claim, callbacks, acquired: fence } = term;
    this.#term = fence;
    this.#announce(claim, 'became leader', true);
    const ending = new AbortController();
    const work = begin(callbacks, { signal: ending.signal, fence });
    const onAbort = (): void => ending.abort(signal?.reason);
    if (signal?.aborted === true) onAbort();
    signal?.addEventListener('abort', onAbort, { once: true });
    // A leader that fails ends its term.
    const failed = work.then(
      () => undefined,
      (error: unknown) => {
        ending.abort(error);
        return { error };
      },
    );
    try {
      await this.#hold(claim, fence, { ending: ending.signal, drained: failed });
      this.#end(fence, new OperatorError('Stopped', 'it was given back'), callbacks);
      await this.#release(claim);
    } catch (error) {
      const lost = lostOf(error, this.#store.key);
      this.#end(fence, lost, callbacks);
      ending.abort(lost);
      this.#report(callbacks);
      await failed;
      throw lost;
    } finally {
      signal?.removeEventListener('abort', onAbort);
      this.#announce(claim, 'stopped leading', false);
    }
    const failure = await failed;
    if (failure !== undefined) throw failure.error;
  }

  /** Renews until what is led has ended. @throws why the Lease is lost. */
  async #hold(claim: LeaseClaim, fence: LeaseFence, until: Until): Promise<void> {
    const { clock, retryPeriodMs } = this.#options;
    const over = new AbortController();
    const deadline = new LeaseDeadline(clock, fence, over);
    let isDone = false;
    const isOver = (): boolean => isDone;
    const drain = async (): Promise<void> => {
      await whenAborted(until.ending);
      await until.drained;
      isDone = true;
      over.abort();
    };
    void drain();
    try {
      while (!isOver()) {
        await sleep(clock, retryPeriodMs, over.signal).catch(() => undefined);
        if (isOver()) return;
        deadline.check();
        await this.#renew(claim, fence, over.signal);
        deadline.restart();
      }
    } finally {
      deadline.stop();
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

  /** One attempt at the Lease. What fails is logged, and tried again by the caller. */
  async #attempt(
    timeoutMs: number,
    signal: AbortSignal | undefined,
    attempt: (signal: AbortSignal) => Promise<Moment | undefined>,
  ): Promise<Moment | undefined> {
    const { logger } = this.#options;
    try {
      const started = await this.#store.within({ timeoutMs, signal }, attempt);
      this.#problem = undefined;
      return started;
    } catch (error) {
      if (isOperatorError(error, 'LeadershipLost')) throw error;
      if (signal?.aborted === true) return undefined;
      this.#problem = error;
      logger.warn(`Lease ${this.#store.key}: attempt failed`, { error });
      return undefined;
    }
  }

  #end(fence: LeaseFence, reason: OperatorError, callbacks: LeaderCallbacks): void {
    fence.close(reason);
    this.#term = undefined;
    this.#tell(() => callbacks.onStoppedLeading?.());
  }

  /** A listener that throws must not keep the election from going on. */
  #tell(callback: () => void): void {
    try {
      callback();
    } catch (error) {
      this.#options.logger.error(`Lease ${this.#store.key}: a callback failed`, { error });
    }
  }

  async #release(claim: LeaseClaim): Promise<void> {
    const { releaseOnCancel, renewDeadlineMs, logger } = this.#options;
    if (!releaseOnCancel) return;
    const limits = { timeoutMs: renewDeadlineMs / 2 };
    try {
      await this.#store.within(limits, (signal) => claim.release(signal));
    } catch (error) {
      const message = `Lease ${this.#store.key}: not given back, others wait until it expires`;
      logger.warn(message, { error });
    }
  }

  #report(callbacks: LeaderCallbacks): void {
    const { leader } = this;
    if (leader === this.#reported) return;
    this.#reported = leader;
    const { identity, logger } = this.#options;
    if (leader !== identity) {
      const what = leader === '' ? 'no leader' : 'standing by';
      logger.info(`Lease ${this.#store.key}: ${what}`, { identity, leader });
    }
    if (leader !== '') this.#tell(() => callbacks.onNewLeader?.(leader));
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

/** What ends a term in good order. */
interface Until {
  readonly ending: AbortSignal;
  /** Settles when what is led has ended. */
  readonly drained: Promise<unknown>;
}

async function begin(callbacks: LeaderCallbacks, context: LeaderContext): Promise<void> {
  await callbacks.onStartedLeading?.(context);
}

function takenBy(holder: string): OperatorError {
  const who = holder === '' ? 'somebody else gave it back' : `${holder} holds it`;
  return new OperatorError('LeadershipLost', who);
}

function lostOf(error: unknown, lease: string): OperatorError {
  const known = isOperatorError(error, 'LeadershipLost');
  const why = known ? error.message : 'the election failed';
  return new OperatorError('LeadershipLost', `Lease ${lease}: lost: ${why}`, { cause: error });
}
