import type { Client, WatchEvent } from '../client/client.js';
import type { KubernetesObject } from '../object/kubernetes-object.js';
import type { TypeReference } from '../object/resource-type.js';
import type { Clock, Timer } from '../system/clock.js';
import { OperatorError } from '../system/operator-error.js';
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

/** How a watch ended. */
export type Watched = { readonly lastedMs: number } &
  /** `ended` by the server, `left` by the receiver. */
  ({ readonly end: 'ended' | 'left' } | { readonly end: 'failed'; readonly error: unknown });

/**
 * Takes an event. `listing`: the initial events are not over yet. `leave`: end the watch.
 */
export type WatchReceiver<T extends KubernetesObject> = (
  event: WatchEvent<T>,
) => 'listing' | 'listed' | 'leave';

/** As client-go: servers are balanced again as watches end, not all of them at one moment. */
const shortestWatchMs = 300_000;
const longestWatchMs = 600_000;
/** A watch that goes on so long after its time-out has no server any more. */
const deadWatchMs = 30_000;
/** A streaming list that stalls for so long is given up. */
const stalledListMs = 30_000;

/**
 * Watches until it ends, in whichever way; never throws. The server is asked to end it after 5 to 10
 * minutes; where it doesn't, the connection is dead (nothing else tells), and the watch `failed`.
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
      : from;
  const ended = <End>(end: End): End & { lastedMs: number } => ({
    ...end,
    lastedMs: clock.monotonicMs() - startedMs,
  });
  watchdog.expectBefore(from === 'initialEvents' ? startedMs + stalledListMs : endMs);
  try {
    const options = { ...scope, ...start, timeoutMs, signal: attempt.signal };
    for await (const event of client.watch(type, options)) {
      const heard = receive(event);
      if (heard === 'leave') return ended({ end: 'left' });
      watchdog.expectBefore(heard === 'listing' ? clock.monotonicMs() + stalledListMs : endMs);
    }
    return ended({ end: 'ended' });
  } catch (error) {
    const cause: unknown = attempt.signal.aborted ? attempt.signal.reason : error;
    return ended({ end: 'failed', error: cause });
  } finally {
    watchdog.cancel();
  }
}

/** Calls back when a deadline passes. Moving the deadline on is free: no timer is set for it. */
class Watchdog {
  readonly #clock: Clock;
  readonly #onSilence: () => void;
  #deadlineMs = Infinity;
  #timer: Timer | undefined;

  constructor(clock: Clock, onSilence: () => void) {
    this.#clock = clock;
    this.#onSilence = onSilence;
  }

  /** Each deadline must be later than the one before. */
  expectBefore(deadlineMs: number): void {
    this.#deadlineMs = deadlineMs;
    if (this.#timer === undefined) this.#arm();
  }

  cancel(): void {
    this.#timer?.cancel();
  }

  #arm(): void {
    // Whole milliseconds: a remainder that is lost in rounding would be waited for without end.
    const leftMs = Math.ceil(this.#deadlineMs - this.#clock.monotonicMs());
    this.#timer = this.#clock.setTimer(() => {
      if (this.#clock.monotonicMs() < this.#deadlineMs) this.#arm();
      else this.#onSilence();
    }, leftMs);
  }
}
