import { ReconnectDelay } from '../cache/reconnect-delay.js';
import { sleep } from '../system/clock.js';
import type { Timer } from '../system/clock.js';
import { refuseUnknownOptions } from '../system/known-options.js';
import { OperatorError } from '../system/operator-error.js';
import type { Mapped } from './handlers.js';
import { enqueueKeys, enqueueMapped } from './mapped-keys.js';
import type { MappedCause } from './mapped-keys.js';
import type { ReconcileKey } from './reconcile-key.js';
import type { Source, SourceContext } from './source.js';

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
    const isOver = await sleep(clock, delay.next(), signal).then(
      () => false,
      () => true,
    );
    if (isOver) return;
  }
}

/** An event emitter: Node's EventEmitter, eventemitter3. */
export interface Emitter<T> {
  on(event: string, listener: (item: T) => void): unknown;
  off(event: string, listener: (item: T) => void): unknown;
}

/** Options of {@link emitterSource}. */
export interface EmitterSourceOptions<T> {
  readonly emitter: Emitter<T>;
  /** The event to listen to, and the name of the source. */
  readonly event: string;
  readonly mapper: ItemMapper<T>;
}

/** Creates a source from the events of an emitter. */
export function emitterSource<T>(options: EmitterSourceOptions<T>): Source {
  const { emitter, event, mapper } = options;
  const names = { emitter, event, mapper };
  refuseUnknownOptions<EmitterSourceOptions<T>>(`emitterSource ${event}`, options, names);
  return {
    name: event,
    start: (context) => {
      const listener = (item: T): void => {
        void enqueueItem(event, () => mapper(item), context);
      };
      emitter.on(event, listener);
      return { stop: () => void emitter.off(event, listener) };
    },
  };
}

/** Options of {@link timerSource}. */
export interface TimerSourceOptions {
  /** The name in logs, metrics and triggers. @defaultValue 'timer' */
  readonly name?: string | undefined;
  /** The delay between two rounds, in milliseconds; at least 1. */
  readonly everyMs: number;
  /** Starts the first round at once, not after `everyMs`. @defaultValue false */
  readonly atStart?: boolean | undefined;
  /** Returns the keys to reconcile in a round. */
  readonly requests: () => Mapped;
}

/**
 * Creates a source that enqueues keys periodically. The delay starts when a round is fully enqueued.
 * @throws OperatorError `InvalidOption`: `everyMs` is less than 1.
 */
export function timerSource(options: TimerSourceOptions): Source {
  const { name = 'timer', everyMs, atStart = false, requests } = options;
  const names = { name, everyMs, atStart, requests };
  refuseUnknownOptions<TimerSourceOptions>(`timerSource ${name}`, options, names);
  if (!(everyMs >= 1)) {
    throw new OperatorError('InvalidOption', `timerSource ${name}: everyMs ${everyMs}: want >= 1`);
  }
  return {
    name,
    start: (context) => {
      let timer: Timer | undefined;
      let isStopped = false;
      const round = async (): Promise<void> => {
        await enqueueItem(name, requests, context);
        arm(everyMs);
      };
      const arm = (afterMs: number): void => {
        if (!isStopped) timer = context.clock.setTimer(() => void round(), afterMs);
      };
      arm(atStart ? 0 : everyMs);
      return {
        stop: () => {
          isStopped = true;
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
      if (contexts.size === 0) {
        throw new OperatorError('Stopped', `source ${name}: no controller is running that uses it`);
      }
      const keys = await mapper(item);
      const taken = [...contexts].map((context, _, all) =>
        enqueueKeys(keysFor(context, keys, all), context, causeOf(name)),
      );
      return taken.reduce((sum, count) => sum + count, 0);
    },
  };
}

/** Returns the keys without those of other clusters that have their own context. */
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
