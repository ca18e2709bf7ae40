import { uptime } from 'node:os';

/** A timer that was set. */
export interface Timer {
  /** Drops the timer; nothing happens when it fired already. */
  cancel(): void;
}

/** The only source of time in this package, so that a test can own it. */
export interface Clock {
  /** Wall-clock time in milliseconds since 1970, UTC. May jump. */
  now(): number;
  /** Milliseconds since some fixed moment, with fractions; never jumps, and runs on while the process is stopped. */
  monotonicMs(): number;
  /**
   * As `monotonicMs`, but coarser (10 ms), and on Linux it runs on while the machine is suspended,
   * too. Absent: `monotonicMs` is all there is.
   */
  uptimeMs?(): number;
  /** Calls `callback` once, after `delayMs` milliseconds or more. It keeps the process alive. */
  setTimer(callback: () => void, delayMs: number): Timer;
}

// Node's timers turn longer delays into 1 ms.
const longestDelayMs = 2 ** 31 - 1;

/** The clock of the machine. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonicMs: () => performance.now(),
  uptimeMs: () => uptime() * 1_000,
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
