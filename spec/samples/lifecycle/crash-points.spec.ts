import { expect } from 'chai';
import { crashPoints } from '../../../lib/testing/index.js';
import { sampleScenario } from './suite/crash-scenario.js';

// The lifecycle's own specs try every point of a life; here, some of the upgrade that labels anew.
const options = {
  only: { step: 'upgrade', mode: 'answered' },
  sample: { count: 5, seed: 6 },
} as const;

describe('The SampleConfig operator, killed in the middle of an upgrade', function () {
  this.timeout(60_000);

  it('comes to the same end; its Service leads to ready pods all the time', async () => {
    const { results } = await crashPoints(sampleScenario(), options);
    expect(results).to.have.length(options.sample.count);
    expect(results.filter(({ request }) => request === undefined)).to.deep.equal([]);
  });
});
