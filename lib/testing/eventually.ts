import {
  errorMessage,
  sleep,
  systemClock,
  refuseUnknownOptions,
  OperatorError,
  VirtualClock,
} from '../system/index.js';
import type { Clock, Resolved } from '../system/index.js';

/** Options of {@link eventually}. */
export interface EventuallyOptions {
  /** The timeout by the clock, in milliseconds, more than 0. @defaultValue 10_000 */
  readonly timeoutMs?: number | undefined;
  /** The delay between two attempts, in milliseconds, at least 1. @defaultValue 50 */
  readonly intervalMs?: number | undefined;
  /**
   * A `VirtualClock` advances between attempts: to its next timer, by at most `intervalMs`.
   * @defaultValue the system clock
   */
  readonly clock?: Clock | undefined;
  /** Aborts the wait. @defaultValue none */
  readonly signal?: AbortSignal | undefined;
}

/** Fields of an assertion library's error, from which a test runner prints the difference. */
interface Difference {
  readonly actual?: unknown;
  readonly expected?: unknown;
  readonly showDiff?: boolean;
}

/**
 * Calls `check` until it no longer throws, and returns its result. For assertions about background work.
 *
 * @example
 * ```ts
 * await eventually(async () => {
 *   const { status } = await client.get(Deployment, key);
 *   expect(status?.readyReplicas).to.equal(2);
 * });
 * ```
 * @throws OperatorError `Timeout`: `check` still throws. The message has the last failure, which is also the
 * cause. An attempt that never ends counts as a failure; with a `VirtualClock`, it gets a second of real time as
 * well, for I/O.
 * @throws OperatorError `InvalidOption`: a number is out of its range.
 * @throws the signal's reason, as soon as `signal` is aborted.
 */
export async function eventually<T>(
  check: () => T | Promise<T>,
  options: EventuallyOptions = {},
): Promise<T> {
  const { timeoutMs, intervalMs, clock, signal } = resolveEventuallyOptions(options);
  const deadlineMs = clock.monotonicMs() + timeoutMs;
  let failure: { readonly error: unknown } | undefined;
  for (let tries = 1; ; tries++) {
    signal?.throwIfAborted();
    const outcome = await triedUntil(check, { clock, intervalMs, deadlineMs, signal });
    if (outcome?.type === 'value') return outcome.value;
    if (outcome !== undefined) failure = outcome;
    const leftMs = deadlineMs - clock.monotonicMs();
    if (leftMs <= 0) throw timedOut({ tries, timeoutMs, failure, isOpen: outcome === undefined });
    await letTimePass(clock, Math.min(intervalMs, leftMs), signal);
  }
}

type ResolvedEventuallyOptions = Resolved<EventuallyOptions, 'signal'>;

function resolveEventuallyOptions(options: EventuallyOptions): ResolvedEventuallyOptions {
  const { timeoutMs = 10_000, intervalMs = 50, clock = systemClock, signal } = options;
  if (!(timeoutMs > 0) || !(intervalMs >= 1)) {
    const got = `got timeoutMs ${timeoutMs}, intervalMs ${intervalMs}`;
    throw new OperatorError(
      'InvalidOption',
      `eventually: want timeoutMs above 0 and intervalMs of at least 1, ${got}`,
    );
  }
  const resolved = { timeoutMs, intervalMs, clock, signal };
  refuseUnknownOptions<EventuallyOptions>('eventually', options, resolved);
  return resolved;
}

type Outcome<T> =
  | { readonly type: 'value'; readonly value: T }
  | { readonly type: 'error'; readonly error: unknown };

interface Limits {
  readonly clock: Clock;
  readonly intervalMs: number;
  readonly deadlineMs: number;
  readonly signal: AbortSignal | undefined;
}

/** If the clock is virtual: the real time, by the system clock, that one attempt gets for its I/O. */
const longestIoMs = 1_000;

/** Returns the outcome of an attempt; undefined if it has not ended by the deadline. */
async function triedUntil<T>(
  check: () => T | Promise<T>,
  { clock, intervalMs, deadlineMs, signal }: Limits,
): Promise<Outcome<T> | undefined> {
  let outcome: Outcome<T> | undefined;
  const trying = outcomeOf(check).then((found) => (outcome = found));
  const isOpen = (): boolean => outcome === undefined;
  const leftMs = (): number => deadlineMs - clock.monotonicMs();
  if (!(clock instanceof VirtualClock)) {
    await endOrTime(trying, clock, { ms: leftMs(), signal });
    return outcome;
  }
  await clock.advance(0);
  // The check may need virtual time, such as a request with latency, or I/O, such as a request to a port, which takes
  // real time. Give virtual and real time in small portions, so that neither uses up the limit of the other.
  let ioLeftMs = longestIoMs;
  for (let share = 1; isOpen() && leftMs() > 0; share *= 2) {
    const ms = Math.min(share, ioLeftMs);
    ioLeftMs -= ms;
    if (ms > 0) await endOrTime(trying, systemClock, { ms, signal });
    if (isOpen()) await letTimePass(clock, Math.min(intervalMs * share, leftMs()), signal);
  }
  if (isOpen()) await endOrTime(trying, systemClock, { ms: ioLeftMs, signal });
  return outcome;
}

/** Resolves when `trying` does or the time has passed. @throws the signal's reason */
async function endOrTime(
  trying: Promise<unknown>,
  clock: Clock,
  { ms, signal }: { readonly ms: number; readonly signal: AbortSignal | undefined },
): Promise<void> {
  const ended = new AbortController();
  const ending = signal === undefined ? ended.signal : AbortSignal.any([signal, ended.signal]);
  const tooLate = sleep(clock, ms, ending).catch(() => {
    signal?.throwIfAborted();
  });
  try {
    await Promise.race([trying, tooLate]);
  } finally {
    ended.abort();
  }
}

async function outcomeOf<T>(check: () => T | Promise<T>): Promise<Outcome<T>> {
  try {
    return { type: 'value', value: await check() };
  } catch (error) {
    return { type: 'error', error };
  }
}

async function letTimePass(clock: Clock, maxMs: number, signal?: AbortSignal): Promise<void> {
  if (!(clock instanceof VirtualClock)) return sleep(clock, maxMs, signal);
  signal?.throwIfAborted();
  // At least 1 ms, because steps of 0 ms would never reach the deadline.
  await clock.advance(Math.max(1, Math.min(maxMs, clock.nextTimerMs ?? maxMs)));
}

interface Attempts {
  readonly tries: number;
  readonly timeoutMs: number;
  readonly failure: { readonly error: unknown } | undefined;
  /** True if the last attempt has not ended. */
  readonly isOpen: boolean;
}

function timedOut({ tries, timeoutMs, failure, isOpen }: Attempts): OperatorError {
  const { error } = failure ?? {};
  const last = errorMessage(error);
  const open = isOpen ? 'the last try did not end' : undefined;
  const why = [open, failure && `the last failure: ${last}`].filter(Boolean).join('; ');
  const message = `the check has not passed after ${timeoutMs / 1_000} s and ${tries} tries; ${why}`;
  const { actual, expected, showDiff } = (error ?? {}) as Difference;
  const difference = showDiff === undefined ? {} : { actual, expected, showDiff };
  return Object.assign(new OperatorError('Timeout', message, { cause: error }), difference);
}

/** Options of {@link advanceUntilIdle}. */
export interface AdvanceUntilIdleOptions {
  /** The limit of the time that passes, in milliseconds. @defaultValue 3_600_000: an hour */
  readonly maxMs?: number | undefined;
}

/**
 * Advances `clock` from timer to timer until none is left.
 * @returns the time that passed, in milliseconds
 * @throws OperatorError `Timeout`: timers are left. Some work continues forever, such as the watch of a
 * cache, a resync or a lease renewal: stop it first, or use `advance`.
 */
export async function advanceUntilIdle(
  clock: VirtualClock,
  options: AdvanceUntilIdleOptions = {},
): Promise<number> {
  const { maxMs = 3_600_000 } = options;
  refuseUnknownOptions<AdvanceUntilIdleOptions>('advanceUntilIdle', options, { maxMs });
  const startMs = clock.monotonicMs();
  await clock.advance(0);
  for (;;) {
    const { nextTimerMs } = clock;
    const movedMs = clock.monotonicMs() - startMs;
    if (nextTimerMs === undefined) return movedMs;
    if (movedMs + nextTimerMs > maxMs) {
      const message = `${clock.pendingTimers} timers still wait after ${movedMs} ms, the next for ${nextTimerMs} ms more`;
      throw new OperatorError('Timeout', `advanceUntilIdle: ${message}`);
    }
    await clock.advance(nextTimerMs);
  }
}
