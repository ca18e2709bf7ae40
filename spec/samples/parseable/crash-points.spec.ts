import { expect } from 'chai';
import { crashPoints } from '../../../lib/testing/index.js';
import { crashSample, isSampled } from '../../sample.js';
import { tenantScenario } from './suite/crash-scenario.js';

// A request whose answer is never seen leaves the server as one that was answered does, and this
// operator acts on nothing else; the builder's own crash points have all modes.
const modes = ['before', 'answered'] as const;

describe('The Parseable operator, killed at any request', function () {
  this.timeout(120_000);

  it('comes to the same end', async () => {
    const { requests, results } = await crashPoints(tenantScenario(), {
      ...{ modes, ...crashSample(2) },
    });
    expect(results.filter(({ request }) => request === undefined)).to.deep.equal([]);
    if (!isSampled) expect(results).to.have.length.above(requests.length);
  });
});
