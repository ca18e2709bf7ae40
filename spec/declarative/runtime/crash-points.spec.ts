import { expect } from 'chai';
import { EmbeddedCluster } from '../../../lib/apiserver/index.js';
import { crashPoints } from '../../../lib/testing/index.js';
import { crashSample, isSampled } from '../../sample.js';
import { PatientClock } from '../suite/patient-clock.js';
import { rolloutScenario } from '../suite/crash-scenario.js';

describe('A declarative operator', function () {
  this.timeout(120_000);

  const cluster = () => {
    return EmbeddedCluster.start({ simulateWorkloads: true, clock: new PatientClock() });
  };

  it('reaches the same state after a crash at each request as without a crash', async () => {
    const scenario = rolloutScenario<EmbeddedCluster<PatientClock>>();
    // For the state of the server, a write whose answer is lost equals one with an answer.
    const report = await crashPoints(
      { ...scenario, cluster },
      { modes: ['answered'], ...crashSample(3) },
    );
    if (!isSampled) expect(report.results).to.have.length(report.requests.length);
    const writes = report.requests.filter(({ write }) => write).map(({ verb }) => verb);
    expect(writes).to.include.members(['apply', 'delete']);
  });
});
