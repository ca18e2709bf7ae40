import { expect } from 'chai';
import { crashPoints } from '../../../lib/testing/index.js';
import { crashSample, isSampled } from '../../sample.js';
import { siteScenario } from './suite/crash-scenario.js';

// A lost response leaves the server in the same state as a received one; but after a
// response the operator may still call the registry.
const modes = ['before', 'answered'] as const;

describe('the operator of the resource-chain sample, killed at any request', function () {
  this.timeout(240_000);

  it('converges to the same state as without a crash, and releases every domain that it registered', async () => {
    const { requests, results } = await crashPoints(siteScenario(), {
      ...{ modes, ...crashSample(2) },
    });
    expect(results.filter(({ request }) => request === undefined)).to.deep.equal([]);
    if (isSampled) return;
    expect(results).to.have.length.above(requests.length);
    expect(new Set(results.map(({ point }) => point.step))).to.deep.equal(
      new Set(['start', 'create', 'migrate', 'delete']),
    );
  });
});
