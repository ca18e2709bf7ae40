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

/** Says what to reconcile since `item` arrived. */
export type ItemMapper<T> = (item: T) => Mapped;

/** Options of {@link streamSource}. */
export interface StreamSourceOptions<T> {
  /** For logs, metrics and triggers. */
  readonly name: string;
  /** Begins the stream; it has to end when `signal` is aborted. */
  readonly open: (signal: AbortSignal) => AsyncIterable<T>;
  readonly mapper: ItemMapper<T>;
}

/**
 * The items of an async iterable. One that throws is logged, counted and opened again after a growing
 * delay; one that ends has ended.
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

/** Why the stream broke, until the next one brings something. */
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

/** What emits: Node's EventEmitter, eventemitter3. */
export interface Emitter<T> {
  on(event: string, listener: (item: T) => void): unknown;
  off(event: string, listener: (item: T) => void): unknown;
}

/** Options of {@link emitterSource}. */
export interface EmitterSourceOptions<T> {
  readonly emitter: Emitter<T>;
  /** The event to listen to; also the name of the source. */
  readonly event: string;
  readonly mapper: ItemMapper<T>;
}

/** The events of an emitter. */
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
  /** For logs, metrics and triggers. @defaultValue 'timer' */
  readonly name?: string | undefined;
  /** The time from one round to the next, in milliseconds, at least 1. */
  readonly everyMs: number;
  /** The first round comes at the start, not after `everyMs`. @defaultValue false */
  readonly atStart?: boolean | undefined;
  /** What to reconcile in a round. */
  readonly requests: () => Mapped;
}

/**
 * A round of requests at a steady pace. A round begins when the one before is enqueued.
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
  /** For logs, metrics and triggers. @defaultValue 'callback' */
  readonly name?: string | undefined;
  readonly mapper: ItemMapper<T>;
}

/** A source that is fed by calls. */
export interface CallbackSource<T> extends Source {
  /**
   * Enqueues what `item` maps to; for the handler of a webhook, for example.
   *
   * Under sharding only the owner of a key reconciles it, and what comes by a call comes to one
   * replica: a key that another one owns is not taken, and nobody hears of it. See docs/sharding.md.
   * @returns how many keys were taken; less than `item` maps to where other replicas own some
   * @throws OperatorError `Stopped`: no controller that uses the source is running.
   * @throws what the mapper throws: a caller should hear of a bad item.
   */
  notify(item: T): Promise<number>;
}

/** A source that is fed by calls of `notify`: an HTTP callback, a message, a test. */
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

/** Without those that name another cluster which hears of them, too. */
function keysFor(
  { cluster }: SourceContext,
  keys: readonly ReconcileKey[],
  contexts: readonly SourceContext[],
): readonly ReconcileKey[] {
  // What is no array of keys is refused where it is enqueued.
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
