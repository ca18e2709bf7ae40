import { expect } from 'chai';
import { crashPoints } from '../../../lib/testing/index.js';
import { tenantScenario } from './suite/crash-scenario.js';

describe('The Parseable operator, killed at any request', function () {
  this.timeout(120_000);

  it('comes to the same end', async () => {
    const { requests, results } = await crashPoints(tenantScenario());
    expect(results.filter(({ request }) => request === undefined)).to.deep.equal([]);
    expect(results).to.have.length.above(requests.length * 2);
  });
});
