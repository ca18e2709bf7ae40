import { expect } from 'chai';
import { crashPoints } from '../../../lib/testing/index.js';
import { isSampled, sampleSeed } from '../../sample.js';
import { sampleScenario } from './suite/crash-scenario.js';

// The lifecycle's own specs cover every point; these cover some of the upgrade that relabels pods.
const only = { step: 'upgrade', mode: 'answered' } as const;
const sample = isSampled ? { count: 2, seed: sampleSeed } : { count: 5, seed: 6 };

describe('the SampleConfig operator, killed in the middle of an upgrade', function () {
  this.timeout(240_000);

  it('converges to the same state as without a crash, while its Service always has ready pods', async () => {
    const { results } = await crashPoints(sampleScenario(), { only, sample });
    expect(results).to.have.length(sample.count);
    expect(results.filter(({ request }) => request === undefined)).to.deep.equal([]);
  });
});
