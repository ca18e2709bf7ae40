import { expect } from 'chai';
import { findCondition } from '../../../../lib/object/index.js';
import type { Condition } from '../../../../lib/object/index.js';
import { Deployment, Event, ReplicaSet } from '../../../../lib/object/kinds.js';
import { simulatedCluster, stopSimulatedClusters } from '../simulated-cluster.js';
import type { SimulatedCluster } from '../simulated-cluster.js';
import { deployment, refusalOf } from '../workload-objects.js';

/** Returns the name that a Deployment gives its ReplicaSet first, after another one has taken it. */
async function takenName({ create, names, ...cluster }: SimulatedCluster): Promise<string> {
  await create(deployment('web'));
  const [name = ''] = await names(ReplicaSet);
  await cluster.delete(Deployment, 'web');
  const { spec } = deployment('other', { replicas: 0 });
  const metadata = { name, namespace: 'default' };
  await create({ apiVersion: 'apps/v1', kind: 'ReplicaSet', metadata, spec } as ReplicaSet);
  return name;
}

const rolledOut = { updatedReplicas: 1, availableReplicas: 1 };

describe('a Deployment that cannot create its ReplicaSet', () => {
  // The first attempts to create the ReplicaSet fail.
  afterEach(() => stopSimulatedClusters(/deployments default\/web: .*(?:already exists|not now)/));

  it('chooses a second name if another ReplicaSet has the first one', async () => {
    const cluster = await simulatedCluster();
    const name = await takenName(cluster);
    await cluster.create(deployment('web'));
    const { status } = await cluster.get(Deployment, 'web');
    expect(status).to.include({ collisionCount: 1, ...rolledOut });
    const sets = await cluster.list(ReplicaSet);
    const own = sets.filter(({ metadata }) => metadata.name !== name);
    const hashes = own.map(({ metadata }) => `web-${metadata.labels?.['pod-template-hash']}`);
    expect(own.map(({ metadata }) => metadata.name)).to.deep.equal(hashes);
    expect(hashes).to.have.length(1);
    const other = sets.find(({ metadata }) => metadata.name === name);
    expect(other?.metadata).not.to.have.property('ownerReferences');
  });

  it('chooses a second name only after a policy no longer refuses updates of the status of the Deployment', async () => {
    const cluster = await simulatedCluster();
    await takenName(cluster);
    const refusal = refusalOf('UPDATE', { group: 'apps', resource: 'deployments/status' });
    await cluster.create(...refusal, deployment('web'));
    const refused = await cluster.get(Deployment, 'web');
    expect(refused.status).not.to.have.property('collisionCount');
    for (const type of refusal) await cluster.client.delete(type, { name: 'refusal' });
    await cluster.clock.advance(60_000);
    const { status } = await cluster.get(Deployment, 'web');
    expect(status).to.include({ collisionCount: 1, ...rolledOut });
  });

  it('reports the reason in a condition and an Event, and tries again', async () => {
    const cluster = await simulatedCluster();
    const refusal = refusalOf('CREATE', { group: 'apps', resource: 'replicasets' });
    await cluster.create(...refusal, deployment('web'));
    const { status } = await cluster.get(Deployment, 'web');
    const condition = findCondition(status?.conditions as readonly Condition[], 'Progressing');
    const reason = 'ReplicaSetCreateError';
    expect(condition).to.include({ status: 'False', reason });
    expect(condition?.message)
      .to.match(/^Failed to create new replica set "web-/)
      .and.match(/denied request: not now$/);
    const events = (await cluster.list(Event)).filter((event) => event.reason === reason);
    expect(events).to.have.length(1);
    expect(events[0]).to.include({ type: 'Warning', note: condition?.message });
    for (const type of refusal) await cluster.client.delete(type, { name: 'refusal' });
    await cluster.clock.advance(60_000);
    expect((await cluster.get(Deployment, 'web')).status).to.include(rolledOut);
  });
});
