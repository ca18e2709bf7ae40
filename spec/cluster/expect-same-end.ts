import { expect } from 'chai';
import { crashPoints } from '../../lib/testing/index.js';
import type { CrashCluster, CrashScenario } from '../../lib/testing/index.js';

/**
 * Expects an operator to come to the same end wherever it is killed. A run takes some ten seconds
 * here, most of which it waits: so `count` of the points are tried, chosen by `seed`, all at once. The
 * embedded server gets all of them.
 * @throws what differs in the end
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
  // On a real cluster the requests of two runs are not quite the same.
  const reached = results.filter(({ request }) => request !== undefined);
  expect(reached).to.have.length.above(count / 2);
}
