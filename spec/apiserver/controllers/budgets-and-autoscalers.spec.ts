import { expect } from 'chai';
import {
  Deployment,
  HorizontalPodAutoscaler,
  Pod,
  PodDisruptionBudget,
} from '../../../lib/object/kinds.js';
import type { UnstructuredObject } from '../../../lib/object/index.js';
import { simulatedCluster, stopSimulatedClusters } from './simulated-cluster.js';
import { deployment, imagePatch } from './workload-objects.js';

function budget(spec: object): PodDisruptionBudget {
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: 'web', namespace: 'default' },
    spec: { selector: { matchLabels: { app: 'web' } }, ...spec },
  };
}

function autoscaler(minReplicas: number, maxReplicas: number): HorizontalPodAutoscaler {
  return {
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: { name: 'web', namespace: 'default' },
    spec: {
      minReplicas,
      maxReplicas,
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
    },
  };
}

describe('a PodDisruptionBudget in the embedded cluster', () => {
  afterEach(stopSimulatedClusters);

  const cases: readonly [spec: object, desired: number, allowed: number][] = [
    [{ minAvailable: 1 }, 1, 2],
    [{ minAvailable: '50%' }, 2, 1],
    [{ maxUnavailable: 1 }, 2, 1],
    [{ maxUnavailable: '50%' }, 1, 2],
    [{ minAvailable: 5 }, 5, 0],
  ];
  for (const [spec, desiredHealthy, disruptionsAllowed] of cases) {
    it(`with ${JSON.stringify(spec)} allows ${disruptionsAllowed} of 3 pods to be disrupted`, async () => {
      const { create, get } = await simulatedCluster();
      await create(deployment('web', { replicas: 3 }), budget(spec));
      const { status } = await get(PodDisruptionBudget, 'web');
      expect(status).to.deep.include({
        currentHealthy: 3,
        desiredHealthy,
        disruptionsAllowed,
        expectedPods: 3,
      });
      const [condition] = status!.conditions!;
      const reason = disruptionsAllowed > 0 ? 'SufficientPods' : 'InsufficientPods';
      expect(condition).to.include({ type: 'DisruptionAllowed', reason });
    });
  }

  it('without a limit allows no pod to be disrupted', async () => {
    const { create, get } = await simulatedCluster();
    await create(deployment('web', { replicas: 3 }), budget({}));
    const { status } = await get(PodDisruptionBudget, 'web');
    expect(status).to.include({ currentHealthy: 3, disruptionsAllowed: 0, expectedPods: 0 });
  });
});

describe('a PodDisruptionBudget after an eviction', () => {
  afterEach(stopSimulatedClusters);

  /** Evicts the first pod. If `deleteOptions` has the uid of another pod, the pod stays, but the disruption counts. */
  async function evicted(deleteOptions: object) {
    const cluster = await simulatedCluster();
    const { client, create, get, list } = cluster;
    await create(deployment('web', { replicas: 3 }), budget({ maxUnavailable: 1 }));
    const [first] = await list(Pod);
    const { name = '' } = first!.metadata;
    const metadata = { namespace: 'default', name };
    const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata, deleteOptions };
    await client
      .create<UnstructuredObject>(eviction, { subresource: 'eviction' })
      .catch(() => undefined);
    const shown = async () => (await get(PodDisruptionBudget, 'web')).status!;
    return { ...cluster, name, shown };
  }

  it('removes the evicted pod from disruptedPods as soon as the deletion of the pod begins', async () => {
    const { clock, shown } = await evicted({});
    await clock.advance(60_000);
    expect(await shown()).to.deep.include({ currentHealthy: 3, disruptionsAllowed: 1 });
    expect(await shown()).not.to.have.property('disruptedPods');
  });

  it('counts the pod as healthy again if its deletion does not begin within two minutes', async () => {
    const { clock, name, shown } = await evicted({ preconditions: { uid: 'other' } });
    await clock.advance(60_000);
    expect(await shown()).to.deep.include({ currentHealthy: 2, disruptionsAllowed: 0 });
    expect((await shown()).disruptedPods).to.have.all.keys(name);
    await clock.advance(61_000);
    expect(await shown()).to.deep.include({ currentHealthy: 3, disruptionsAllowed: 1 });
    expect(await shown()).not.to.have.property('disruptedPods');
  });
});

describe('a PodDisruptionBudget during a rollout', () => {
  afterEach(stopSimulatedClusters);

  it('counts the replicas of the Deployment, not of its ReplicaSets', async () => {
    const { create, patch, get } = await simulatedCluster();
    await create(deployment('web', { replicas: 4 }), budget({ maxUnavailable: 1 }));
    await patch(Deployment, 'web', imagePatch('registry/app:broken'));
    const { status } = await get(PodDisruptionBudget, 'web');
    expect(status).to.include({ expectedPods: 4, desiredHealthy: 3, currentHealthy: 3 });
  });
});

describe('a HorizontalPodAutoscaler in the embedded cluster', () => {
  // Both the autoscaler and the controller of Deployments write the Deployment, so they may conflict.
  afterEach(() => stopSimulatedClusters(/deployments default\/web: .* 409 Conflict/));

  const cases: readonly (readonly [
    replicas: number,
    least: number,
    most: number,
    result: number,
    desired: number,
  ])[] = [
    [1, 2, 5, 2, 2],
    [9, 2, 5, 5, 5],
    [3, 2, 5, 3, 0],
    [0, 2, 5, 0, 0],
  ];
  for (const [replicas, least, most, result, desired] of cases) {
    it(`scales ${replicas} replicas to ${result}, between ${least} and ${most}`, async () => {
      const { create, get } = await simulatedCluster();
      await create(deployment('web', { replicas }), autoscaler(least, most));
      expect((await get(Deployment, 'web')).spec!.replicas).to.equal(result);
      const { status } = await get(HorizontalPodAutoscaler, 'web');
      const { currentReplicas = 0, desiredReplicas } = status!;
      expect({ currentReplicas, desiredReplicas }).to.deep.equal({
        currentReplicas: result,
        desiredReplicas: desired,
      });
    });
  }

  it('reports missing metrics or a missing target', async () => {
    const { create, get, ...cluster } = await simulatedCluster();
    await create(autoscaler(1, 2));
    const reasons = async () => {
      const { status } = await get(HorizontalPodAutoscaler, 'web');
      return status!.conditions!.map(({ reason }) => reason);
    };
    expect(await reasons()).to.deep.equal(['FailedGetScale']);
    await create(deployment('web', { replicas: 1 }));
    expect(await reasons()).to.deep.equal(['SucceededGetScale', 'FailedGetResourceMetric']);
    await cluster.delete(Deployment, 'web');
  });
});
