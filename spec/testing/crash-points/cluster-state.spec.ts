import { expect } from 'chai';
import { EmbeddedCluster } from '../../../lib/apiserver/index.js';
import { ConfigMap, Pod } from '../../../lib/object/kinds.js';
import { ownerReferenceTo } from '../../../lib/object/owner-reference.js';
import { observe } from '../../../lib/testing/crash-points/cluster-state.js';
import type { ClusterState } from '../../../lib/testing/crash-points/cluster-state.js';

describe('observe, which describes the state of a cluster', () => {
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

  it("omits the name of the run's namespace, and UIDs", async () => {
    const [one, other] = [await stateOf('run-one'), await stateOf('another-run')];
    expect([...one.keys()])
      .to.include(' ConfigMap owned')
      .and.deep.equal([...other.keys()]);
    const comparables = [one, other].map((state) => [...state.values()].map((o) => o.comparable));
    expect(comparables[0]).to.deep.equal(comparables[1]);
    const { ownerReferences = [] } = one.get(' ConfigMap owned')?.comparable.metadata ?? {};
    expect(ownerReferences[0]?.uid).to.equal('(uid of ConfigMap owner)');
  });

  it('omits the node on which a pod runs', async () => {
    const client = cluster.client();
    const comparable = <T>(object: T): T => object;
    const podOn = async (nodeName: string): Promise<unknown> => {
      const key = { namespace: 'default', name: 'web' };
      const spec = { nodeName, containers: [{ name: 'main', image: 'web:1' }] };
      await client.create<Pod>({ apiVersion: 'v1', kind: 'Pod', metadata: key, spec });
      const state = await observe({ client, kinds: [Pod], namespace: undefined, comparable });
      await client.delete(Pod, key, { gracePeriodSeconds: 0 });
      return state.get(' Pod default/web')?.comparable['spec'];
    };
    const spec = await podOn('node-1');
    expect(spec).to.have.property('nodeName', '(made up)');
    expect(await podOn('node-2')).to.deep.equal(spec);
  });
});
