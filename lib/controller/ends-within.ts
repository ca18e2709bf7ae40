import type { Clock } from '../system/clock.js';

/**
 * Resolves to true if `work`, which must not fail, ends within `ms` milliseconds. It leaves no timer behind.
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
