import { EmbeddedCluster } from '../../lib/apiserver/index.js';
import { Press, recreationSuite } from './recreation-suite.js';

describe('Plans of objects that are deleted and created again', () => {
  let cluster: EmbeddedCluster;

  before(async () => {
    cluster = await EmbeddedCluster.start({ crds: [Press], simulateWorkloads: true });
  });

  after(() => cluster.stop());

  recreationSuite(() => ({ client: cluster.client(), namespace: 'default' }));
});
