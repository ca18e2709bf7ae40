import { expect } from 'chai';
import { crashPoints } from '../../../lib/testing/index.js';
import { EmbeddedCluster } from '../../../lib/apiserver/index.js';
import { seededRandom } from '../../../lib/system/random.js';
import { VirtualClock } from '../../../lib/system/virtual-clock.js';
import { crashSample, isSampled } from '../../sample.js';
import { gadgetScenario } from './suite/crash-scenarios.js';

describe('a Framework whose process crashes at any request', function () {
  this.timeout(240_000);

  it('has the same finalizers, objects, pauses and deletions afterwards as without a crash', async () => {
    // The cluster simulates no workloads, since the scenario has none.
    const cluster = () =>
      EmbeddedCluster.start({ clock: new VirtualClock(), random: seededRandom(1) });
    const scenario = { ...gadgetScenario(), cluster };
    const { requests, results } = await crashPoints(scenario, crashSample(2));
    expect(results.filter(({ request }) => request === undefined)).to.deep.equal([]);
    const writes = requests.filter(({ write }) => write);
    if (!isSampled) expect(results.length).to.be.above(requests.length + writes.length);
    expect(writes.map(({ step, kind }) => `${step} ${kind}`)).to.include.members([
      'create Gadget',
      'delete Gadget',
      'pause Gadget',
    ]);
  });
});
