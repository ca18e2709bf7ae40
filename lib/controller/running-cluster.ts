import { defaultMaxListeners, setMaxListeners } from 'node:events';
import type { Cache } from '../cache/index.js';
import type { Client } from '../client/index.js';
import type { Recorder } from '../events/index.js';
import type { KubernetesObject, ObjectKey, TypeReference } from '../object/index.js';
import type { Logger } from '../system/index.js';
import { OperatorError } from '../system/index.js';
import type { Source, SourceContext, StartedSource } from './sources.js';
import type { Trigger } from './trigger.js';
import type { AddOptions } from './queue.js';

/** A cluster that a controller runs on. */
export interface ControllerCluster {
  /** The name in keys, logs, triggers and status, without slashes; `''` for the only one. */
  readonly name: string;
  /** Usually a `cachedClient` of `cache`. */
  readonly client: Client;
  readonly cache: Cache;
  /**
   * Returns the recorder of events about objects of the cluster, for a reporter. @defaultValue a silent one
   */
  readonly recorder?: ((reportingController: string) => Recorder) | undefined;
}

/** The status of one source of a controller. */
export interface SourceStatus {
  readonly source: string;
  readonly synced: boolean;
  /** True if the kind is not served; the source checks for it repeatedly. */
  readonly parked: boolean;
  /** The current problem, or undefined. */
  readonly problem: unknown;
}

/** The status of one cluster of a controller. */
export interface ClusterStatus {
  readonly cluster: string;
  /** True once all existing objects were enqueued; the cluster's keys are reconciled from then on. */
  readonly synced: boolean;
  readonly sources: readonly SourceStatus[];
}

/** The sources of a controller on one cluster. It holds back the cluster's keys until they may be queued. */
export class RunningCluster implements ControllerCluster {
  readonly name: string;
  readonly client: Client;
  readonly cache: Cache;
  readonly recorder: ControllerCluster['recorder'];
  readonly #started: { readonly name: string; readonly source: StartedSource }[] = [];
  readonly #ending = new AbortController();
  /** Additions that are held back; undefined after `takeEarly`. */
  #early: Map<string, AddOptions> | undefined = new Map<string, AddOptions>();
  #isSynced = false;
  #problem: unknown;

  constructor({ name, client, cache, recorder }: ControllerCluster) {
    this.name = name;
    this.client = client;
    this.cache = cache;
    this.recorder = recorder;
  }

  get isSynced(): boolean {
    return this.#isSynced;
  }

  get isStopped(): boolean {
    return this.#ending.signal.aborted;
  }

  /** Starts the sources. If one throws, the caller must stop the cluster. */
  start(sources: readonly Source[], contextOf: (source: Source) => SourceContext): void {
    // Each source waits for its sync with this signal. By default Node warns about a leak at the eleventh listener.
    setMaxListeners(defaultMaxListeners + sources.length, this.#ending.signal);
    for (const source of sources) {
      this.#started.push({ name: source.name, source: source.start(contextOf(source)) });
    }
  }

  /**
   * Waits until the sources are synced or the cluster is stopped.
   * @throws the error of a source
   */
  async sync(): Promise<void> {
    const { signal } = this.#ending;
    try {
      await Promise.all(this.#started.map(async ({ source }) => source.whenSynced?.(signal)));
    } catch (error) {
      if (!signal.aborted) {
        this.#problem = error;
        throw error;
      }
    }
    this.#isSynced = !signal.aborted;
  }

  /** Returns the additions that were held back. Later additions are no longer held back. */
  takeEarly(): Iterable<[string, AddOptions]> {
    const early = this.#early ?? [];
    this.#early = undefined;
    return early;
  }

  /**
   * Holds back an addition.
   * @returns false if `takeEarly` was called before: then this addition is not held back
   */
  keepsBack(text: string, options: AddOptions): boolean {
    if (this.#early === undefined) return false;
    const known = this.#early.get(text) ?? options;
    this.#early.set(text, {
      priority: Math.max(known.priority ?? 0, options.priority ?? 0),
      // The delay restarts when the key enters the queue: slightly late, but the key waits for the sources
      // anyway.
      afterMs: Math.min(known.afterMs ?? 0, options.afterMs ?? 0),
    });
    return true;
  }

  /** Returns the keys that are held back. */
  waiting(): string[] {
    return [...(this.#early?.keys() ?? [])];
  }

  drop(text: string): void {
    this.#early?.delete(text);
  }

  /** Returns true if the cache shows the object, so that a replay of its kind's source includes it. */
  shows(type: TypeReference<KubernetesObject>, key: ObjectKey): boolean {
    return [false, true].some((isMetadataOnly) => {
      return this.cache.peek(type, isMetadataOnly)?.get(key) !== undefined;
    });
  }

  /** Makes the sources enqueue all existing objects again. */
  replay(trigger: Trigger): void {
    for (const { source } of this.#started) source.replay?.(trigger);
  }

  status(): ClusterStatus {
    const sources = this.#started.map(({ name, source }) => {
      const { synced = this.isSynced, parked = false, problem } = source.status?.() ?? {};
      return {
        source: name,
        synced,
        parked,
        problem: problem ?? (synced ? undefined : this.#problem),
      };
    });
    return { cluster: this.name, synced: this.isSynced, sources };
  }

  /** Stops the sources. Logs those that fail to stop. */
  async stop(logger: Logger): Promise<void> {
    this.#ending.abort(new OperatorError('Stopped', 'the controller was stopped'));
    const stopped = await Promise.allSettled(
      this.#started.map(async ({ source }) => source.stop()),
    );
    for (const each of stopped) {
      if (each.status === 'fulfilled') continue;
      logger.error('a source did not stop', { error: each.reason as unknown });
    }
  }
}
