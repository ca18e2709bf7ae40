import { expect } from 'chai';
import { getIfExists } from '../../../../lib/client/index.js';
import { PersistentVolume, PersistentVolumeClaim } from '../../../../lib/object/kinds.js';
import { simulatedCluster, stopSimulatedClusters } from '../simulated-cluster.js';
import type { SimulatedCluster } from '../simulated-cluster.js';
import { claim, refusalOf } from '../workload-objects.js';

function volume(policy: 'Delete' | 'Retain'): PersistentVolume {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: 'mine' },
    spec: {
      ...{ accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' } },
      hostPath: { path: '/data' },
      storageClassName: 'manual',
      persistentVolumeReclaimPolicy: policy,
    },
  };
}

const ofManual = claim('data', { storageClassName: 'manual' });
const phases = { resource: 'persistentvolumes/status' };
const volumes = { resource: 'persistentvolumes' };

interface Refused {
  readonly given: (cluster: SimulatedCluster) => Promise<unknown>;
  readonly refusal: ReturnType<typeof refusalOf>;
  readonly when: (cluster: SimulatedCluster) => Promise<unknown>;
  /** The phase of the volume while the write is refused, and afterwards. */
  readonly phases: readonly [before: string | undefined, after: string | undefined];
}

const cases: Readonly<Record<string, Refused>> = {
  'becomes Available': {
    given: () => Promise.resolve(),
    refusal: refusalOf('UPDATE', phases),
    when: ({ create }) => create(volume('Retain')),
    phases: ['Pending', 'Available'],
  },
  'becomes Bound': {
    given: ({ create }) => create(volume('Retain')),
    refusal: refusalOf('UPDATE', phases),
    when: ({ create }) => create(ofManual),
    phases: ['Available', 'Bound'],
  },
  'becomes Released': {
    given: ({ create }) => create(volume('Retain'), ofManual),
    refusal: refusalOf('UPDATE', phases),
    when: (cluster) => cluster.delete(PersistentVolumeClaim, 'data'),
    phases: ['Bound', 'Released'],
  },
  'is deleted with its claim': {
    given: ({ create }) => create(volume('Delete'), ofManual),
    refusal: refusalOf('DELETE', volumes),
    when: (cluster) => cluster.delete(PersistentVolumeClaim, 'data'),
    phases: ['Bound', undefined],
  },
  'loses its finalizer': {
    given: ({ create }) => create(volume('Retain')),
    refusal: refusalOf('UPDATE', volumes),
    when: (cluster) => cluster.delete(PersistentVolume, 'mine'),
    phases: ['Available', undefined],
  },
};

describe('a volume whose write a policy refuses', () => {
  afterEach(() => stopSimulatedClusters(/an embedded controller failed: volumes .*: not now$/));

  for (const [title, { given, refusal, when, phases: expected }] of Object.entries(cases)) {
    it(`${title} once the policy is gone`, async () => {
      const cluster = await simulatedCluster();
      const phase = async (): Promise<string | undefined> =>
        (await getIfExists(cluster.client, PersistentVolume, { name: 'mine' }))?.status?.phase;
      await given(cluster);
      await cluster.create(...refusal);
      await when(cluster);
      const before = await phase();
      for (const type of refusal) await cluster.client.delete(type, { name: 'refusal' });
      await cluster.clock.advance(60_000);
      expect([before, await phase()]).to.deep.equal(expected);
    });
  }
});
