import { OperatorError } from '../system/operator-error.js';
import type { VirtualClock } from '../system/virtual-clock.js';
import { refuseUnknownOptions } from '../system/known-options.js';

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
