import { expect } from 'chai';
import { crashPoints } from '../../../lib/testing/index.js';
import { crashSample, isSampled } from '../../sample.js';
import { tenantScenario } from './suite/crash-scenario.js';

// A lost response leaves the server in the same state as a received one, and this
// operator acts on nothing else; the builder's own crash points cover all modes.
const modes = ['before', 'answered'] as const;

describe('the Parseable operator, killed at any request', function () {
  this.timeout(120_000);

  it('converges to the same state as without a crash', async () => {
    const { requests, results } = await crashPoints(tenantScenario(), {
      ...{ modes, ...crashSample(2) },
    });
    expect(results.filter(({ request }) => request === undefined)).to.deep.equal([]);
    if (!isSampled) expect(results).to.have.length.above(requests.length);
  });
});
