import { expect } from 'chai';
import { crashPoints } from '../../../lib/testing/index.js';
import { gadgetScenario } from './suite/crash-scenarios.js';

describe('A framework, killed at any request', function () {
  this.timeout(60_000);

  it('comes to the same end: finalizer, applies, status, pause, overlap, deletion', async () => {
    const { requests, results } = await crashPoints(gadgetScenario());
    expect(results.filter(({ request }) => request === undefined)).to.deep.equal([]);
    expect(results.length).to.be.above(requests.length * 2);
    const writes = requests.filter(({ write }) => write).map(({ step, kind }) => `${step} ${kind}`);
    expect(writes).to.include.members(['create Gadget', 'delete Gadget', 'pause Gadget']);
  });
});
