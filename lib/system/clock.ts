import { uptime } from 'node:os';

/** A running timer. */
export interface Timer {
  /** Cancels the timer; has no effect after it fired. */
  cancel(): void;
}

/** The only source of time in this package, so that tests can control it. */
export interface Clock {
  /** Wall-clock time in milliseconds since 1970, UTC. May jump. */
  now(): number;
  /**
   * Milliseconds since a fixed moment, with fractions; never jumps, and advances while the process is
   * stopped.
   */
  monotonicMs(): number;
  /**
   * Like `monotonicMs`, but coarser (10 ms), and on Linux also advances while the machine is suspended.
   * Absent: the clock has only `monotonicMs`.
   */
  uptimeMs?(): number;
  /** Calls `callback` once, after `delayMs` milliseconds or more. Keeps the process alive. */
  setTimer(callback: () => void, delayMs: number): Timer;
}

// Node's timers treat longer delays as 1 ms.
const longestDelayMs = 2 ** 31 - 1;

let uptimeMs: number | undefined;

// Reading the uptime is a system call, and a leader needs the uptime for each request. One reading per turn
// of the event loop is enough: requests of one turn are all sent at its end.
function uptimeOfTurn(): number {
  if (uptimeMs !== undefined) return uptimeMs;
  setImmediate(() => (uptimeMs = undefined));
  uptimeMs = uptime() * 1_000;
  return uptimeMs;
}

/** The system clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonicMs: () => performance.now(),
  uptimeMs: uptimeOfTurn,
  setTimer: (callback, delayMs) => {
    const timeout = { handle: undefined as ReturnType<typeof setTimeout> | undefined };
    const arm = (leftMs: number): void => {
      const stepMs = Math.min(leftMs, longestDelayMs);
      timeout.handle = setTimeout(() => {
        if (leftMs > stepMs) arm(leftMs - stepMs);
        else callback();
      }, stepMs);
    };
    arm(Math.max(0, delayMs));
    return { cancel: () => clearTimeout(timeout.handle) };
  },
};

/**
 * Resolves after `delayMs` milliseconds.
 * @throws the signal's reason, as soon as `signal` is aborted.
 */
export function sleep(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) {
      reject(signal.reason as Error);
      return;
    }
    const onAbort = (): void => {
      timer.cancel();
      reject(signal?.reason as Error);
    };
    const timer = clock.setTimer(() => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    }, delayMs);
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

/** Resolves to true after `delayMs` milliseconds, or to false as soon as `signal` is aborted. */
export function waited(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<boolean> {
  return sleep(clock, delayMs, signal).then(
    () => true,
    () => false,
  );
}

/**
 * Resolves to true if `work`, which must not fail, ends within `ms` milliseconds. Leaves no timer behind.
 */
export function endsWithin(work: Promise<unknown>, ms: number, clock: Clock): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const timer = clock.setTimer(() => resolve(false), ms);
    const ended = (): void => {
      timer.cancel();
      resolve(true);
    };
    work.then(ended).catch(reject);
  });
}

/**
 * Resolves on the next turn of the event loop, after pending I/O. Long work that only awaits promises would
 * starve timers and sockets.
 */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Longest time that {@link turnIfDue} lets promises run before the event loop turns, in milliseconds. */
const longestTurnMs = 10;

let turnBeganMs: number | undefined;

/**
 * Returns a promise of the next turn of the event loop if the current turn has lasted more than 10 ms; else
 * undefined. A loop calls it between its steps, so that timers and sockets are served: a Lease is renewed
 * even while a thousand reconciles read only from the cache.
 */
export function turnIfDue(): Promise<void> | undefined {
  const nowMs = performance.now();
  if (turnBeganMs !== undefined) {
    return nowMs - turnBeganMs > longestTurnMs ? nextTurn() : undefined;
  }
  turnBeganMs = nowMs;
  setImmediate(() => (turnBeganMs = undefined));
  return undefined;
}

/** Waits for `work` until `signal` is aborted. @throws the signal's reason, even if `work` ignores it. */
export async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let onAbort: (() => void) | undefined;
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason as Error);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    if (onAbort !== undefined) signal.removeEventListener('abort', onAbort);
  }
}

/** Resolves when `signal` is aborted; never rejects. */
export function whenAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
