import type { CrashPointsOptions } from '../lib/testing/crash-points/crash-points.js';

/** Whether specs try only samples of their cases, so that `npm test` is quick. False if `CI` is set. */
export const isSampled = (process.env['CI'] ?? '') === '';

const dayMs = 86_400_000;

/** Seed of the samples, which changes each day. `SAMPLE_SEED` overrides it; failures print it. */
export const sampleSeed = Number(process.env['SAMPLE_SEED'] ?? Math.floor(Date.now() / dayMs));

/** Returns options that sample `count` crash points of a scenario; in CI, options for all of them. */
export function crashSample(count: number): Pick<CrashPointsOptions, 'sample'> {
  return isSampled ? { sample: { count, seed: sampleSeed } } : {};
}

/**
 * Returns `count` evenly spread cases; in CI all of them. The cases rotate daily, so that each is tried on some day.
 */
export function sampleOf<T>(cases: readonly T[], count: number): readonly T[] {
  if (!isSampled || count >= cases.length) return cases;
  const first = sampleSeed % cases.length;
  const places = Array.from({ length: count }, (_, n) => Math.floor((n * cases.length) / count));
  return places.map((place) => cases[(first + place) % cases.length] as T);
}

/** Returns the number of tries of a randomized test: `count` in CI, a fifth of that in other runs. */
export function tries(count: number): number {
  return isSampled ? Math.ceil(count / 5) : count;
}
