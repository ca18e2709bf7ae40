import type { Clock } from '../../lib/system/clock.js';
import { systemClock } from '../../lib/system/clock.js';

/**
 * Returns a clock that runs `factor` times as fast as the system clock, so that specs with real sockets can simulate
 * minutes of waiting.
 */
export function fastClock(factor: number): Clock {
  const startMs = systemClock.now();
  const startMonotonicMs = systemClock.monotonicMs();
  return {
    now: () => startMs + (systemClock.now() - startMs) * factor,
    monotonicMs: () => (systemClock.monotonicMs() - startMonotonicMs) * factor,
    setTimer: (callback, delayMs) => systemClock.setTimer(callback, delayMs / factor),
  };
}
