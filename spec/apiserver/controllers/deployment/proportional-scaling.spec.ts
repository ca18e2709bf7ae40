import { expect } from 'chai';
import fc from 'fast-check';
import { proportionalSteps } from '../../../../lib/apiserver/controllers/deployment-scaling.js';

describe('proportionalSteps', () => {
  it('distributes new replicas by size, with the remainder for the largest', () => {
    const active = [
      { name: 'new', replicas: 5, maxReplicas: 13, createdMs: 2 },
      { name: 'old', replicas: 8, maxReplicas: 13, createdMs: 1 },
    ];
    const steps = proportionalSteps({ desired: 15, maxSurge: 3, statusReplicas: 13, active });
    expect(steps).to.deep.equal([
      { name: 'old', replicas: 11 },
      { name: 'new', replicas: 7 },
    ]);
  });

  it('uses the replicas in the status of the Deployment for a ReplicaSet without the annotation max-replicas', () => {
    const active = [
      { name: 'new', replicas: 2, maxReplicas: undefined, createdMs: 2 },
      { name: 'old', replicas: 2, maxReplicas: 0, createdMs: 1 },
    ];
    const grown = (statusReplicas: number) =>
      proportionalSteps({ desired: 8, maxSurge: 0, statusReplicas, active });
    expect(grown(4)).to.deep.equal([
      { name: 'new', replicas: 4 },
      { name: 'old', replicas: 4 },
    ]);
    // With a size of 0 there are no proportions, so the first ReplicaSet gets all new replicas.
    expect(grown(0)).to.deep.equal([
      { name: 'new', replicas: 6 },
      { name: 'old', replicas: 2 },
    ]);
  });

  it('scales all ReplicaSets to 0 if the Deployment is scaled to 0', () => {
    const active = [
      { name: 'new', replicas: 2, maxReplicas: 5, createdMs: 2 },
      { name: 'old', replicas: 3, maxReplicas: 5, createdMs: 1 },
    ];
    const steps = proportionalSteps({ desired: 0, maxSurge: 1, statusReplicas: 5, active });
    expect(steps.map(({ replicas }) => replicas)).to.deep.equal([0, 0]);
  });

  it('exceeds the allowed number of pods if the largest ReplicaSet is too small to compensate for rounding', () => {
    const active = [0, 1, 2, 3, 4].map((n) => {
      return { name: `rs${n}`, replicas: 4, maxReplicas: 20, createdMs: n };
    });
    // The share of each is 0.6, rounded to 1: 2 replicas too many. The first ReplicaSet has only 1 left to remove.
    const steps = proportionalSteps({ desired: 2, maxSurge: 1, statusReplicas: 20, active });
    expect(steps.map(({ replicas }) => replicas)).to.deep.equal([0, 1, 1, 1, 1]);
  });

  it('returns sizes of at least 0 whose sum is the allowed number, unless the largest ReplicaSet reaches 0', () => {
    const sets = fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 2, maxLength: 5 });
    const property = fc.property(sets, fc.nat(40), fc.nat(5), (sizes, desired, maxSurge) => {
      const total = sizes.reduce((sum, size) => sum + size, 0);
      const active = sizes.map((replicas, n) => {
        return { name: `rs${n}`, replicas, maxReplicas: total, createdMs: n };
      });
      const steps = proportionalSteps({ desired, maxSurge, statusReplicas: total, active });
      const allowed = desired === 0 ? 0 : desired + maxSurge;
      const sum = steps.reduce((sum, { replicas }) => sum + replicas, 0);
      if (steps[0]!.replicas > 0) expect(sum).to.equal(allowed);
      // The remainder is due to rounding: less than one for each of the others.
      else expect(sum).to.be.within(allowed, allowed + steps.length - 1);
      expect(steps.every(({ replicas }) => replicas >= 0)).to.equal(true);
    });
    fc.assert(property);
  });
});
