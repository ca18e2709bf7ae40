import type { Fence } from '../client/index.js';
import { isAlreadyExists, isConflict, isNotFound, formatMicroTime } from '../object/index.js';
import type { Lease } from '../object/index.js';
import type { Clock } from '../system/index.js';
import { OperatorError } from '../system/index.js';
import type { ResolvedLeaderElectorOptions } from './leader-election-options.js';
import { leaseRecordOf, newLease, releasedLease, renewedLease, takenLease } from './lease.js';
import type { LeaseHolding, LeaseObserver, LeaseStore } from './lease.js';

/** The outcome of one attempt to acquire or renew the Lease. */
type ClaimOutcome =
  /** This process holds the Lease; the granted request was sent at `started`. */
  | { readonly type: 'held'; readonly started: Moment }
  /** Another process holds the Lease. */
  | { readonly type: 'foreign'; readonly holder: string }
  /** Another process has just changed the Lease; its holder has not been read yet. */
  | { readonly type: 'beaten' };

/** Time stamps of the last writes of a process, the oldest first. */
type Marks = string[];

const maxMarks = 64;

/**
 * Reads and writes one Lease for this process. The process holds the Lease only if it wrote the last record in it,
 * which it recognizes by its own time stamps. A record with the same identity from another writer counts as foreign:
 * from a second process with that identity, or from a manual edit.
 */
export class LeaseClaim {
  readonly #options: ResolvedLeaderElectorOptions;
  readonly #store: LeaseStore;
  readonly #observer: LeaseObserver;
  readonly #marks: Marks;
  #lease: Lease | undefined;
  #isUnsettled = false;

  /** @param marks - the time stamps that earlier claims of this process wrote; this claim adds its own */
  constructor(
    options: ResolvedLeaderElectorOptions,
    store: LeaseStore,
    observer: LeaseObserver,
    marks: Marks,
  ) {
    this.#options = options;
    this.#store = store;
    this.#observer = observer;
    this.#marks = marks;
  }

  /** The Lease as last read or written. */
  get lease(): Lease | undefined {
    return this.#lease;
  }

  /** True if a write has had no response. */
  get isUnsettled(): boolean {
    return this.#isUnsettled;
  }

  /** Takes the Lease if it is free or expired, or if an earlier attempt wrote it but got no response. */
  async acquire(signal: AbortSignal): Promise<ClaimOutcome> {
    const lease = await this.#read(signal);
    if (lease === undefined) {
      this.#observer.observeDeletion();
      // The holder of a deleted Lease may still write: its next renewal is the first request that fails.
      if (this.#observer.remainingMs > 0) return this.#foreign();
      return this.#create(signal);
    }
    if (this.#wrote(lease)) return this.#write(renewedLease(lease, this.#holding()), signal);
    if (this.#observer.remainingMs > 0) return this.#foreign();
    return this.#write(takenLease(lease, this.#holding()), signal);
  }

  /** Renews the last known Lease without reading it. */
  async renew(signal: AbortSignal): Promise<ClaimOutcome> {
    if (this.#lease === undefined) return { type: 'beaten' };
    return this.#write(renewedLease(this.#lease, this.#holding()), signal);
  }

  /** Reads the Lease and renews it, after another writer changed or deleted it. */
  async renewAfresh(signal: AbortSignal): Promise<ClaimOutcome> {
    const lease = await this.#read(signal);
    if (lease === undefined) return this.#create(signal);
    if (!this.#wrote(lease)) return this.#foreign();
    return this.#write(renewedLease(lease, this.#holding()), signal);
  }

  /** Releases the Lease if this process still holds it. */
  async release(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    if (this.#lease !== undefined && !this.#isUnsettled) {
      const released = this.#store.update(releasedLease(this.#lease, clock.now()), signal);
      const isDone = await released.then(
        () => true,
        (error: unknown) => {
          if (isGone(error)) return false;
          throw error;
        },
      );
      if (isDone) return;
    }
    const lease = await this.#store.get(signal);
    if (lease === undefined || !this.#wrote(lease)) return;
    await this.#store.update(releasedLease(lease, clock.now()), signal);
  }

  async #read(signal: AbortSignal): Promise<Lease | undefined> {
    const lease = await this.#store.get(signal);
    if (lease !== undefined) this.#observer.observe(lease);
    this.#lease = lease ?? this.#lease;
    return lease;
  }

  #create(signal: AbortSignal): Promise<ClaimOutcome> {
    const { namespace, name } = this.#options;
    const lease = newLease({ namespace, name }, this.#holding());
    // Only 409 AlreadyExists means that another process was faster: a 404 means that the namespace does not exist.
    return this.#send(lease, isAlreadyExists, () => this.#store.create(lease, signal));
  }

  #write(lease: Lease, signal: AbortSignal): Promise<ClaimOutcome> {
    return this.#send(lease, isGone, () => this.#store.update(lease, signal));
  }

  /**
   * Sends a write of the Lease, and returns whether this process holds it.
   * @param isBeaten - returns whether an error of `send` means that another process wrote first
   */
  async #send(
    lease: Lease,
    isBeaten: (error: unknown) => boolean,
    send: () => Promise<Lease>,
  ): Promise<ClaimOutcome> {
    // Take the time before the request is sent: the server may grant the Lease immediately.
    const started = momentOf(this.#options.clock);
    this.#mark(lease);
    this.#isUnsettled = true;
    try {
      const stored = await send();
      this.#isUnsettled = false;
      return this.#held(stored, started);
    } catch (error) {
      if (!isBeaten(error)) throw error;
      this.#isUnsettled = false;
      return { type: 'beaten' };
    }
  }

  #held(lease: Lease, started: Moment): ClaimOutcome {
    this.#lease = lease;
    this.#observer.observe(lease);
    return { type: 'held', started };
  }

  #foreign(): ClaimOutcome {
    return { type: 'foreign', holder: this.#observer.holder };
  }

  /** Returns whether this process wrote the record, even if its request failed. */
  #wrote(lease: Lease): boolean {
    const { holder, renewTime } = leaseRecordOf(lease);
    return holder === this.#options.identity && this.#marks.includes(renewTime);
  }

  #mark({ spec }: Lease): void {
    this.#marks.push(spec?.renewTime ?? '');
    if (this.#marks.length > maxMarks) this.#marks.shift();
  }

  #holding(): LeaseHolding {
    const { identity, leaseDurationMs: durationMs, clock } = this.#options;
    let nowMs = clock.now();
    // Each time stamp must be unique even if the wall clock jumps: other replicas detect a renewal by the changed time
    // stamp.
    while (this.#marks.includes(formatMicroTime(nowMs))) nowMs += 0.001;
    return { identity, durationMs, nowMs };
  }
}

/** Returns whether the Lease was changed or deleted since it was read. */
function isGone(error: unknown): boolean {
  return isConflict(error) || isNotFound(error);
}

/** A point in time, on clocks that a change of the system time does not affect. */
export interface Moment {
  readonly monotonicMs: number;
  /** Undefined if the clock does not measure it. */
  readonly uptimeMs: number | undefined;
}

export function momentOf(clock: Clock): Moment {
  return { monotonicMs: clock.monotonicMs(), uptimeMs: clock.uptimeMs?.() };
}

/**
 * Returns the milliseconds since `moment`, including time while the process was stopped or the machine slept.
 */
export function elapsedMs(clock: Clock, moment: Moment): number {
  const monotonicMs = clock.monotonicMs() - moment.monotonicMs;
  if (moment.uptimeMs === undefined || clock.uptimeMs === undefined) return monotonicMs;
  return Math.max(monotonicMs, clock.uptimeMs() - moment.uptimeMs);
}

interface LeaseFenceOptions {
  readonly clock: Clock;
  /** Time for which a renewal permits writes, from the start of its request, in milliseconds. */
  readonly validMs: number;
  /** Name of the Lease, for messages. */
  readonly lease: string;
}

/**
 * The fence of one term. It is open for `validMs` from the start of the last successful renewal. Once
 * {@link LeaseFence.close | closed}, it does not open again.
 */
export class LeaseFence implements Fence {
  readonly #options: LeaseFenceOptions;
  readonly #lost = new AbortController();
  #renewed: Moment;

  /** @param acquired - start of the request that acquired the Lease */
  constructor(options: LeaseFenceOptions, acquired: Moment) {
    this.#options = options;
    this.#renewed = acquired;
  }

  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /** Remaining time in which writes may start, in milliseconds; 0 if the fence is closed. */
  get remainingMs(): number {
    if (this.#lost.signal.aborted) return 0;
    const { clock, validMs } = this.#options;
    return Math.max(0, validMs - elapsedMs(clock, this.#renewed));
  }

  check(what: string): void {
    if (this.remainingMs > 0) return;
    const { lease, validMs } = this.#options;
    const cause: unknown = this.#lost.signal.aborted ? this.#lost.signal.reason : undefined;
    const why = cause === undefined ? `it was not renewed for ${validMs} ms` : 'it was lost';
    const message = `${what}: not sent, because Lease ${lease} is no longer held: ${why}`;
    throw new OperatorError('Fenced', message, { cause });
  }

  /**
   * Records a successful renewal. @param started - the start of its request: the server may have granted the renewal at
   * that moment.
   * @returns false if the renewal came too late: the fence had closed
   */
  renew(started: Moment): boolean {
    if (this.remainingMs === 0) return false;
    this.#renewed = started;
    return this.remainingMs > 0;
  }

  /** Closes the fence permanently and aborts the running writes. */
  close(reason: OperatorError): void {
    this.#lost.abort(reason);
  }
}

/** Returns a fence that refuses every write, for a process that does not lead. */
export function closedFence(lease: string): Fence {
  return {
    check: (what) => {
      throw new OperatorError('Fenced', `${what}: not sent, because Lease ${lease} is not held`);
    },
  };
}
