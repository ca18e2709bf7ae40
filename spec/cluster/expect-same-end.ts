import { expect } from 'chai';
import { crashPoints } from '../../lib/testing/index.js';
import type { CrashScenario } from '../../lib/testing/index.js';
import type { CrashCluster } from '../../lib/testing/crash-points/crash-scenario.js';

/**
 * Expects an operator to converge to the same state wherever it is killed. A run on a real cluster takes some ten
 * seconds, mostly waiting. So `seed` chooses `count` of the points, which are tried all at once.
 * The embedded server covers all points.
 * @throws the differences of the final states
 */
export async function expectSameEnd(
  scenario: CrashScenario<CrashCluster>,
  sample: { readonly count: number; readonly seed: number },
): Promise<void> {
  const { count } = sample;
  const { results } = await crashPoints(
    { ...scenario, steadyMs: 1_000 },
    { sample, concurrency: count },
  );
  expect(results).to.have.length(count);
  // On a real cluster the requests of two runs differ slightly, so a run may not reach its point.
  const reached = results.filter(({ request }) => request !== undefined);
  expect(reached).to.have.length.above(count / 2);
}
