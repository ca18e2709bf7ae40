import { sleep } from '../../system/clock.js';
import type { Clock } from '../../system/clock.js';

/** Resolves after `delayMs` milliseconds with true, or with false as soon as `signal` is aborted. */
export function waited(clock: Clock, delayMs: number, signal: AbortSignal): Promise<boolean> {
  return sleep(clock, delayMs, signal).then(
    () => true,
    () => false,
  );
}
