import { sleep } from '../system/clock.js';
import type { Clock } from '../system/clock.js';

/** Whether `work`, which must not fail, ends within `ms` milliseconds. No timer stays behind. */
export async function endsWithin(work: Promise<void>, ms: number, clock: Clock): Promise<boolean> {
  const over = new AbortController();
  const late = sleep(clock, ms, over.signal).then(
    () => false,
    () => false,
  );
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    over.abort();
  }
}
