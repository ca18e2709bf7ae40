import { expect } from 'chai';
import { EmbeddedCluster } from '../../lib/embedded/index.js';
import { keptByVersions, writtenByOtherVersion } from './suite/pruned-versions.js';

describe('Versions whose differences are pruned', () => {
  it('lose the fields that the version of a write lacks, be it of the status', async () => {
    const cluster = await EmbeddedCluster.start();
    try {
      const kept = await writtenByOtherVersion(cluster.client(), 'pruned.example.com');
      expect(kept).to.deep.equal(keptByVersions);
    } finally {
      await cluster.stop();
    }
  });
});
