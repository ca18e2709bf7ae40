import type { Clock } from '../system/clock.js';

/** Whether `work`, which must not fail, ends within `ms` milliseconds. No timer stays behind. */
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
