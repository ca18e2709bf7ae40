import type { Client, WatchEvent } from '../client/client.js';
import { atOnce } from '../client/flattened.js';
import type { KubernetesObject } from '../object/kubernetes-object.js';
import type { TypeReference } from '../object/resource-type.js';
import type { Clock, Timer } from '../system/clock.js';
import type { ConnectionError } from '../system/connection-error.js';
import { OperatorError, isOperatorError } from '../system/operator-error.js';
import type { Random } from '../system/random.js';

/** Which objects of a kind a watch shows. */
export interface WatchScope {
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  readonly metadataOnly?: boolean | undefined;
}

/** What {@link followWatch} needs. */
export interface WatchAttempt<T extends KubernetesObject> {
  readonly client: Client;
  readonly type: TypeReference<T>;
  readonly scope: WatchScope;
  readonly clock: Clock;
  readonly random: Random;
  /** Ends the watch; aborted here too when the server falls silent. */
  readonly attempt: AbortController;
}

/** How a watch ended. `established`: the server had begun to answer it, as far as one can tell. */
export type Watched = { readonly lastedMs: number; readonly established: boolean } &
  /** `ended` by the server, `left` by the receiver. */
  ({ readonly end: 'ended' | 'left' } | { readonly end: 'failed'; readonly error: unknown });

/**
 * Takes an event, which came at `heardAtMs` by the monotonic clock. `listing`: the initial events are
 * not over yet. `leave`: end the watch.
 */
export type WatchReceiver<T extends KubernetesObject> = (
  event: WatchEvent<T>,
  heardAtMs: number,
) => 'listing' | 'listed' | 'leave';

/** As client-go: servers are balanced again as watches end, not all of them at one moment. */
const shortestWatchMs = 300_000;
const longestWatchMs = 600_000;
/** A watch that goes on so long after its time-out has no server any more. */
const deadWatchMs = 30_000;
/**
 * A watch that has shown that its server sends bookmarks is lost when nothing came for so long: a
 * server sends one about every minute (up to 75 s), so that this is two missed ones. A connection
 * that lost its other end without a word would else show nothing until the watch's time-out.
 */
const silentWatchMs = 150_000;
/** A streaming list that stalls for so long is given up. */
const stalledListMs = 30_000;

/**
 * Watches until it ends, in whichever way; never throws. The server is asked to end it after 5 to 10
 * minutes; where it doesn't, the connection is dead, and the watch `failed`. So it is sooner, after
 * 2.5 minutes of silence, where the server sent bookmarks on this watch.
 */
export async function followWatch<T extends KubernetesObject>(
  { client, type, scope, clock, random, attempt }: WatchAttempt<T>,
  from: { readonly resourceVersion: string } | 'initialEvents',
  receive: WatchReceiver<T>,
): Promise<Watched> {
  const timeoutMs = shortestWatchMs + random.next() * (longestWatchMs - shortestWatchMs);
  const startedMs = clock.monotonicMs();
  const endMs = startedMs + timeoutMs + deadWatchMs;
  const watchdog = new Watchdog(clock, () => {
    attempt.abort(new OperatorError('Timeout', `watch ${type.kind}: the server fell silent`));
  });
  const start =
    from === 'initialEvents'
      ? ({ sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' } as const)
      : { resourceVersion: from.resourceVersion };
  let heardAny = false;
  const ended = <End>(end: End, established: boolean): End & Omit<Watched, 'end'> => ({
    ...end,
    established,
    lastedMs: clock.monotonicMs() - startedMs,
  });
  const silence = new SilenceLimit(endMs);
  watchdog.expectBefore(from === 'initialEvents' ? startedMs + stalledListMs : endMs);
  try {
    const options = { ...scope, ...start, timeoutMs, signal: attempt.signal };
    const events = client.watch(type, options);
    for await (const first of events) {
      heardAny = true;
      const heardAtMs = clock.monotonicMs();
      const isLeft = (event: WatchEvent<T>): boolean => {
        const heard = receive(event, heardAtMs);
        if (heard !== 'leave')
          watchdog.expectBefore(silence.deadlineAfter(event, heard, heardAtMs));
        return heard === 'leave';
      };
      // What came together is taken in together: a turn for each would cost as much as the event.
      if (isLeft(first)) return ended({ end: 'left' }, true);
      for (const event of atOnce(events)) if (isLeft(event)) return ended({ end: 'left' }, true);
    }
    return ended({ end: 'ended' }, true);
  } catch (error) {
    const cause: unknown = attempt.signal.aborted ? attempt.signal.reason : error;
    return ended({ end: 'failed', error: cause }, heardAny || isBrokenOff(cause));
  } finally {
    watchdog.cancel();
  }
}

/** Whether a connection that was made broke off: it may have done so before the server answered. */
function isBrokenOff(error: unknown): boolean {
  if (!isOperatorError(error, 'ConnectionFailed')) return false;
  return (error as Partial<ConnectionError>).requestSent !== false;
}

/** Until when the next event must come. */
class SilenceLimit {
  readonly #endMs: number;
  #bookmarked = false;

  /** @param endMs - when the watch is over in any case */
  constructor(endMs: number) {
    this.#endMs = endMs;
  }

  deadlineAfter(
    event: WatchEvent<KubernetesObject>,
    heard: 'listing' | 'listed',
    nowMs: number,
  ): number {
    // The one that ends the initial events says nothing of those that come by the minute.
    if (event.type === 'BOOKMARK' && !event.initialEventsEnd) this.#bookmarked = true;
    if (heard === 'listing') return nowMs + stalledListMs;
    return this.#bookmarked ? Math.min(nowMs + silentWatchMs, this.#endMs) : this.#endMs;
  }
}

/** Calls back when a deadline passes. Moving it to a later time is free: no timer is set for it. */
class Watchdog {
  readonly #clock: Clock;
  readonly #onSilence: () => void;
  #deadlineMs = Infinity;
  #timer: Timer | undefined;
  /** When the timer looks at the deadline. */
  #lookMs = Infinity;

  constructor(clock: Clock, onSilence: () => void) {
    this.#clock = clock;
    this.#onSilence = onSilence;
  }

  expectBefore(deadlineMs: number): void {
    this.#deadlineMs = deadlineMs;
    if (deadlineMs >= this.#lookMs) return;
    this.#timer?.cancel();
    this.#arm();
  }

  cancel(): void {
    this.#timer?.cancel();
  }

  #arm(): void {
    this.#lookMs = this.#deadlineMs;
    // Whole milliseconds: a remainder that is lost in rounding would be waited for without end.
    const leftMs = Math.ceil(this.#deadlineMs - this.#clock.monotonicMs());
    this.#timer = this.#clock.setTimer(() => {
      if (this.#clock.monotonicMs() < this.#deadlineMs) this.#arm();
      else this.#onSilence();
    }, leftMs);
  }
}
