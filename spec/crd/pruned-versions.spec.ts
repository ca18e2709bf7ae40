import { expect } from 'chai';
import { EmbeddedCluster } from '../../lib/apiserver/index.js';
import { keptByVersions, writtenByOtherVersion } from './suite/pruned-versions.js';

describe('Objects of a kind with the conversion "prune"', () => {
  it('lose the fields that the version of a write lacks, even in the status', async () => {
    const cluster = await EmbeddedCluster.start();
    try {
      const kept = await writtenByOtherVersion(cluster.client(), 'pruned.example.com');
      expect(kept).to.deep.equal(keptByVersions);
    } finally {
      await cluster.stop();
    }
  });
});
