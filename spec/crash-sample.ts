import type { CrashPointsOptions } from '../lib/testing/index.js';

/** Whether a run tries a sample only, so that `npm test` stays quick: not where `CI` is set. */
export const isSampled = (process.env['CI'] ?? '') === '';

const dayMs = 86_400_000;

/** Another sample each day; `CRASH_SEED` repeats one. A failure names its point, for `only`. */
export const sampleSeed = Number(process.env['CRASH_SEED'] ?? Math.floor(Date.now() / dayMs));

/** Returns options for `count` crash points of a scenario, and in CI for all of them. */
export function crashSample(count: number): Pick<CrashPointsOptions, 'sample'> {
  return isSampled ? { sample: { count, seed: sampleSeed } } : {};
}
