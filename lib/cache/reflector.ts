import { Deadline } from '../client/index.js';
import type { WatchEvent } from '../client/index.js';
import type { KubernetesObject, TypeReference } from '../object/index.js';
import { waited, OperatorError } from '../system/index.js';
import type { MetricLabels } from '../system/index.js';
import { InitialEvents, listPages, followWatch } from './list-and-watch.js';
import type {
  InitialList,
  WatchHabits,
  WatchReceiver,
  WatchScope,
  Watched,
} from './list-and-watch.js';
import { isStreamingRefused, Setbacks, shortWatchMs } from './setbacks.js';
import type {
  ListState,
  ParkReason,
  ReflectorState,
  WatchState,
  WorkState,
  Failure,
} from './setbacks.js';
import { compareResourceVersions } from './resource-version.js';
import type { InformerParts } from './shared-informer.js';

/** Receives what a reflector reads, in the server's order. Its methods must not throw. */
export interface ReflectorSink<T extends KubernetesObject> {
  /** Applied to each object of a list on arrival, so that a large list is never held unprocessed. */
  intake(object: T): T;
  /** Receives the whole collection at `resourceVersion`, by key. */
  replace(objects: ReadonlyMap<string, T>, resourceVersion: string): void;
  /**
   * Receives one change, as the server sent it. The same change can arrive twice.
   * @returns the version of the change; undefined if a malformed object has none
   */
  apply(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: T): string | undefined;
  /** Receives a bookmark: all changes up to `resourceVersion` have arrived. */
  progress(resourceVersion: string): void;
  /** Called when the state of the reflector has changed. */
  stateChanged(): void;
}

export interface ReflectorOptions<T extends KubernetesObject> extends Pick<
  InformerParts,
  | 'client'
  | 'clock'
  | 'random'
  | 'logger'
  | 'metrics'
  | 'kindLabel'
  | 'streamingLists'
  | 'knownParts'
> {
  readonly type: TypeReference<T>;
  readonly scope: WatchScope;
  /** Returns whether objects must include `managedFields`. Call {@link Reflector.relist} when the result changes. */
  readonly keepManagedFields: () => boolean;
  readonly sink: ReflectorSink<T>;
  /** Called before each list; if it throws, the list counts as failed. @defaultValue nothing */
  readonly beforeList?: (() => Promise<void>) | undefined;
}

/** A watch that lasted this long counts as working, even without an event. */
const workingWatchMs = 10_000;

/**
 * Mirrors a collection of the API server into a sink: it lists, then watches from the list's version, until
 * `stop` is called. Reconnects do not lose or reorder changes.
 *
 * ## Flow
 * The diagram in `setbacks.ts` shows the states. `#step` runs one state and returns the next.
 *
 * ## Failures
 * - Each failure is logged and counted, and is `problem` until the reflector recovers.
 * - A dropped watch resumes after its last version. An expired version (410) causes a new list.
 * - A watch worked if it lasted 10 s or showed something new. When such a watch is cut, it resumes after 0.8
 *   to 1.6 s, however often that happens. client-go's reflector would wait up to a minute.
 * - The delay after any other failure grows with each failure.
 * - A kind that is not served parks the reflector; the interval of its checks grows to 5 s.
 * - A request that the client refuses to send parks it too, with long intervals.
 */
export class Reflector<T extends KubernetesObject> {
  readonly #options: ReflectorOptions<T>;
  readonly #setbacks: Setbacks;
  readonly #habits: WatchHabits = { sendsBookmarks: false };
  readonly #labels: Readonly<Record<WatchEvent<T>['type'], MetricLabels>>;
  #state: ReflectorState;
  #problem: unknown;
  #streaming: boolean;
  #parked: ParkReason | undefined;
  #heardAtMs: number | undefined;
  #attempt = new AbortController();
  #running: Promise<void> | undefined;
  #asked: 'nothing' | 'relist' | 'stop' = 'nothing';

  constructor(options: ReflectorOptions<T>) {
    this.#options = options;
    const labelsOf = (type: string): MetricLabels => ({ kind: options.kindLabel, type });
    this.#labels = {
      ...{ ADDED: labelsOf('ADDED'), MODIFIED: labelsOf('MODIFIED') },
      ...{ DELETED: labelsOf('DELETED'), BOOKMARK: labelsOf('BOOKMARK') },
    };
    this.#setbacks = new Setbacks({ ...options, kind: options.type.kind });
    this.#streaming = options.streamingLists;
    this.#state = this.#listState();
  }

  /** True while a list is prepared or under way. */
  get isListing(): boolean {
    const { phase } = this.#state;
    return this.#running !== undefined && (phase === 'list' || phase === 'streamingList');
  }

  /** The error that keeps the reflector from following the server; undefined if there is no problem. */
  get problem(): unknown {
    return this.#problem;
  }

  /** The reason for parking; undefined if not parked. See {@link ParkedState}. */
  get parked(): ParkReason | undefined {
    return this.#parked;
  }

  /** The monotonic time of the last watch event or list. */
  get heardAtMs(): number | undefined {
    return this.#heardAtMs;
  }

  /** Starts the reflector; later calls do nothing. */
  start(): void {
    this.#running ??= this.#run();
  }

  /** Lists again, so that all objects are prepared for the cache again. */
  relist(): void {
    if (this.#running !== undefined) this.#ask('relist');
  }

  /** Stops the reflector; resolves when its last request has ended. */
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
    // Keep the problem during a retry, so that a status read does not miss it.
    if (state.phase === 'backOff' || state.phase === 'parked') this.#problem = state.error;
    else if (state.phase === 'watch') this.#problem = undefined;
    if (state.phase === 'watch' || state.phase === 'backOff') this.#parked = undefined;
    if (state.phase === 'parked') this.#parked = state.why;
    this.#options.sink.stateChanged();
  }

  #listState(): WorkState {
    return this.#streaming ? { phase: 'streamingList' } : { phase: 'list', pages: 'many' };
  }

  async #step(state: ReflectorState): Promise<ReflectorState> {
    switch (state.phase) {
      case 'streamingList':
        return (await this.#prepared(state)) ?? this.#streamingList(state);
      case 'list':
        return (await this.#prepared(state)) ?? this.#list(state);
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
    // An abort is not a failure here: `#run` checks the requested action.
    await waited(this.#options.clock, delayMs, this.#attempt.signal);
  }

  /** @returns the state after a failure, or undefined if the list can start */
  async #prepared(state: WorkState): Promise<ReflectorState | undefined> {
    // `beforeList` may wait for a response, which must not delay a stop.
    const attempt = new Deadline(this.#attempt.signal, this.#options.clock, Infinity);
    try {
      await attempt.until(this.#options.beforeList?.());
      return undefined;
    } catch (error) {
      return this.#afterFailure(state, { error });
    } finally {
      attempt.release();
    }
  }

  async #list(state: ListState): Promise<ReflectorState> {
    const { sink } = this.#options;
    const { signal } = this.#attempt;
    const intake = (object: T): T => sink.intake(object);
    try {
      return this.#listed(
        await listPages({ ...this.#options, intake, pages: state.pages, signal }),
      );
    } catch (error) {
      return this.#afterFailure(state, { error });
    }
  }

  #listed({ objects, resourceVersion }: InitialList<T>): WatchState {
    const { sink, metrics, kindLabel, clock } = this.#options;
    this.#heardAtMs = clock.monotonicMs();
    metrics.relists.add(1, { kind: kindLabel });
    sink.replace(objects, resourceVersion);
    return { phase: 'watch', resourceVersion, failures: 0 };
  }

  async #streamingList(state: WorkState): Promise<ReflectorState> {
    const initial = new InitialEvents<T>((object) => this.#options.sink.intake(object));
    const { clock } = this.#options;
    let began: { readonly resourceVersion: string; readonly atMs: number } | undefined;
    const watched = await this.#follow('initialEvents', (event, heardAtMs) => {
      if (began !== undefined) return this.#receive(event, heardAtMs);
      // A server that ignores `sendInitialEvents` (before 1.27) sends bookmarks by the minute, but none that ends
      // the initial events. Events of a busy kind would hide that until the time-out of the watch.
      if (event.type === 'BOOKMARK' && !event.initialEventsEnd) return 'leave';
      const list = initial.take(event);
      if (list === undefined) return 'listing';
      began = { resourceVersion: list.resourceVersion, atMs: clock.monotonicMs() };
      this.#enter(this.#listed(list));
      return 'listed';
    });
    if (began === undefined) return this.#afterStreamingList(state, watched);
    // Count the watch from the end of the list. Otherwise a slow list whose watch expires at once would have no delay.
    const lastedMs = clock.monotonicMs() - began.atMs;
    return this.#afterWatch(began.resourceVersion, { ...watched, lastedMs });
  }

  /** Handles a stream that ended before its initial events did. */
  #afterStreamingList(from: WorkState, watched: Watched): ReflectorState {
    const { type, logger } = this.#options;
    const error = watched.end === 'failed' ? watched.error : undefined;
    if (this.#attempt.signal.aborted || (error !== undefined && !isStreamingRefused(error))) {
      return this.#afterFailure(from, { error });
    }
    this.#streaming = false;
    logger.debug(`${type.kind}: the server has no streaming lists`, { error });
    return this.#listState();
  }

  async #watch(state: WatchState): Promise<ReflectorState> {
    const watched = await this.#follow(state, (event, heardAtMs) =>
      this.#receive(event, heardAtMs),
    );
    return this.#afterWatch(state.resourceVersion, watched);
  }

  #follow(from: WatchState | 'initialEvents', receive: WatchReceiver<T>): Promise<Watched> {
    return followWatch(
      { ...this.#options, attempt: this.#attempt, habits: this.#habits },
      from,
      receive,
    );
  }

  /** Forwards an event of the current watch and records its version. */
  #receive(event: WatchEvent<T>, heardAtMs: number): 'listed' | 'leave' {
    const state = this.#state;
    if (state.phase !== 'watch') return 'leave';
    const { sink, metrics } = this.#options;
    this.#heardAtMs = heardAtMs;
    metrics.watchEvents.add(1, this.#labels[event.type]);
    const resourceVersion =
      event.type === 'BOOKMARK' ? event.resourceVersion : sink.apply(event.type, event.object);
    const order = compareResourceVersions(resourceVersion, state.resourceVersion) ?? 1;
    if (event.type === 'BOOKMARK') {
      // The server's log was rolled back (restored from a backup): a watch from here would not show the
      // changes since then, whose versions are lower.
      if (order < 0) {
        this.#state = this.#listState();
        return 'leave';
      }
      sink.progress(event.resourceVersion);
    }
    // A repeated event must not move the version back.
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
      // If the watch has worked, its failures so far do not count: its start version is usable.
      const from = worked ? { ...state, failures: 0 } : state;
      return this.#afterFailure(from, { error: watched.error, lastedMs, worked });
    }
    if (lastedMs >= shortWatchMs) return { ...state, isResumed: true };
    if (isNew) return state;
    const after = `after ${Math.round(lastedMs)} ms, without anything new`;
    const message = `watch ${this.#options.type.kind}: the server ended it ${after}`;
    const error = new OperatorError('ConnectionFailed', message);
    return this.#afterFailure(state, { error, lastedMs });
  }

  #afterFailure(from: WorkState, failure: Omit<Failure, 'known'>): ReflectorState {
    if (this.#asked !== 'nothing') return from;
    const known = this.#parked !== undefined;
    return this.#setbacks.stateAfter(from, { ...failure, known }, this.#listState());
  }
}
