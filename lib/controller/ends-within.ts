import type { Clock } from '../system/clock.js';

/** Whether `work`, which must not fail, ends within `ms` milliseconds. No timer stays behind. */
export function endsWithin(work: Promise<unknown>, ms: number, clock: Clock): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const timer = clock.setTimer(() => resolve(false), ms);
    const ended = (tell: () => void): void => {
      timer.cancel();
      tell();
    };
    work.then(
      () => ended(() => resolve(true)),
      (error: unknown) => ended(() => reject(error)),
    );
  });
}
