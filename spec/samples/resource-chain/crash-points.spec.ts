import { expect } from 'chai';
import { crashPoints } from '../../../lib/testing/index.js';
import { crashSample, isSampled } from '../../sample.js';
import { siteScenario } from './suite/crash-scenario.js';

// A request whose answer is never seen leaves the server as one that was answered does; but after an
// answer the operator may still tell the registry something.
const modes = ['before', 'answered'] as const;

describe('The site operator, killed at any request', function () {
  this.timeout(120_000);

  it('comes to the same end, and never forgets what it has registered', async () => {
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
