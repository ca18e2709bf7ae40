import { ChangeNotifier } from '../cache/index.js';
import type { EventRecorder } from '../events/index.js';
import { Event } from '../object/index.js';
import { asError, waited, whenAborted, OperatorError } from '../system/index.js';
import type { Clock, Logger } from '../system/index.js';
import type { RequiredAccess } from './access/required-access.js';

/** The point at which a manager starts a {@link Runnable}. */
export type RunnablePhase =
  /** First, before webhooks and caches: servers for scrapes and probes. */
  | 'server'
  /** After the servers and before the caches: lists may need conversion webhooks. */
  | 'webhook'
  /** After the caches have synced, on every replica. */
  | 'replica'
  /** Last, on the leader only. */
  | 'leader';

/** Argument of a runnable's `run`. */
export interface RunnableContext {
  /** Aborted when the runnable must end: the manager stops or, in phase `leader`, loses the lease. */
  readonly signal: AbortSignal;
  readonly logger: Logger;
  /** Reports that the runnable is ready; phases after `server` and `webhook` wait for it. */
  readonly ready: () => void;
}

/** A component that a manager runs in addition to its controllers. */
export interface Runnable {
  /** Name in logs, errors and readyz. */
  readonly name: string;
  /** The phase of the manager that starts the runnable. @defaultValue 'leader' */
  readonly phase?: RunnablePhase | undefined;
  /** Address that the runnable listens on, for the manager's status. @defaultValue it does not listen */
  readonly url?: string | undefined;
  /**
   * Resolves when the runnable has ended. If it throws, the manager stops and its `run` rejects with the
   * error. Returning before `signal` is aborted counts as ready and finished.
   */
  run(context: RunnableContext): Promise<void>;
}

/** State of a runnable. */
export type RunnableState = 'waiting' | 'starting' | 'ready' | 'ended' | 'failed';

/** Dependencies that the groups of a manager share. */
interface RunnableGroupParts {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Time for runnables to become ready, in milliseconds. */
  readonly startTimeoutMs: number;
  /** Called with the error of a runnable that fails before it is stopped. */
  readonly failed: (error: unknown) => void;
}

interface Started {
  readonly runnable: Runnable;
  readonly ending: AbortController;
  state: RunnableState;
  over: Promise<void>;
}

/** Minimum time for a runnable to end after a stop, in milliseconds, even if no grace period is left. */
export const unwindMs = 1_000;

/** Starts and stops the runnables of one phase. */
export class RunnableGroup {
  readonly phase: RunnablePhase;
  readonly #parts: RunnableGroupParts;
  readonly #started = new Map<Runnable, Started>();
  readonly #changes = new ChangeNotifier();

  constructor(phase: RunnablePhase, parts: RunnableGroupParts) {
    this.phase = phase;
    this.#parts = parts;
  }

  /** Returns the state of `runnable`; undefined if it was not started. */
  state(runnable: Runnable): RunnableState | undefined {
    return this.#started.get(runnable)?.state;
  }

  /** Starts a runnable. An error that its `run` throws synchronously counts as a failure too. */
  start(runnable: Runnable): void {
    const ending = new AbortController();
    const over = Promise.resolve();
    const started: Started = { runnable, ending, state: 'starting', over };
    this.#started.set(runnable, started);
    started.over = this.#run(started);
  }

  /**
   * Waits until every runnable is ready or has ended.
   * @throws OperatorError `Timeout`: a runnable was not ready in time; the message names it.
   * @throws the signal's reason, as soon as it is aborted.
   */
  async whenReady(signal: AbortSignal): Promise<void> {
    const { clock, startTimeoutMs: ms } = this.#parts;
    const waiting = (): string[] =>
      [...this.#started.values()]
        .filter(({ state }) => state === 'starting')
        .map(({ runnable }) => runnable.name);
    const isReady = (): boolean => waiting().length === 0;
    const timeout = ms === Infinity ? undefined : { clock, ms };
    if (await this.#changes.until(isReady, { signal, timeout })) return;
    const message = `runnables are not ready after ${ms} ms: ${waiting().join(', ')} (phase ${this.phase})`;
    throw new OperatorError('Timeout', message);
  }

  /**
   * Aborts all runnables, or one, and waits at most `graceMs` for their end.
   * @returns the names of those that have not ended
   */
  async stop(graceMs: number, only?: Runnable): Promise<readonly string[]> {
    const stopping = [...this.#started.values()].filter(
      ({ runnable }) => only === undefined || runnable === only,
    );
    const left = new Set(stopping);
    const ended = stopping.map(async (each) => {
      each.ending.abort(new OperatorError('Stopped', `${each.runnable.name} has to end`));
      await each.over;
      left.delete(each);
      this.#changes.notify();
    });
    void Promise.all(ended);
    const timeout = { clock: this.#parts.clock, ms: Math.max(graceMs, unwindMs) };
    await this.#changes.until(() => left.size === 0, { timeout });
    for (const each of stopping) {
      if (this.#started.get(each.runnable) === each) this.#started.delete(each.runnable);
    }
    return [...left].map(({ runnable }) => runnable.name);
  }

  async #run(started: Started): Promise<void> {
    const { runnable, ending } = started;
    const logger = this.#parts.logger.child({ runnable: runnable.name });
    const become = (state: RunnableState): void => {
      started.state = state;
      this.#changes.notify();
    };
    const ready = (): void => {
      if (started.state === 'starting') become('ready');
    };
    try {
      await runnable.run({ signal: ending.signal, logger, ready });
      become('ended');
    } catch (thrown) {
      const error = asError(thrown);
      become('failed');
      if (!ending.signal.aborted) {
        logger.error(`${runnable.name} failed`, { error });
        this.#parts.failed(error);
      } else if (error !== ending.signal.reason) {
        // The runnable was being stopped: its error does not fail the manager.
        logger.warn(`${runnable.name} failed while it ended`, { error });
      }
    }
  }
}

/** Access that writing Events needs. */
export const eventAccess: readonly RequiredAccess[] = [{ type: Event, verbs: ['create', 'patch'] }];

/** Time to write the last Events at a stop, in milliseconds. */
const graceMs = 2_000;

/**
 * Returns a runnable that stops a recorder after the controllers have stopped. The last Event often explains why an
 * operator stops, so pending Events are written first, for a limited time in case the server does not answer.
 */
export function recorderEnd(
  name: string,
  recorder: Pick<EventRecorder, 'flush' | 'stop'>,
  clock: Clock,
): Runnable {
  return {
    name: `${name}: events`,
    phase: 'server',
    run: async ({ signal, ready }) => {
      ready();
      await whenAborted(signal);
      await endRecorder(recorder, clock);
    },
  };
}

/** Writes pending Events within a time limit, then stops the recorder. */
export async function endRecorder(
  recorder: Pick<EventRecorder, 'flush' | 'stop'>,
  clock: Clock,
): Promise<void> {
  const flushed = new AbortController();
  const late = waited(clock, graceMs, flushed.signal);
  await Promise.race([recorder.flush(), late]);
  flushed.abort();
  await recorder.stop();
}
