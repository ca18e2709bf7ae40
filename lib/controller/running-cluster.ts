import type { Cache } from '../cache/cache.js';
import type { Client } from '../client/client.js';
import type { Recorder } from '../events/recorder.js';
import type { KubernetesObject, ObjectKey } from '../object/kubernetes-object.js';
import type { TypeReference } from '../object/resource-type.js';
import type { Logger } from '../system/logger.js';
import { OperatorError } from '../system/operator-error.js';
import type { Source, SourceContext, StartedSource } from './source.js';
import type { Trigger } from './trigger.js';
import type { AddOptions } from './work-queue.js';

/** A cluster that a controller runs on. */
export interface ControllerCluster {
  /** Part of each key, in logs, triggers and status; no slashes. `''`: the only one. */
  readonly name: string;
  /** Mostly a `cachedClient` of `cache`. */
  readonly client: Client;
  readonly cache: Cache;
  /** The recorder of events about objects of the cluster, by reporter. @defaultValue a silent one */
  readonly recorder?: ((reportingController: string) => Recorder) | undefined;
}

/** How one source of a controller is doing. */
export interface SourceStatus {
  readonly source: string;
  readonly synced: boolean;
  /** Its kind is not served; it is looked for again and again. */
  readonly parked: boolean;
  /** What is wrong with it right now, or undefined. */
  readonly problem: unknown;
}

/** How one cluster of a controller is doing. */
export interface ClusterStatus {
  readonly cluster: string;
  /** All that existed was enqueued: its keys are reconciled. */
  readonly synced: boolean;
  readonly sources: readonly SourceStatus[];
}

/** The sources of a controller on one cluster. Its keys wait here until these are synced. */
export class RunningCluster implements ControllerCluster {
  readonly name: string;
  readonly client: Client;
  readonly cache: Cache;
  readonly recorder: ControllerCluster['recorder'];
  readonly #started: { readonly name: string; readonly source: StartedSource }[] = [];
  readonly #ending = new AbortController();
  /** What was added before it was synced; undefined: it is. */
  #early: Map<string, AddOptions> | undefined = new Map<string, AddOptions>();
  #problem: unknown;

  constructor({ name, client, cache, recorder }: ControllerCluster) {
    this.name = name;
    this.client = client;
    this.cache = cache;
    this.recorder = recorder;
  }

  get isSynced(): boolean {
    return this.#early === undefined;
  }

  get isStopped(): boolean {
    return this.#ending.signal.aborted;
  }

  /** Starts the sources. When one throws, those before it are to be stopped. */
  start(sources: readonly Source[], contextOf: (source: Source) => SourceContext): void {
    for (const source of sources) {
      this.#started.push({ name: source.name, source: source.start(contextOf(source)) });
    }
  }

  /**
   * Waits until the sources are synced, or the cluster is stopped.
   * @returns what was added meanwhile
   * @throws what a source throws
   */
  async sync(): Promise<ReadonlyMap<string, AddOptions>> {
    const { signal } = this.#ending;
    try {
      await Promise.all(this.#started.map(async ({ source }) => source.whenSynced?.(signal)));
    } catch (error) {
      if (!signal.aborted) {
        this.#problem = error;
        throw error;
      }
    }
    const early = this.#early ?? new Map<string, AddOptions>();
    if (signal.aborted) return new Map();
    this.#early = undefined;
    return early;
  }

  /** Keeps an addition back. @returns whether it did; false: the cluster is synced */
  keepsBack(text: string, options: AddOptions): boolean {
    if (this.#early === undefined) return false;
    const known = this.#early.get(text) ?? options;
    this.#early.set(text, {
      priority: Math.max(known.priority ?? 0, options.priority ?? 0),
      // Counted from the moment that it is let in, a little late: it waits for the sources anyway.
      afterMs: Math.min(known.afterMs ?? 0, options.afterMs ?? 0),
    });
    return true;
  }

  /** The keys that are kept back. */
  waiting(): string[] {
    return [...(this.#early?.keys() ?? [])];
  }

  drop(text: string): void {
    this.#early?.delete(text);
  }

  /** Whether the cache shows the object: a source of its kind tells of it once more when asked to. */
  shows(type: TypeReference<KubernetesObject>, key: ObjectKey): boolean {
    return [false, true].some((isMetadataOnly) => {
      return this.cache.peek(type, isMetadataOnly)?.get(key) !== undefined;
    });
  }

  /** Tells once more what exists. */
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

  /** Ends the sources. What does not stop is logged. */
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
