import { expect } from 'chai';
import { Deployment, HorizontalPodAutoscaler } from '../../../lib/object/kinds.js';
import { simulatedCluster, stopSimulatedClusters } from './simulated-cluster.js';
import type { SimulatedCluster } from './simulated-cluster.js';
import { deployment } from './workload-objects.js';

const resources = { requests: { cpu: '100m', memory: '100Mi' } };

/** A Deployment whose pods request 100m CPU. */
function web(replicas: number, requests: object = { resources }): Deployment {
  const containers = [{ name: 'main', image: 'app:1', ...requests }];
  const template = { metadata: { labels: { app: 'web' } }, spec: { containers } };
  return deployment('web', { replicas, template });
}

function autoscaler(metric: object, spec: object = {}): HorizontalPodAutoscaler {
  return {
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: { name: 'web', namespace: 'default' },
    spec: {
      minReplicas: 1,
      maxReplicas: 20,
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
      metrics: [metric as never],
      ...spec,
    },
  };
}

function cpu(target: object): object {
  return { type: 'Resource', resource: { name: 'cpu', target } };
}

const half = cpu({ type: 'Utilization', averageUtilization: 50 });

async function replicasIn({ get }: SimulatedCluster): Promise<number> {
  return (await get(Deployment, 'web')).spec!.replicas!;
}

async function reasonsIn({ get }: SimulatedCluster): Promise<Record<string, string | undefined>> {
  const { status } = await get(HorizontalPodAutoscaler, 'web');
  return Object.fromEntries(status!.conditions!.map(({ type, reason }) => [type, reason]));
}

describe('a HorizontalPodAutoscaler with metrics', () => {
  // Both the autoscaler and the controller of Deployments write the Deployment, so they may conflict.
  afterEach(() => stopSimulatedClusters(/deployments default\/web: .* 409 Conflict/));

  it('scales up until the utilization fits the target', async () => {
    const cluster = await simulatedCluster();
    await cluster.create(web(2), autoscaler(half));
    cluster.cluster.metrics.add({ metric: 'cpu', total: '150m' });
    await cluster.settled();
    expect(await replicasIn(cluster)).to.equal(3);
    const { status } = await cluster.get(HorizontalPodAutoscaler, 'web');
    expect(status).to.deep.include({
      desiredReplicas: 3,
      currentMetrics: [
        {
          type: 'Resource',
          resource: { name: 'cpu', current: { averageUtilization: 50, averageValue: '50m' } },
        },
      ],
    });
    expect(status!.lastScaleTime).to.be.a('string');
  });

  it('keeps its size within a tolerance of a tenth', async () => {
    const cluster = await simulatedCluster();
    await cluster.create(web(5), autoscaler(half));
    cluster.cluster.metrics.add({ metric: 'cpu', value: '55m' });
    await cluster.settled();
    expect(await replicasIn(cluster)).to.equal(5);
    expect(await reasonsIn(cluster)).to.deep.equal({
      AbleToScale: 'ReadyForNewScale',
      ScalingActive: 'ValidMetricFound',
      ScalingLimited: 'DesiredWithinRange',
    });
  });

  it('scales down only five minutes after the last higher recommendation', async () => {
    const cluster = await simulatedCluster();
    await cluster.create(web(6), autoscaler(half));
    cluster.cluster.metrics.add({ metric: 'cpu', value: '10m' });
    await cluster.settled();
    expect(await reasonsIn(cluster)).to.include({ AbleToScale: 'ScaleDownStabilized' });
    await cluster.clock.advance(270_000);
    expect(await replicasIn(cluster)).to.equal(6);
    await cluster.clock.advance(60_000);
    await cluster.settled();
    expect(await replicasIn(cluster)).to.equal(2);
  });

  it('scales down at once with a window of 0 seconds', async () => {
    const cluster = await simulatedCluster();
    const behavior = { scaleDown: { stabilizationWindowSeconds: 0 } };
    await cluster.create(web(6), autoscaler(half, { behavior }));
    cluster.cluster.metrics.add({ metric: 'cpu', value: '25m' });
    await cluster.settled();
    expect(await replicasIn(cluster)).to.be.at.most(3);
  });

  it('limits how fast it adds pods by the policies of its behavior', async () => {
    const cluster = await simulatedCluster();
    const policies = [{ type: 'Pods', value: 1, periodSeconds: 60 }];
    await cluster.create(web(2), autoscaler(half, { behavior: { scaleUp: { policies } } }));
    cluster.cluster.metrics.add({ metric: 'cpu', value: '400m' });
    await cluster.settled();
    expect(await replicasIn(cluster)).to.equal(3);
    expect(await reasonsIn(cluster)).to.include({ ScalingLimited: 'ScaleUpLimit' });
    await cluster.clock.advance(75_000);
    await cluster.settled();
    expect(await replicasIn(cluster)).to.equal(4);
  });

  it('does not exceed its maximum, and reports that it is limited', async () => {
    const cluster = await simulatedCluster();
    await cluster.create(web(3), autoscaler(half, { maxReplicas: 4 }));
    cluster.cluster.metrics.add({ metric: 'cpu', value: '1' });
    await cluster.settled();
    expect(await replicasIn(cluster)).to.equal(4);
    expect(await reasonsIn(cluster)).to.include({ ScalingLimited: 'TooManyReplicas' });
  });

  const tens = { type: 'AverageValue', averageValue: '10' };
  const service = { apiVersion: 'v1', kind: 'Service', name: 'web' };
  const m = { name: 'm' };
  const others: readonly (readonly [
    name: string,
    metric: object,
    value: string,
    current: { readonly type: string } & Readonly<Record<string, unknown>>,
  ])[] = [
    [
      'average value',
      cpu({ type: 'AverageValue', averageValue: '50m' }),
      '75m',
      { type: 'Resource', resource: { name: 'cpu', current: { averageValue: '75m' } } },
    ],
    [
      'Pods metric',
      { type: 'Pods', pods: { metric: m, target: tens } },
      '15',
      { type: 'Pods', pods: { metric: m, current: { averageValue: '15' } } },
    ],
    [
      'Object metric',
      { type: 'Object', object: { describedObject: service, metric: m, target: tens } },
      '40',
      {
        type: 'Object',
        object: { describedObject: service, metric: m, current: { averageValue: '10' } },
      },
    ],
    [
      'External metric',
      { type: 'External', external: { metric: m, target: tens } },
      '40',
      { type: 'External', external: { metric: m, current: { averageValue: '10' } } },
    ],
    [
      'value of an External metric',
      { type: 'External', external: { metric: m, target: { type: 'Value', value: '40' } } },
      '80',
      { type: 'External', external: { metric: m, current: { value: '80' } } },
    ],
  ];
  for (const [name, metric, value, current] of others) {
    it(`scales by the ${name}`, async () => {
      const cluster = await simulatedCluster();
      await cluster.create(web(2), autoscaler(metric));
      const missing = `FailedGet${current.type}Metric`;
      expect((await reasonsIn(cluster))['ScalingActive']).to.equal(missing);
      const rule = { metric: name === 'average value' ? 'cpu' : 'm', value };
      cluster.cluster.metrics.add({ ...rule, match: { namespace: 'default' } });
      await cluster.cluster.settled();
      expect((await reasonsIn(cluster))['ScalingActive']).to.equal('ValidMetricFound');
      expect(await replicasIn(cluster)).to.be.at.least(3);
      const { status } = await cluster.get(HorizontalPodAutoscaler, 'web');
      expect(status?.currentMetrics).to.deep.equal([current]);
    });
  }

  it('reports missing metrics with the messages of the real controller', async () => {
    const cluster = await simulatedCluster();
    await cluster.create(web(1), autoscaler(half));
    const { status } = await cluster.get(HorizontalPodAutoscaler, 'web');
    const active = status!.conditions!.find(({ type }) => type === 'ScalingActive');
    expect(active).to.include({
      status: 'False',
      reason: 'FailedGetResourceMetric',
      message:
        'the HPA was unable to compute the replica count: failed to get cpu utilization: unable to get metrics for resource cpu: unable to fetch metrics from resource metrics API: the server could not find the requested resource (get pods.metrics.k8s.io)',
    });
  });

  it('reports pods without a request', async () => {
    const cluster = await simulatedCluster();
    cluster.cluster.metrics.add({ metric: 'cpu', value: '75m' });
    await cluster.create(web(1, {}), autoscaler(half));
    const { status } = await cluster.get(HorizontalPodAutoscaler, 'web');
    const active = status!.conditions!.find(({ type }) => type === 'ScalingActive');
    expect(active!.message).to.match(/missing request for cpu in container main of Pod web-/);
  });

  it('does not scale by a percentage of requests that are all 0', async () => {
    const cluster = await simulatedCluster();
    const none = { resources: { requests: { cpu: '0' } } };
    await cluster.create(web(2, none), autoscaler(half));
    cluster.cluster.metrics.add({ metric: 'cpu', total: '150m' });
    await cluster.settled();
    expect(await replicasIn(cluster)).to.equal(2);
    expect(await reasonsIn(cluster)).to.include({ ScalingActive: 'FailedGetResourceMetric' });
  });

  it('uses the latest metrics that a test has set for its pods, and no metrics after a test removes them', async () => {
    const cluster = await simulatedCluster();
    const { metrics } = cluster.cluster;
    metrics.add({ metric: 'cpu', total: '100m' });
    const high = metrics.add({ metric: 'cpu', total: '150m', match: { labels: { app: 'web' } } });
    metrics.add({ metric: 'cpu', value: '500m', match: { namespace: 'other' } });
    await cluster.create(web(2), autoscaler(half));
    expect(await replicasIn(cluster)).to.equal(3);
    high.remove();
    await cluster.settled();
    expect(await replicasIn(cluster)).to.equal(3);
    metrics.clear();
    await cluster.settled();
    expect(await reasonsIn(cluster)).to.include({ ScalingActive: 'FailedGetResourceMetric' });
  });

  for (const [rule, problem] of [
    [{ metric: '', value: 1 }, 'want metric to be a name'],
    [{ metric: 'cpu', value: 'much' }, 'want a quantity'],
    [{ metric: 'cpu' }, 'want either value or total'],
    [{ metric: 'cpu', value: 1, total: 1 }, 'want either value or total'],
    [{ metric: 'cpu', value: 1, pod: 'a' }, 'pod'],
    [{ metric: 'cpu', value: 1, match: { labels: { a: 1 } } }, 'labels of strings'],
  ] as const) {
    it(`refuses the rule ${JSON.stringify(rule)}`, async () => {
      const { cluster } = await simulatedCluster();
      expect(() => cluster.metrics.add(rule as never))
        .to.throw(problem)
        .with.property('code', 'InvalidOption');
    });
  }
});
