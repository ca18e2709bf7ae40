import { isAlreadyExists, isApiError, isConflict, isNotFound } from '../object/api-error.js';
import type { Lease } from '../object/kinds.js';
import { formatMicroTime } from '../object/micro-time.js';
import { momentOf } from './lease-fence.js';
import type { Moment } from './lease-fence.js';
import type { LeaseObserver } from './lease-observer.js';
import {
  leaseRecordOf,
  newLease,
  releasedLease,
  renewedLease,
  takenLease,
} from './lease-record.js';
import type { LeaseHolding } from './lease-record.js';
import type { LeaseStore } from './lease-store.js';
import type { ResolvedLeaderElectorOptions } from './leader-election-options.js';

/** What one attempt at the Lease came to. */
export type ClaimOutcome =
  /** It is ours; the request that made it so was begun at `started`. */
  | { readonly type: 'held'; readonly started: Moment }
  /** Somebody else has it. */
  | { readonly type: 'foreign'; readonly holder: string }
  /** Somebody else was quicker just now, who is yet to be seen. */
  | { readonly type: 'beaten' };

/** Marks that are remembered of writes whose answers never came. */
const maxMarks = 64;

/**
 * This process' dealings with one Lease. A record counts as its own only when it wrote it itself:
 * it knows by the time stamps that it put in. A record that somebody else wrote in its name (two
 * processes of one identity, an edit by hand) is a stranger's.
 */
export class LeaseClaim {
  readonly #options: ResolvedLeaderElectorOptions;
  readonly #store: LeaseStore;
  readonly #observer: LeaseObserver;
  readonly #marks: string[] = [];
  #lease: Lease | undefined;
  #isUnsettled = false;

  constructor(options: ResolvedLeaderElectorOptions, store: LeaseStore, observer: LeaseObserver) {
    this.#options = options;
    this.#store = store;
    this.#observer = observer;
  }

  /** The Lease as it was read or written last. */
  get lease(): Lease | undefined {
    return this.#lease;
  }

  /** Whether a write was begun whose answer never came. */
  get isUnsettled(): boolean {
    return this.#isUnsettled;
  }

  /** Takes the Lease if it is free, expired, or ours since an attempt whose answer never came. */
  async acquire(signal: AbortSignal): Promise<ClaimOutcome> {
    const lease = await this.#read(signal);
    if (lease === undefined) {
      // Its holder learns of it at its next renewal only.
      if (this.#observer.remainingMs > 0) return this.#foreign();
      return this.#create(signal);
    }
    if (this.#wrote(lease)) return this.#write(renewedLease(lease, this.#holding()), signal);
    if (this.#observer.remainingMs > 0) return this.#foreign();
    return this.#write(takenLease(lease, this.#holding()), signal);
  }

  /** Renews the Lease as it was last known, without reading it. */
  async renew(signal: AbortSignal): Promise<ClaimOutcome> {
    if (this.#lease === undefined) return { type: 'beaten' };
    return this.#write(renewedLease(this.#lease, this.#holding()), signal);
  }

  /** Renews the Lease after reading it: it was changed, or deleted, by somebody else. */
  async renewAfresh(signal: AbortSignal): Promise<ClaimOutcome> {
    const lease = await this.#read(signal);
    if (lease === undefined) return this.#create(signal);
    if (!this.#wrote(lease)) return this.#foreign();
    return this.#write(renewedLease(lease, this.#holding()), signal);
  }

  /** Gives the Lease back, where it is still ours. */
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
    return this.#send(lease, () => this.#store.create(lease, signal));
  }

  #write(lease: Lease, signal: AbortSignal): Promise<ClaimOutcome> {
    return this.#send(lease, () => this.#store.update(lease, signal));
  }

  async #send(lease: Lease, send: () => Promise<Lease>): Promise<ClaimOutcome> {
    // Before it is sent: the server may grant it right then.
    const started = momentOf(this.#options.clock);
    this.#mark(lease);
    this.#isUnsettled = true;
    try {
      const stored = await send();
      this.#isUnsettled = false;
      return this.#held(stored, started);
    } catch (error) {
      if (isVanished(error)) return { type: 'beaten' };
      if (!isGone(error) && !isAlreadyExists(error)) throw error;
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

  /** Whether this very process wrote the record, whatever came of the request. */
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
    // No stamp twice, whatever the wall clock does: the others see life by its changing.
    while (this.#marks.includes(formatMicroTime(nowMs))) nowMs += 0.001;
    return { identity, durationMs, nowMs };
  }
}

/** Not as it was when it was read, or not there at all. */
function isGone(error: unknown): boolean {
  return isConflict(error) || isNotFound(error);
}

/**
 * An update of a Lease that was deleted: Leases may be created by PUT, so that the server takes it for
 * a creation, and answers 500 for its `resourceVersion`.
 */
function isVanished(error: unknown): boolean {
  return isApiError(error) && error.status === 500;
}
