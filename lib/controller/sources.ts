import type { Cache } from '../cache/index.js';
import { ReconnectDelay } from '../cache/index.js';
import type { Client } from '../client/index.js';
import type { KubernetesObject } from '../object/index.js';
import { waited, refuseNonNumbers, refuseUnknownOptions, OperatorError } from '../system/index.js';
import type { Clock, Timer, Logger, Random } from '../system/index.js';
import type { ReconcileKey } from './keys.js';
import type { MapContext, Mapped } from './kind-source.js';
import type { Trigger } from './trigger.js';

/** Returns the keys to reconcile after `item` arrived. */
export type ItemMapper<T> = (item: T) => Mapped;

/** Options of {@link streamSource}. */
export interface StreamSourceOptions<T> {
  /** The name in logs, metrics and triggers. */
  readonly name: string;
  /** Opens the stream; it must end when `signal` is aborted. */
  readonly open: (signal: AbortSignal) => AsyncIterable<T>;
  readonly mapper: ItemMapper<T>;
}

/**
 * Creates a source from the items of an async iterable. If the iterable throws, the error is logged and
 * counted, and the source opens it again after a growing delay. If it ends, the source stays idle.
 */
export function streamSource<T>(options: StreamSourceOptions<T>): Source {
  const { name, open, mapper } = options;
  const names = { name, open, mapper };
  refuseUnknownOptions<StreamSourceOptions<T>>(`streamSource ${name}`, options, names);
  return {
    name,
    start: (context) => {
      const ended = new AbortController();
      const health: StreamHealth = { problem: undefined };
      const running = follow(options, { context, health }, ended.signal);
      return {
        status: () => health,
        stop: async () => {
          ended.abort(new OperatorError('Stopped', `source ${name}: the controller was stopped`));
          await running;
        },
      };
    },
  };
}

/** The error that broke the stream, until the next item arrives. */
interface StreamHealth {
  problem: unknown;
}

async function follow<T>(
  { name, open, mapper }: StreamSourceOptions<T>,
  { context, health }: { readonly context: SourceContext; readonly health: StreamHealth },
  signal: AbortSignal,
): Promise<void> {
  const { clock, random } = context;
  const delay = new ReconnectDelay(clock, random);
  for (;;) {
    try {
      for await (const item of open(signal)) {
        health.problem = undefined;
        await enqueueItem(name, () => mapper(item), context);
      }
      return;
    } catch (error) {
      if (signal.aborted) return;
      health.problem = error;
      context.failed('stream', error);
    }
    if (!(await waited(clock, delay.next(), signal))) return;
  }
}

/** Options of {@link timerSource}. */
export interface TimerSourceOptions {
  /** The name in logs, metrics and triggers. @defaultValue 'timer' */
  readonly name?: string | undefined;
  /** The delay between two rounds, in milliseconds; at least 1. */
  readonly everyMs: number;
  /** Starts the first round at once, not after `everyMs`. @defaultValue false */
  readonly atStart?: boolean | undefined;
  /** Returns the keys to reconcile in a round, such as those of all objects that `client.list` returns. */
  readonly requests: (context: Omit<MapContext, 'event'>) => Mapped;
}

/**
 * Creates a source that enqueues keys periodically. The delay starts when a round is fully enqueued.
 * @throws OperatorError `InvalidOption`: `everyMs` is less than 1.
 */
export function timerSource(options: TimerSourceOptions): Source {
  const { name = 'timer', everyMs, atStart = false, requests } = options;
  const names = { name, everyMs, atStart, requests };
  refuseUnknownOptions<TimerSourceOptions>(`timerSource ${name}`, options, names);
  refuseNonNumbers(`timerSource ${name}`, { everyMs });
  if (!(everyMs >= 1)) {
    throw new OperatorError('InvalidOption', `timerSource ${name}: everyMs ${everyMs}: want >= 1`);
  }
  return {
    name,
    start: (context) => {
      let timer: Timer | undefined;
      const ending = new AbortController();
      const { signal } = ending;
      const { cluster, client, logger, clock } = context;
      const failed: SourceContext['failed'] = (what, error) => {
        if (!signal.aborted) context.failed(what, error);
      };
      const round = async (): Promise<void> => {
        const map = (): Mapped => requests({ cluster, client, logger, clock, signal });
        await enqueueItem(name, map, { ...context, failed });
        arm(everyMs);
      };
      const arm = (afterMs: number): void => {
        if (!signal.aborted) timer = clock.setTimer(() => void round(), afterMs);
      };
      arm(atStart ? 0 : everyMs);
      return {
        stop: () => {
          ending.abort(new OperatorError('Stopped', `source ${name}: stopped`));
          timer?.cancel();
        },
      };
    },
  };
}

/** Options of {@link callbackSource}. */
export interface CallbackSourceOptions<T> {
  /** The name in logs, metrics and triggers. @defaultValue 'callback' */
  readonly name?: string | undefined;
  readonly mapper: ItemMapper<T>;
}

/** A source that is fed by calls. */
export interface CallbackSource<T> extends Source {
  /**
   * Enqueues the keys of `item`; for example in the handler of a webhook.
   *
   * With sharding only the owner of a key reconciles it, and a call reaches one replica. Keys owned by other
   * replicas are dropped, and the owners are not notified. See docs/sharding.md.
   * @returns the number of accepted keys; lower than the number of mapped keys if other replicas own some
   * @throws OperatorError `Stopped`: no running controller uses the source.
   * @throws the mapper's error, so that the caller can report an invalid item.
   */
  notify(item: T): Promise<number>;
}

/** Creates a source that is fed by calls of `notify`: an HTTP callback, a message, a test. */
export function callbackSource<T>(options: CallbackSourceOptions<T>): CallbackSource<T> {
  const { name = 'callback', mapper } = options;
  const names = { name, mapper };
  refuseUnknownOptions<CallbackSourceOptions<T>>(`callbackSource ${name}`, options, names);
  const contexts = new Set<SourceContext>();
  return {
    name,
    start: (context) => {
      contexts.add(context);
      return { stop: () => void contexts.delete(context) };
    },
    notify: async (item) => {
      const keys = await mapper(item);
      // Checked last: the controller may have been stopped meanwhile.
      if (contexts.size === 0) {
        throw new OperatorError(
          'Stopped',
          `source ${name}: not started; add it to a running controller`,
        );
      }
      const taken = [...contexts].map((context, _, all) =>
        enqueueKeys(keysFor(context, keys, all), context, causeOf(name)),
      );
      return taken.reduce((sum, count) => sum + count, 0);
    },
  };
}

/** Returns the keys for a cluster. Leaves out keys of other clusters for which the source was started too. */
function keysFor(
  { cluster }: SourceContext,
  keys: readonly ReconcileKey[],
  contexts: readonly SourceContext[],
): readonly ReconcileKey[] {
  // `enqueueKeys` rejects anything but an array.
  if (!Array.isArray(keys)) return keys;
  return (keys as readonly (ReconcileKey | undefined)[]).filter((key) => {
    const named = key?.cluster;
    return (
      named === undefined ||
      named === cluster ||
      !contexts.some((context) => context.cluster === named)
    );
  }) as readonly ReconcileKey[];
}

function enqueueItem(
  source: string,
  map: () => Mapped,
  context: SourceContext,
): Promise<void> | undefined {
  return enqueueMapped(map, context, causeOf(source));
}

function causeOf(source: string): MappedCause {
  return { request: { trigger: { type: 'source', source } } };
}

/** A source of a controller's keys. On several clusters it is started once for each. */
export interface Source {
  /** The name in logs, metrics and triggers. */
  readonly name: string;
  /** Starts the source. It must not throw: report later errors to `context.failed`. */
  start(context: SourceContext): StartedSource;
}

/** A source that was started. */
export interface StartedSource {
  /**
   * Waits until all initially existing items were enqueued. Absent if there is nothing to wait for.
   * @throws the signal's reason, as soon as it is aborted.
   */
  readonly whenSynced?: ((signal: AbortSignal) => Promise<void>) | undefined;
  /**
   * Enqueues all existing items again, with `trigger` and as at the start. Absent if the source keeps no
   * items.
   */
  readonly replay?: ((trigger: Trigger) => void) | undefined;
  /** Returns the status; cheap. Absent if the source has no status. */
  readonly status?: (() => StartedSourceStatus) | undefined;
  /** Stops the source. It must leave no timer, listener or call behind. */
  stop(): void | Promise<void>;
}

/** The status of a source. */
export interface StartedSourceStatus {
  /** True once all initially existing items were enqueued. */
  readonly synced?: boolean | undefined;
  /** True if the kind is not served; the source checks for it repeatedly. @defaultValue false */
  readonly parked?: boolean | undefined;
  /** The current problem, or undefined. */
  readonly problem?: unknown;
}

/** The context of a source. */
export interface SourceContext {
  /** The cluster that the source was started for; `''` for the only one. */
  readonly cluster: string;
  readonly cache: Cache;
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /**
   * Requests a reconcile of `key`, by default in the source's cluster.
   * @returns false if another replica owns the key and must be notified. This replica reconciles the key only
   *   if it acquires it.
   * @throws OperatorError `InvalidValue`: no object can have such a key.
   */
  enqueue(key: ReconcileKey, request: EnqueueOptions): boolean;
  /** Logs and counts an exception of `what` (a mapper, a stream). */
  failed(what: string, error: unknown, object?: KubernetesObject): void;
}

/** Options of {@link SourceContext.enqueue}. */
export interface EnqueueOptions {
  readonly trigger: Trigger;
  /** The queue takes keys of a higher priority first. @defaultValue 0 */
  readonly priority?: number | undefined;
}

/** Accepts keys, and reports errors about them. */
export type MappedContext = Pick<SourceContext, 'enqueue' | 'failed'>;

/** The cause of a mapper's call. */
export interface MappedCause {
  readonly request: EnqueueOptions;
  /** The object, for the log. */
  readonly object?: KubernetesObject | undefined;
}

/**
 * Enqueues the keys that `map` returns. Errors are reported per key: one invalid key does not block the valid
 * ones.
 * @returns a promise only if `map` returned one
 */
export function enqueueMapped(
  map: () => Mapped,
  context: MappedContext,
  cause: MappedCause,
): Promise<void> | undefined {
  try {
    const answer = map();
    if (isThenable(answer)) return enqueueLater(answer, context, cause);
    // Enqueue synchronously if possible, so that keys keep the order of events.
    enqueueKeys(answer, context, cause);
  } catch (error) {
    context.failed('mapper', error, cause.object);
  }
  return undefined;
}

async function enqueueLater(
  answer: PromiseLike<readonly ReconcileKey[]>,
  context: MappedContext,
  cause: MappedCause,
): Promise<void> {
  try {
    enqueueKeys(await answer, context, cause);
  } catch (error) {
    context.failed('mapper', error, cause.object);
  }
}

/**
 * Enqueues keys.
 * @returns the number of accepted keys; keys of another replica are not accepted
 * @throws OperatorError `InvalidValue`: `keys` is not an array.
 */
export function enqueueKeys(
  keys: readonly ReconcileKey[],
  context: MappedContext,
  { request, object }: MappedCause,
): number {
  // A string is iterable and has a length too.
  if (!Array.isArray(keys)) {
    const message = `a mapper must return an array of keys, got ${nameOf(keys)}`;
    throw new OperatorError('InvalidValue', message);
  }
  let taken = 0;
  for (const key of keys as readonly ReconcileKey[]) {
    try {
      if (context.enqueue(key, request)) taken++;
    } catch (error) {
      context.failed('mapper', error, object);
    }
  }
  return taken;
}

function nameOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

/** Returns true if `value` is a promise or another thenable. */
export function isThenable<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function';
}
