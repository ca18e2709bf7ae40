import { expect } from 'chai';
import { EmbeddedCluster } from '../../lib/apiserver/index.js';
import { seededRandom } from '../../lib/system/random.js';
import { VirtualClock } from '../../lib/system/virtual-clock.js';
import { crashPoints } from '../../lib/testing/index.js';
import { crashSample, isSampled, sampleSeed } from '../sample.js';
import { lifecycleScenario } from './suite/crash-scenario.js';

// A lost response leaves the server in the same state as a received one, and this
// operator acts on nothing else.
const modes = ['before', 'answered'] as const;

describe('a lifecycle operator, killed at any request', function () {
  this.timeout(120_000);
  const cluster = () =>
    EmbeddedCluster.start({
      ...{ clock: new VirtualClock(), random: seededRandom(1), simulateWorkloads: true },
    });

  it('converges to the same state as without a crash: deployment, upgrade, deletion', async () => {
    const scenario = { ...lifecycleScenario(), steadyMs: 20_000, cluster };
    const { requests, results } = await crashPoints(scenario, { modes, ...crashSample(5) });
    expect(results.filter(({ request }) => request === undefined)).to.deep.equal([]);
    if (!isSampled) expect(results.length).to.be.above(requests.length);
    const writes = requests.filter(({ write }) => write).map(({ step, kind }) => `${step} ${kind}`);
    expect(writes).to.include.members([
      ...['deploy LocalConfig', 'deploy Deployment', 'upgrade Deployment', 'upgrade ConfigMap'],
      ...['upgrade LocalConfig', 'delete Service', 'delete LocalConfig'],
    ]);
  });

  // Without a cache there are many times more requests, most of which change nothing.
  it('converges to the same state as without a crash if it has no cache and sends a request for each read', async () => {
    const scenario = { ...lifecycleScenario(true), steadyMs: 20_000, cluster };
    const { results } = await crashPoints(scenario, {
      sample: { count: isSampled ? 3 : 20, seed: isSampled ? sampleSeed : 1 },
    });
    expect(results.filter(({ request }) => request === undefined)).to.deep.equal([]);
  });
});
