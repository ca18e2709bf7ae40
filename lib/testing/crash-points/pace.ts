import { sleep } from '../../system/clock.js';
import type { Clock } from '../../system/clock.js';
import { VirtualClock } from '../../system/virtual-clock.js';

const pollMs = 50;

/**
 * Lets time pass. A `VirtualClock` completes the work that is due, then advances to the next timer. Any other
 * clock waits for at most 50 ms.
 * @param maxMs - the limit of the time that passes
 */
export async function letTimePass(clock: Clock, maxMs: number): Promise<void> {
  if (clock instanceof VirtualClock) {
    await clock.advance(Math.min(maxMs, clock.nextTimerMs ?? maxMs));
    return;
  }
  await sleep(clock, Math.min(maxMs, pollMs));
}

/** Completes all work that is due now, with a `VirtualClock`. */
export async function letWorkHappen(clock: Clock): Promise<void> {
  if (clock instanceof VirtualClock) await clock.advance(0);
}
