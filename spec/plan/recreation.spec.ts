import { EmbeddedCluster } from '../../lib/apiserver/index.js';
import { growing, Press, recreationSuite } from './recreation-suite.js';

describe('Plans of objects that are deleted and created again', () => {
  let cluster: EmbeddedCluster;

  before(async () => {
    cluster = await EmbeddedCluster.start({ crds: [Press], simulateWorkloads: true });
    await cluster.client().create({
      ...{ apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', metadata: { name: growing } },
      ...{ provisioner: 'press.example/disks', allowVolumeExpansion: true },
    });
  });

  after(() => cluster.stop());

  recreationSuite(() => ({ client: cluster.client(), namespace: 'default' }), { binds: true });
});
