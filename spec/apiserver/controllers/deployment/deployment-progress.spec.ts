import { expect } from 'chai';
import { Deployment, ReplicaSet } from '../../../../lib/object/kinds.js';
import { simulatedCluster, stopSimulatedClusters } from '../simulated-cluster.js';
import type { SimulatedCluster } from '../simulated-cluster.js';
import { deployment, imagePatch, refusalOf } from '../workload-objects.js';

/** Follows the conditions of all Deployments. @returns them as lines, without equal lines in a row */
function following({ changes }: SimulatedCluster): () => string[] {
  const seen = changes(Deployment);
  return () => {
    const lines = seen.map(({ object }) =>
      (object.status?.conditions ?? [])
        .map(({ type, status, reason, message }) => `${type}=${status} ${reason}: ${message}`)
        .map((line) => line.replace(/web-[a-z0-9]+/, 'web-HASH'))
        .sort()
        .join('; '),
    );
    return lines.filter((line, at) => line !== '' && line !== lines[at - 1]);
  };
}

const available = 'Available=True MinimumReplicasAvailable: Deployment has minimum availability.';
const unavailable =
  'Available=False MinimumReplicasUnavailable: Deployment does not have minimum availability.';
const created = 'Progressing=True NewReplicaSetCreated: Created new replica set "web-HASH"';
const updated = 'Progressing=True ReplicaSetUpdated: ReplicaSet "web-HASH" is progressing.';
const complete =
  'Progressing=True NewReplicaSetAvailable: ReplicaSet "web-HASH" has successfully progressed.';

describe('the conditions of a Deployment', () => {
  afterEach(() => stopSimulatedClusters(/not now/));

  it('report its first rollout', async () => {
    const cluster = await simulatedCluster();
    const lines = following(cluster);
    await cluster.create(deployment('web', { replicas: 1 }));
    expect(lines()).to.deep.equal([
      `${unavailable}; ${created}`,
      `${unavailable}; ${updated}`,
      `${available}; ${complete}`,
    ]);
  });

  it('report a later rollout with the names of its ReplicaSets', async () => {
    const cluster = await simulatedCluster();
    await cluster.create(deployment('web', { replicas: 1 }));
    const lines = following(cluster);
    await cluster.patch(Deployment, 'web', imagePatch('registry/app:2'));
    expect(lines()).to.deep.equal([
      `${available}; ${complete}`,
      `${available}; ${created}`,
      `${available}; ${updated}`,
      `${available}; ${complete}`,
    ]);
  });

  it('report that a ReplicaSet of an earlier template is used again', async () => {
    const cluster = await simulatedCluster();
    await cluster.create(deployment('web', { replicas: 1 }));
    await cluster.patch(Deployment, 'web', imagePatch('registry/app:2'));
    const lines = following(cluster);
    await cluster.patch(Deployment, 'web', imagePatch('registry/app:1'));
    expect(lines()).to.deep.equal([
      `${available}; ${complete}`,
      `${available}; ${updated}`,
      `${available}; ${complete}`,
    ]);
    expect(await cluster.names(ReplicaSet)).to.have.length(2);
  });

  it('report a pause and its end', async () => {
    const cluster = await simulatedCluster();
    await cluster.create(deployment('web', { replicas: 1 }));
    const lines = following(cluster);
    await cluster.patch(Deployment, 'web', { spec: { paused: true } });
    await cluster.patch(Deployment, 'web', { spec: { paused: null } });
    expect(lines()).to.deep.equal([
      `${available}; ${complete}`,
      `${available}; Progressing=Unknown DeploymentPaused: Deployment is paused`,
      `${available}; ${complete}`,
    ]);
  });

  it('report an exceeded deadline, even while the Deployment is paused', async () => {
    const cluster = await simulatedCluster();
    await cluster.create(
      deployment('web', { replicas: 1, progressDeadlineSeconds: 60 }, 'registry/app:broken'),
    );
    const lines = following(cluster);
    await cluster.clock.advance(59_000);
    expect(lines()).to.deep.equal([]);
    await cluster.clock.advance(3_000);
    await cluster.patch(Deployment, 'web', { spec: { paused: true } });
    const exceeded =
      'Progressing=False ProgressDeadlineExceeded: ReplicaSet "web-HASH" has timed out progressing.';
    expect(lines()).to.deep.equal([`${unavailable}; ${exceeded}`]);
  });

  it('do not include Progressing without progressDeadlineSeconds', async () => {
    const cluster = await simulatedCluster();
    const lines = following(cluster);
    const noDeadline = { progressDeadlineSeconds: 2_147_483_647 };
    await cluster.create(deployment('web', { replicas: 1, ...noDeadline }));
    await cluster.patch(Deployment, 'web', { spec: { paused: true } });
    expect(lines()).to.deep.equal([unavailable, available]);
  });

  it('no longer include Progressing when progressDeadlineSeconds is removed', async () => {
    const cluster = await simulatedCluster();
    await cluster.create(deployment('web', { replicas: 1 }));
    const lines = following(cluster);
    await cluster.patch(Deployment, 'web', { spec: { progressDeadlineSeconds: 2_147_483_647 } });
    expect(lines()).to.deep.equal([`${available}; ${complete}`, available]);
  });

  it('report why no ReplicaSet can be created', async () => {
    const cluster = await simulatedCluster();
    await cluster.create(...refusalOf('CREATE', { group: 'apps', resource: 'replicasets' }));
    const lines = following(cluster);
    await cluster.create(deployment('web', { replicas: 1 }));
    const why = `replicasets.apps "web-HASH" is forbidden: ValidatingAdmissionPolicy 'refusal' with binding 'refusal' denied request: not now`;
    const said = lines().map((line) => line.replace(/"web-(?!HASH)[a-z0-9]+"/, '"web-HASH"'));
    expect(said).to.deep.equal([
      `Progressing=False ReplicaSetCreateError: Failed to create new replica set "web-HASH": ${why}`,
    ]);
  });

  it('report why the ReplicaSet cannot create pods', async () => {
    const cluster = await simulatedCluster();
    await cluster.create(...refusalOf('CREATE', { resource: 'pods' }));
    await cluster.create(deployment('web', { replicas: 1 }));
    const { status } = await cluster.get(Deployment, 'web');
    const failure = status!.conditions!.find(({ type }) => type === 'ReplicaFailure')!;
    expect(failure).to.include({ status: 'True', reason: 'FailedCreate' });
    expect(failure.message).to.match(
      /^pods "web-\w+-\w+" is forbidden: ValidatingAdmissionPolicy 'refusal' .* denied request: not now$/,
    );
  });
});
