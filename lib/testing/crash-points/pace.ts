import { sleep } from '../../system/clock.js';
import type { Clock } from '../../system/clock.js';
import { VirtualClock } from '../../system/virtual-clock.js';

const pollMs = 50;

/**
 * Lets a moment pass: with a `VirtualClock` all that needs no time, then the time to the next timer; or
 * else a little time of the machine. @param maxMs - time moves on by no more
 */
export async function letTimePass(clock: Clock, maxMs: number): Promise<void> {
  if (clock instanceof VirtualClock) {
    await clock.advance(Math.min(maxMs, clock.nextTimerMs ?? maxMs));
    return;
  }
  await sleep(clock, Math.min(maxMs, pollMs));
}

/** Lets all happen that needs no time to pass, of a `VirtualClock`. */
export async function letWorkHappen(clock: Clock): Promise<void> {
  if (clock instanceof VirtualClock) await clock.advance(0);
}
