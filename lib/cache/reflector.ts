import type { Client, WatchEvent } from '../client/client.js';
import { isGone } from '../object/api-error.js';
import type { KubernetesObject } from '../object/kubernetes-object.js';
import { keyOf, keyString } from '../object/object-key.js';
import type { TypeReference } from '../object/resource-type.js';
import { sleep } from '../system/clock.js';
import type { Clock } from '../system/clock.js';
import type { Logger } from '../system/logger.js';
import { OperatorError, isOperatorError } from '../system/operator-error.js';
import type { Random } from '../system/random.js';
import type { CacheMetrics } from './cache-metrics.js';
import { ReconnectDelay } from './reconnect-delay.js';
import { isStreamingRefused, retryAfterMs, stateAfterFailure } from './reflector-state.js';
import type { ListState, ParkedState, ParkReason } from './reflector-state.js';
import type { ReflectorState, WatchState, WorkState } from './reflector-state.js';
import { compareResourceVersions } from './resource-version.js';
import { followWatch } from './watch-attempt.js';
import type { WatchReceiver, WatchScope, Watched } from './watch-attempt.js';

/** Where a reflector puts what it sees, in the server's order. None of these may throw. */
export interface ReflectorSink<T extends KubernetesObject> {
  /** What is done to each object right after it came, so that a large list is never kept raw. */
  intake(object: T): T;
  /** The whole collection as of `resourceVersion`. */
  replace(objects: readonly T[], resourceVersion: string): void;
  /** One change. It can come twice. */
  apply(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: T): void;
  /** Everything up to `resourceVersion` was seen (a bookmark). */
  progress(resourceVersion: string): void;
  /** {@link Reflector.state} has changed. */
  stateChanged(): void;
}

/** Options of {@link Reflector}. */
export interface ReflectorOptions<T extends KubernetesObject> {
  readonly client: Client;
  readonly type: TypeReference<T>;
  readonly scope: WatchScope;
  readonly sink: ReflectorSink<T>;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: CacheMetrics;
  /** Ask for streaming lists, as long as the server knows them. */
  readonly streamingLists: boolean;
}

interface Failure {
  readonly error: unknown;
  readonly lastedMs: number;
  /** It was a watch that worked, until now. */
  readonly worked?: boolean;
}

/** A watch that ends sooner, with nothing new, has failed, whatever the server says. */
const shortWatchMs = 1_000;
/** A watch that lasted so long worked, even if it showed nothing. */
const workingWatchMs = 10_000;
const parkedFor: Readonly<Record<ParkReason, string>> = {
  unknownKind: 'wait for the kind to appear',
  malformed: 'wait long, since the request itself is invalid',
};
/** All in one page: the largest limit that every server takes. */
const onePageLimit = 2 ** 31 - 1;

/**
 * Mirrors a collection of the API server into a sink: a list, then a watch from where the list
 * ended, for ever. No change is lost or reordered across reconnects; nothing ends it but `stop`.
 *
 * ## Flow
 * `reflector-state.ts` draws the states; `#step` carries out one of them and names the next.
 *
 * ## Failures
 * Each is logged and counted, and is `lastError` until the next one. A dropped watch goes on after
 * the last version that it has shown; a version that the server no longer has (410) means a new
 * list. A watch that worked (it lasted 10 s, or brought something new) is resumed after 0.8 to 1.6 s,
 * however often it is cut; this differs from client-go's reflector, which would wait up to a minute.
 * All else waits longer each time it fails. A kind that is not served parks the reflector: it looks
 * again, at growing intervals. So does a request that the client refuses to send, at long ones.
 */
export class Reflector<T extends KubernetesObject> {
  readonly #options: ReflectorOptions<T>;
  readonly #delay: ReconnectDelay;
  #state: ReflectorState;
  #lastError: unknown;
  #streaming: boolean;
  #parked = false;
  #attempt = new AbortController();
  #running: Promise<void> | undefined;
  #asked: 'nothing' | 'relist' | 'stop' = 'nothing';

  constructor(options: ReflectorOptions<T>) {
    this.#options = options;
    this.#delay = new ReconnectDelay(options.clock, options.random);
    this.#streaming = options.streamingLists;
    this.#state = this.#listState();
  }

  /** What it does now. */
  get state(): ReflectorState {
    return this.#state;
  }

  /** The last failure, also when it was overcome since. */
  get lastError(): unknown {
    return this.#lastError;
  }

  /** Begins; later calls do nothing. */
  start(): void {
    this.#running ??= this.#run();
  }

  /** Lists anew, so that all objects pass the intake once more. */
  relist(): void {
    if (this.#running !== undefined) this.#ask('relist');
  }

  /** Ends it; resolves when the last call to the server has ended. */
  async stop(): Promise<void> {
    this.#ask('stop');
    await this.#running;
  }

  #ask(what: 'relist' | 'stop'): void {
    if (this.#asked !== 'stop') this.#asked = what;
    this.#attempt.abort(new OperatorError('Stopped', `the cache was asked to ${what}`));
  }

  async #run(): Promise<void> {
    while (this.#asked !== 'stop') {
      if (this.#asked === 'relist') this.#enter(this.#listState());
      this.#asked = 'nothing';
      this.#attempt = new AbortController();
      this.#enter(await this.#step(this.#state));
    }
    this.#enter({ phase: 'stopped' });
  }

  #enter(state: ReflectorState): void {
    this.#state = state;
    this.#options.sink.stateChanged();
  }

  #listState(): WorkState {
    return this.#streaming ? { phase: 'streamingList' } : { phase: 'list', pages: 'many' };
  }

  async #step(state: ReflectorState): Promise<ReflectorState> {
    switch (state.phase) {
      case 'streamingList':
        return this.#streamingList(state);
      case 'list':
        return this.#list(state);
      case 'watch':
        return this.#watch(state);
      case 'backOff':
        await this.#wait(state.delayMs);
        return state.then;
      case 'parked':
        await this.#wait(state.delayMs);
        return this.#listState();
      case 'stopped':
        return state;
    }
  }

  async #wait(delayMs: number): Promise<void> {
    // An abort is no failure here: `#run` sees what was asked for.
    await sleep(this.#options.clock, delayMs, this.#attempt.signal).catch(() => undefined);
  }

  async #list(state: ListState): Promise<ReflectorState> {
    const { client, type, scope, sink } = this.#options;
    const objects: T[] = [];
    // The first page's: should later pages be newer, the watch repeats what they show.
    let resourceVersion: string | undefined;
    try {
      const limit = state.pages === 'one' ? onePageLimit : undefined;
      const options = { ...scope, limit, signal: this.#attempt.signal };
      for await (const page of client.pages(type, options)) {
        resourceVersion ??= page.metadata.resourceVersion ?? '';
        for (const object of page.items) objects.push(sink.intake(object));
      }
    } catch (error) {
      return this.#afterFailure(state, { error, lastedMs: 0 });
    }
    return this.#listed(objects, resourceVersion ?? '');
  }

  #listed(objects: readonly T[], resourceVersion: string): WatchState {
    const { sink, metrics, type } = this.#options;
    metrics.relists.add(1, { kind: type.kind });
    this.#parked = false;
    sink.replace(objects, resourceVersion);
    return { phase: 'watch', resourceVersion, failures: 0 };
  }

  async #streamingList(state: WorkState): Promise<ReflectorState> {
    const { sink } = this.#options;
    const objects = new Map<string, T>();
    const initial: { end?: string } = {};
    const watched = await this.#follow('initialEvents', (event) => {
      if (initial.end !== undefined) return this.#receive(event);
      if (event.type === 'BOOKMARK') {
        if (!event.initialEventsEnd) return 'listing';
        initial.end = event.resourceVersion;
        this.#enter(this.#listed([...objects.values()], event.resourceVersion));
        return 'listed';
      }
      const key = keyString(keyOf(event.object));
      if (event.type === 'DELETED') objects.delete(key);
      else objects.set(key, sink.intake(event.object));
      return 'listing';
    });
    if (initial.end === undefined) return this.#afterStreamingList(state, watched);
    return this.#afterWatch(initial.end, watched);
  }

  /** The stream ended before the initial events did. */
  #afterStreamingList(from: WorkState, watched: Watched): ReflectorState {
    const { type, logger } = this.#options;
    const error = watched.end === 'failed' ? watched.error : undefined;
    if (this.#attempt.signal.aborted || (error !== undefined && !isStreamingRefused(error))) {
      return this.#afterFailure(from, { error, lastedMs: 0 });
    }
    this.#streaming = false;
    logger.debug(`${type.kind}: the server has no streaming lists`, { error });
    return this.#listState();
  }

  async #watch(state: WatchState): Promise<ReflectorState> {
    const watched = await this.#follow(state, (event) => this.#receive(event));
    return this.#afterWatch(state.resourceVersion, watched);
  }

  #follow(from: WatchState | 'initialEvents', receive: WatchReceiver<T>): Promise<Watched> {
    return followWatch({ ...this.#options, attempt: this.#attempt }, from, receive);
  }

  /** Hands on an event of the watch that is the state, and notes how far it came. */
  #receive(event: WatchEvent<T>): 'listed' | 'leave' {
    const state = this.#state;
    if (state.phase !== 'watch') return 'leave';
    const { sink, metrics, type } = this.#options;
    metrics.watchEvents.add(1, { kind: type.kind, type: event.type });
    if (event.type !== 'BOOKMARK') sink.apply(event.type, sink.intake(event.object));
    const resourceVersion =
      event.type === 'BOOKMARK' ? event.resourceVersion : event.object.metadata.resourceVersion;
    const order = compareResourceVersions(resourceVersion, state.resourceVersion) ?? 1;
    if (event.type === 'BOOKMARK') {
      // The server's log was rolled back (restored from a backup): what changed since has versions
      // that a watch from here would never show.
      if (order < 0) {
        this.#state = this.#listState();
        return 'leave';
      }
      sink.progress(event.resourceVersion);
    }
    // A repeated event must not take us back.
    const newer = order > 0 && resourceVersion !== undefined && resourceVersion !== '';
    if (newer) this.#state = { phase: 'watch', resourceVersion, failures: 0 };
    return 'listed';
  }

  #afterWatch(began: string, watched: Watched): ReflectorState {
    const state = this.#state;
    if (state.phase !== 'watch') return state;
    const { lastedMs, established } = watched;
    const isNew = state.resourceVersion !== began;
    if (watched.end === 'failed') {
      const worked = isNew || (established && lastedMs >= workingWatchMs);
      // It says nothing against the version where it began.
      const from = worked ? { ...state, failures: 0 } : state;
      return this.#afterFailure(from, { error: watched.error, lastedMs, worked });
    }
    if (isNew || lastedMs >= shortWatchMs) return state;
    const after = `after ${Math.round(lastedMs)} ms, without anything new`;
    const message = `watch ${this.#options.type.kind}: the server ended it ${after}`;
    const error = new OperatorError('ConnectionFailed', message);
    return this.#afterFailure(state, { error, lastedMs });
  }

  #afterFailure(from: WorkState, { error, lastedMs, worked = false }: Failure): ReflectorState {
    if (this.#asked !== 'nothing') return from;
    const next = stateAfterFailure(from, error);
    if (next === 'unknownKind' || next === 'malformed') return this.#park(from, next, error);
    const then = next === 'relist' ? this.#listState() : next;
    this.#parked = false;
    // That a server forgets is its everyday life: no wait, unless it forgets at once.
    const expired = from.phase === 'watch' && isGone(error) && lastedMs >= shortWatchMs;
    const resumes = worked && then.phase === 'watch';
    const waitMs = (): number => (resumes ? this.#delay.afterHealth() : this.#delay.next());
    const delayMs = expired ? 0 : Math.max(waitMs(), retryAfterMs(error));
    this.#report(`${from.phase} failed, next: ${then.phase}`, { error, delayMs, quiet: expired });
    return expired ? then : { phase: 'backOff', error, delayMs, then };
  }

  #park(from: WorkState, why: ParkReason, error: unknown): ParkedState {
    const waitMs = why === 'malformed' ? this.#delay.longest() : this.#delay.next();
    const delayMs = Math.max(waitMs, retryAfterMs(error));
    const message = `${from.phase} failed, next: ${parkedFor[why]}`;
    this.#report(message, { error, delayMs, quiet: this.#parked });
    this.#parked = true;
    return { phase: 'parked', why, error, delayMs };
  }

  #report(
    message: string,
    { error, delayMs, quiet }: { error: unknown; delayMs: number; quiet: boolean },
  ): void {
    const { type, logger, metrics } = this.#options;
    this.#lastError = error;
    metrics.watchErrors.add(1, {
      kind: type.kind,
      code: isOperatorError(error) ? error.code : 'unknown',
    });
    const fields = { error, retryInMs: Math.round(delayMs) };
    if (quiet) logger.debug(`${type.kind}: ${message}`, fields);
    else logger.warn(`${type.kind}: ${message}`, fields);
  }
}
