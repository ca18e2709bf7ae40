import { expect } from 'chai';
import { crashPoints } from '../../../lib/testing/index.js';
import { isSampled, sampleSeed } from '../../sample.js';
import { sampleScenario } from './suite/crash-scenario.js';

// The lifecycle's own specs try every point of a life; here, some of the upgrade that labels anew.
const only = { step: 'upgrade', mode: 'answered' } as const;
const sample = isSampled ? { count: 2, seed: sampleSeed } : { count: 5, seed: 6 };

describe('The SampleConfig operator, killed in the middle of an upgrade', function () {
  this.timeout(60_000);

  it('comes to the same end; its Service leads to ready pods all the time', async () => {
    const { results } = await crashPoints(sampleScenario(), { only, sample });
    expect(results).to.have.length(sample.count);
    expect(results.filter(({ request }) => request === undefined)).to.deep.equal([]);
  });
});
