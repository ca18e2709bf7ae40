import { expect } from 'chai';
import { crashPoints, faultSweep } from '../../lib/testing/index.js';
import type { CrashPointsError, FaultSweepError } from '../../lib/testing/index.js';
import type { CrashProblem } from '../../lib/testing/crash-points/crash-point.js';
import type { CrashPointsOptions } from '../../lib/testing/crash-points/crash-points.js';
import type { FaultSweepOptions } from '../../lib/testing/crash-points/fault-sweep.js';
import { crashSample, isSampled, sampleOf } from '../sample.js';
import { bugScenario } from './planted-bugs.js';
import type { Bug } from './planted-bugs.js';
import { shopKey } from './shop-scenario.js';

const leftOvers = { owner: { apiVersion: 'v1', kind: 'ConfigMap', ...shopKey } };

type Found = readonly CrashProblem['type'][];

/** Returns the types of the problems at all points. Fails if the uninterrupted run has problems. */
async function problemsOf(sweep: Promise<unknown>): Promise<Found> {
  const error = await sweep.then(
    () => undefined,
    (thrown: unknown) => thrown as CrashPointsError | FaultSweepError,
  );
  if (error === undefined) return [];
  expect(error, error.message).to.have.property('report');
  expect(error.report.results, error.message).not.to.deep.equal([]);
  return error.report.results.flatMap(({ problems }) => problems.map(({ type }) => type));
}

/** The crash that reveals each bug, and the problem type. */
const byCrash: readonly (readonly [Bug, CrashProblem['type'], CrashPointsOptions])[] = [
  ['a reference to an object that is not there yet', 'invariant', { only: { step: 'create' } }],
  ['a create that does not expect its object to exist', 'notConverged', { modes: ['unanswered'] }],
  ['a status that is written before the work', 'missing', { only: { step: 'create' } }],
  ['an append that is repeated', 'differs', { only: { step: 'create' } }],
  ['a delete before the create', 'invariant', { only: { step: 'change' } }],
  ['a finalizer that is removed before the clean-up', 'differs', { only: { step: 'delete' } }],
  ['a create by generateName', 'createdTwice', { only: { step: 'create' } }],
  ['state that is lost with the process', 'orphan', { only: { step: 'change' } }],
];

/** The failed request that reveals each bug, and the problem type. */
const byFailure: readonly (readonly [Bug, CrashProblem['type'], FaultSweepOptions])[] = [
  ['a swallowed error', 'missing', { modes: ['serverError'], only: { step: 'create' } }],
  [
    'a PUT without a resourceVersion',
    'notConverged',
    { modes: ['timeout'], only: { step: 'create' } },
  ],
  ['a create that does not expect its object to exist', 'notConverged', { modes: ['resetAfter'] }],
  ['a create by generateName', 'createdTwice', { modes: ['resetAfter'] }],
];

/** The mode that reveals each bug when a run tries only a sample. */
const quick: CrashPointsOptions = isSampled ? { modes: ['unanswered'] } : {};

describe('the testing kit, used on an operator with a deliberate bug', () => {
  for (const [bug, type, options] of sampleOf(byCrash, 4)) {
    it(`finds ${bug} by a crash at each request`, async () => {
      const found = await problemsOf(crashPoints(bugScenario(bug), { ...quick, ...options }));
      expect(found).to.include(type);
    });
  }

  for (const [bug, type, options] of sampleOf(byFailure, 2)) {
    it(`finds ${bug} by making a request fail`, async () => {
      expect(await problemsOf(faultSweep(bugScenario(bug), options))).to.include(type);
    });
  }

  it('finds a forgotten owner reference by the objects that are left after the owner is deleted', async () => {
    const scenario = bugScenario('a forgotten owner reference');
    const found = await crashPoints(scenario, { leftOvers }).catch(
      (thrown: unknown) => thrown as Error,
    );
    expect(found).to.have.property('message').that.includes('leftOver: ');
    expect(found).to.have.property('message').that.includes('ConfigMap default/env-2 is left');
  });

  it('accepts an operator without bugs that crashes at every request', async () => {
    await crashPoints(bugScenario(), { leftOvers, ...crashSample(3) });
  });

  it('accepts an operator without bugs when every request fails', async () => {
    await faultSweep(bugScenario(), { leftOvers, ...crashSample(3) });
  });
});
