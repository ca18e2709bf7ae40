import { expect } from 'chai';
import { EmbeddedCluster } from '../../../lib/apiserver/index.js';
import { ConfigMap } from '../../../lib/object/kinds.js';
import { ownerReferenceTo } from '../../../lib/object/owner-reference.js';
import { observe } from '../../../lib/testing/crash-points/cluster-state.js';
import type { ClusterState } from '../../../lib/testing/crash-points/cluster-state.js';

describe('observe', () => {
  let cluster: EmbeddedCluster;
  beforeEach(async () => {
    cluster = await EmbeddedCluster.start();
  });
  afterEach(() => cluster.stop());

  /** Creates a namespace with an owner and an owned object. */
  async function stateOf(namespace: string): Promise<ClusterState> {
    const client = cluster.client();
    const typeMeta = { apiVersion: 'v1', kind: 'ConfigMap' };
    await client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
    const owner = await client.create({ ...typeMeta, metadata: { namespace, name: 'owner' } });
    const metadata = { namespace, name: 'owned', ownerReferences: [ownerReferenceTo(owner)] };
    await client.apply({ ...typeMeta, metadata }, { fieldManager: 'operator' });
    const comparable = <T>(object: T): T => object;
    return observe({ client, kinds: [ConfigMap], namespace, comparable });
  }

  it('omits the namespace of the run and its UIDs', async () => {
    const [one, other] = [await stateOf('run-one'), await stateOf('another-run')];
    expect([...one.keys()])
      .to.include(' ConfigMap owned')
      .and.deep.equal([...other.keys()]);
    const comparables = [one, other].map((state) => [...state.values()].map((o) => o.comparable));
    expect(comparables[0]).to.deep.equal(comparables[1]);
    const { ownerReferences = [] } = one.get(' ConfigMap owned')?.comparable.metadata ?? {};
    expect(ownerReferences[0]?.uid).to.equal('(uid of ConfigMap owner)');
  });
});
