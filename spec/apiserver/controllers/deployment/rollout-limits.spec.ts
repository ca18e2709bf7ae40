import { expect } from 'chai';
import { rolloutLimits } from '../../../../lib/apiserver/controllers/deployment-scaling.js';
import { deployment } from '../workload-objects.js';

type Value = string | number;

describe('rolloutLimits', () => {
  const cases: readonly [replicas: number, surge: Value, unavailable: Value, number, number][] = [
    [4, '25%', '25%', 1, 1],
    [3, '25%', '25%', 1, 0],
    [1, '25%', '25%', 1, 0],
    [10, 3, 2, 3, 2],
    [2, 0, '10%', 0, 1],
    [3, 1, 5, 1, 3],
  ];
  for (const [replicas, maxSurge, maxUnavailable, surge, unavailable] of cases) {
    it(`returns ${surge} and ${unavailable} for ${replicas} replicas with ${maxSurge} and ${maxUnavailable}`, () => {
      const rollingUpdate = { maxSurge, maxUnavailable };
      const web = deployment('web', { replicas, strategy: { rollingUpdate } });
      const limits = { maxSurge: surge, maxUnavailable: unavailable };
      expect(rolloutLimits(web)).to.deep.equal(limits);
    });
  }

  it('returns 0 for Recreate', () => {
    const web = deployment('web', { replicas: 3, strategy: { type: 'Recreate' } });
    expect(rolloutLimits(web)).to.deep.equal({ maxSurge: 0, maxUnavailable: 0 });
  });
});
