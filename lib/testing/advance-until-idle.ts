import { OperatorError } from '../system/operator-error.js';
import type { VirtualClock } from '../system/virtual-clock.js';
import { refuseUnknownOptions } from '../system/known-options.js';

/** Options of {@link advanceUntilIdle}. */
export interface AdvanceUntilIdleOptions {
  /** The most that time moves on, in milliseconds. @defaultValue 3_600_000: an hour */
  readonly maxMs?: number | undefined;
}

/**
 * Moves `clock` on from timer to timer until none waits.
 * @returns how far it has moved, in milliseconds
 * @throws OperatorError `Timeout`: timers still wait; something goes on for ever, such as a watch of a
 * cache, a resync or a lease that is renewed: stop it first, or use `advance`.
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
