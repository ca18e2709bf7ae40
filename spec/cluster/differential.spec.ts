import { expect } from 'chai';
import { compare } from '../apiserver/differential/comparison.js';
import type { Servers } from '../apiserver/differential/comparison.js';
import {
  compareRandomWrites,
  sequenceText,
} from '../apiserver/differential/random/random-writes.js';
import { isClean, reportOf, reportText } from '../apiserver/differential/report.js';
import { startEmbedded, startReal } from '../apiserver/differential/servers.js';
import { subjects } from '../apiserver/differential/subjects/index.js';

const seed = 1;

describe('the embedded API server compared with a real one', function () {
  this.timeout(240_000);
  let servers: Servers;

  before(async () => {
    servers = { embedded: await startEmbedded(), real: await startReal() };
  });

  after(async () => {
    await servers.embedded.stop();
    await servers.real.stop();
  });

  for (const [subject, scenarios] of Object.entries(subjects)) {
    it(`answers the requests about ${subject} like the real one, except for listed differences`, async () => {
      const report = reportOf(subject, await compare(servers, scenarios(seed)));
      expect(report.requests).to.be.greaterThan(0);
      expect(isClean(report), reportText(report)).to.equal(true);
    });
  }
  // This spec is the last one: it defines kinds, which the answers about discovery would contain.
  it('has the same objects and managedFields as the real one after random writes of several field managers', async () => {
    const { comparisons, failure } = await compareRandomWrites(servers, { steps: 1_000, seed });
    expect(comparisons.length).to.be.greaterThan(500);
    expect(failure && sequenceText(failure)).to.equal(undefined);
  });
});
