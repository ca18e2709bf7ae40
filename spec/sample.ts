import type { CrashPointsOptions } from '../lib/testing/crash-points/crash-points.js';

/** Whether a run tries samples only, so that `npm test` stays quick: not where `CI` is set. */
export const isSampled = (process.env['CI'] ?? '') === '';

const dayMs = 86_400_000;

/** Another sample each day; `SAMPLE_SEED` repeats one. Each failure names it. */
export const sampleSeed = Number(process.env['SAMPLE_SEED'] ?? Math.floor(Date.now() / dayMs));

/** Returns options for `count` crash points of a scenario, and in CI for all of them. */
export function crashSample(count: number): Pick<CrashPointsOptions, 'sample'> {
  return isSampled ? { sample: { count, seed: sampleSeed } } : {};
}

/** Returns `count` of these cases, spread over all of them, and in CI all. Each has its day. */
export function sampleOf<T>(cases: readonly T[], count: number): readonly T[] {
  if (!isSampled || count >= cases.length) return cases;
  const first = sampleSeed % cases.length;
  const places = Array.from({ length: count }, (_, n) => Math.floor((n * cases.length) / count));
  return places.map((place) => cases[(first + place) % cases.length] as T);
}

/** Returns how often to try what chance varies: `count` times in CI, a fifth of that in other runs. */
export function tries(count: number): number {
  return isSampled ? Math.ceil(count / 5) : count;
}
