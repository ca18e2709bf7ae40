import type { Client, WatchEvent, WatchOptions } from '../client/index.js';
import { inBatches } from '../client/index.js';
import type { KubernetesObject, LabelSelector, TypeReference } from '../object/index.js';
import { keyStringOf } from '../object/index.js';
import type { Clock, Timer, ConnectionError, Random } from '../system/index.js';
import { OperatorError, isOperatorError } from '../system/index.js';

/** The objects of a kind that a watch shows. */
export interface WatchScope {
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | LabelSelector | undefined;
  readonly fieldSelector?: string | undefined;
  readonly metadataOnly?: boolean | undefined;
}

interface WatchAttempt<T extends KubernetesObject> {
  readonly client: Client;
  readonly type: TypeReference<T>;
  readonly scope: WatchScope;
  /** Returns whether the watch must include `managedFields`; called once, at the start of the watch. */
  readonly keepManagedFields: () => boolean;
  readonly knownParts: WatchOptions['knownParts'];
  readonly clock: Clock;
  readonly random: Random;
  /** Ends the watch; {@link followWatch} also aborts it when the server falls silent. */
  readonly attempt: AbortController;
  /** Shared by all watches of a collection. */
  readonly habits: WatchHabits;
}

/** How the server behaved in earlier watches of a collection. */
export interface WatchHabits {
  /**
   * True once the server has sent a periodic bookmark. False again after a watch without bookmarks was ended because it
   * was silent.
   */
  sendsBookmarks: boolean;
}

/** The end of a watch. `established`: the server had begun to answer, as far as the client can detect. */
export type Watched = { readonly lastedMs: number; readonly established: boolean } &
  /** `ended`: by the server or by the receiver. */
  ({ readonly end: 'ended' } | { readonly end: 'failed'; readonly error: unknown });

/**
 * Receives an event that arrived at monotonic time `heardAtMs`. Returns `listing` while the initial events
 * are incomplete, and `leave` to end the watch.
 */
export type WatchReceiver<T extends KubernetesObject> = (
  event: WatchEvent<T>,
  heardAtMs: number,
) => 'listing' | 'listed' | 'leave';

/**
 * As in client-go, watches last 5 to 10 minutes at random. Reconnects then spread the load over the servers.
 */
const shortestWatchMs = 300_000;
const longestWatchMs = 600_000;
/** A watch that outlasts its time-out by this long counts as dead. */
const deadWatchMs = 30_000;
/**
 * Once the server has sent a bookmark, on this watch or an earlier one, this much silence means that the connection is
 * lost. Servers send one about every minute (up to 75 s), so two are missing. Without this limit, a silently dropped
 * connection would show nothing until the watch's time-out.
 */
const silentWatchMs = 150_000;
/** A streaming list that stalls this long is aborted. */
const stalledListMs = 30_000;

/**
 * Watches until the watch ends; never throws. Requests that the server end the watch after 5 to 10 minutes.
 * If the server does not, the connection is dead and the result is `failed`. If the server is known to
 * send bookmarks, 2.5 minutes of silence are enough.
 */
export async function followWatch<T extends KubernetesObject>(
  {
    client,
    type,
    scope,
    keepManagedFields,
    clock,
    random,
    attempt,
    habits,
    knownParts,
  }: WatchAttempt<T>,
  from: { readonly resourceVersion: string } | 'initialEvents',
  receive: WatchReceiver<T>,
): Promise<Watched> {
  const timeoutMs = shortestWatchMs + random.next() * (longestWatchMs - shortestWatchMs);
  const startedMs = clock.monotonicMs();
  const endMs = startedMs + timeoutMs + deadWatchMs;
  const silence = new SilenceLimit(endMs, habits);
  const watchdog = new Watchdog(clock, () => {
    silence.exceeded();
    attempt.abort(
      new OperatorError(
        'Timeout',
        `watch ${type.kind}: no watch event or bookmark before the deadline`,
      ),
    );
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
  const heard = from === 'initialEvents' ? 'listing' : 'listed';
  watchdog.expectBefore(silence.deadlineFrom(startedMs, heard));
  try {
    const omitManagedFields = !keepManagedFields();
    const reading = { omitManagedFields, knownParts };
    const options = { ...scope, ...start, ...reading, timeoutMs, signal: attempt.signal };
    // Process the events of a batch together: one turn of the event loop for each would cost as much as the event
    // itself.
    for await (const batch of inBatches(client.watch(type, options))) {
      const heardAtMs = clock.monotonicMs();
      for (const event of batch) {
        heardAny = true;
        const now = receive(event, heardAtMs);
        if (now === 'leave') return ended({ end: 'ended' }, true);
        watchdog.expectBefore(silence.deadlineAfter(event, now, heardAtMs));
      }
    }
    return ended({ end: 'ended' }, true);
  } catch (error) {
    const cause: unknown = attempt.signal.aborted ? attempt.signal.reason : error;
    return ended({ end: 'failed', error: cause }, heardAny || isBrokenOff(cause));
  } finally {
    watchdog.cancel();
  }
}

/** Returns true if the request may have been sent: the connection may also break before any answer. */
function isBrokenOff(error: unknown): boolean {
  if (!isOperatorError(error, 'ConnectionFailed')) return false;
  return (error as Partial<ConnectionError>).requestSent !== false;
}

/** Computes the deadline of the next event. */
class SilenceLimit {
  readonly #endMs: number;
  readonly #habits: WatchHabits;
  #hasBookmark = false;

  /** @param endMs - the latest end of the watch */
  constructor(endMs: number, habits: WatchHabits) {
    this.#endMs = endMs;
    this.#habits = habits;
  }

  deadlineAfter(
    event: WatchEvent<KubernetesObject>,
    heard: 'listing' | 'listed',
    nowMs: number,
  ): number {
    // The bookmark that ends the initial events does not prove that periodic bookmarks will follow.
    if (event.type === 'BOOKMARK' && !event.initialEventsEnd) {
      this.#habits.sendsBookmarks = true;
      this.#hasBookmark = true;
    }
    return this.deadlineFrom(nowMs, heard);
  }

  deadlineFrom(nowMs: number, heard: 'listing' | 'listed'): number {
    if (heard === 'listing') return nowMs + stalledListMs;
    return this.#habits.sendsBookmarks ? Math.min(nowMs + silentWatchMs, this.#endMs) : this.#endMs;
  }

  /**
   * Records that the watch ends because it was silent. If it had no bookmark, later watches may have none either: an
   * older server sends no bookmarks for a kind that has not changed since the server was started.
   */
  exceeded(): void {
    if (!this.#hasBookmark) this.#habits.sendsBookmarks = false;
  }
}

/** Calls back when a deadline passes. Moving the deadline to a later time sets no timer. */
class Watchdog {
  readonly #clock: Clock;
  readonly #onSilence: () => void;
  #deadlineMs = Infinity;
  #timer: Timer | undefined;
  /** The time at which the timer checks the deadline. */
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
    // Round up: with a truncated fraction, the timer would fire early and be set again without end.
    const leftMs = Math.ceil(this.#deadlineMs - this.#clock.monotonicMs());
    this.#timer = this.#clock.setTimer(() => {
      if (this.#clock.monotonicMs() < this.#deadlineMs) this.#arm();
      else this.#onSilence();
    }, leftMs);
  }
}

/** A whole collection at one resource version. */
export interface InitialList<T extends KubernetesObject> {
  /** The objects by key. */
  readonly objects: ReadonlyMap<string, T>;
  readonly resourceVersion: string;
}

interface PagedListOptions<T extends KubernetesObject> {
  readonly client: Client;
  readonly type: TypeReference<T>;
  readonly scope: WatchScope;
  /** Applied to each object on arrival, so that a large list is never held unprocessed. */
  readonly intake: (object: T) => T;
  /** `one` requests the whole list in one page. */
  readonly pages: 'many' | 'one';
  readonly signal: AbortSignal;
}

/** The largest limit that every server accepts. */
const onePageLimit = 2 ** 31 - 1;

/**
 * Lists page by page.
 * @throws the errors of `Client.pages`
 */
export async function listPages<T extends KubernetesObject>(
  options: PagedListOptions<T>,
): Promise<InitialList<T>> {
  const { client, type, scope, intake, pages, signal } = options;
  const objects = new Map<string, T>();
  // The version of the first page: if later pages are newer, the watch repeats their changes.
  let resourceVersion: string | undefined;
  const limit = pages === 'one' ? onePageLimit : undefined;
  for await (const page of client.pages(type, { ...scope, limit, signal })) {
    resourceVersion ??= page.metadata.resourceVersion ?? '';
    for (const item of page.items) {
      const object = intake(item);
      objects.set(keyStringOf(object), object);
    }
  }
  return { objects, resourceVersion: resourceVersion ?? '' };
}

/** Collects the initial objects of a streaming list (KEP-3157). */
export class InitialEvents<T extends KubernetesObject> {
  #objects = new Map<string, T>();
  readonly #intake: (object: T) => T;

  constructor(intake: (object: T) => T) {
    this.#intake = intake;
  }

  /**
   * Processes an event.
   * @returns the list, at the bookmark that ends it; undefined before that
   */
  take(event: WatchEvent<T>): InitialList<T> | undefined {
    if (event.type === 'BOOKMARK') {
      if (!event.initialEventsEnd) return undefined;
      const objects = this.#objects;
      // The watch continues, and must not keep objects in memory that have been deleted meanwhile.
      this.#objects = new Map();
      return { objects, resourceVersion: event.resourceVersion };
    }
    const object = this.#intake(event.object);
    if (event.type === 'DELETED') this.#objects.delete(keyStringOf(object));
    else this.#objects.set(keyStringOf(object), object);
    return undefined;
  }
}
