import { expect } from 'chai';
import { Deployment, HorizontalPodAutoscaler } from '../../../lib/object/kinds.js';
import { coreEvent, simulatedCluster, stopSimulatedClusters } from './simulated-cluster.js';
import type { SimulatedCluster } from './simulated-cluster.js';
import { deployment } from './workload-objects.js';

/** A Deployment whose pods request 100m CPU. */
function web(replicas: number): Deployment {
  const resources = { requests: { cpu: '100m' } };
  const containers = [{ name: 'main', image: 'app:1', resources }];
  const template = { metadata: { labels: { app: 'web' } }, spec: { containers } };
  return deployment('web', { replicas, template });
}

/** An autoscaler of the Deployment `web` with a target of 50 % CPU utilization. */
function autoscaler(spec: object): HorizontalPodAutoscaler {
  const target = { type: 'Utilization', averageUtilization: 50 };
  return {
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: { name: 'web', namespace: 'default' },
    spec: {
      maxReplicas: 20,
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
      metrics: [{ type: 'Resource', resource: { name: 'cpu', target } }],
      ...spec,
    },
  };
}

/** Starts an autoscaler of pods that together use the CPU `total`. @returns the sizes of the Deployment from then on */
async function scaled(
  replicas: number,
  total: string,
  spec: object,
): Promise<SimulatedCluster & { readonly sizes: () => number[] }> {
  const cluster = await simulatedCluster();
  await cluster.create(web(replicas));
  cluster.cluster.metrics.add({ metric: 'cpu', total });
  const changes = cluster.changes(Deployment);
  await cluster.create(autoscaler(spec));
  const sizes = (): number[] => {
    const all = changes.map(({ object }) => object.spec!.replicas!);
    return all.filter((size, at) => size !== (all[at - 1] ?? replicas));
  };
  return { ...cluster, sizes };
}

/** Returns the conditions of the autoscaler as lines, without their times. */
async function conditionsIn({ get }: SimulatedCluster): Promise<string[]> {
  const { status } = await get(HorizontalPodAutoscaler, 'web');
  return status!.conditions!.map(
    ({ type, status, reason, message }) => `${type}=${status} ${reason}: ${message}`,
  );
}

const able = {
  ready: 'AbleToScale=True ReadyForNewScale: recommended size matches current size',
  rescaled: (size: number) =>
    `AbleToScale=True SucceededRescale: the HPA controller was able to update the target scale to ${size}`,
  got: "AbleToScale=True SucceededGetScale: the HPA controller was able to get the target's current scale",
  fewer:
    'AbleToScale=True ScaleDownStabilized: recent recommendations were higher than current one, applying the highest recent recommendation',
  more: 'AbleToScale=True ScaleUpStabilized: recent recommendations were lower than current one, applying the lowest recent recommendation',
};
const active =
  'ScalingActive=True ValidMetricFound: the HPA was able to successfully calculate a replica count from cpu resource utilization (percentage of request)';
const limited = {
  no: 'ScalingLimited=False DesiredWithinRange: the desired count is within the acceptable range',
  most: 'ScalingLimited=True TooManyReplicas: the desired replica count is more than the maximum replica count',
  least:
    'ScalingLimited=True TooFewReplicas: the desired replica count is less than the minimum replica count',
  up: 'ScalingLimited=True ScaleUpLimit: the desired replica count is increasing faster than the maximum scale rate',
  down: 'ScalingLimited=True ScaleDownLimit: the desired replica count is decreasing faster than the maximum scale rate',
};

const pods = (value: number, periodSeconds = 60) => ({ type: 'Pods', value, periodSeconds });
const percent = (value: number, periodSeconds = 60) => ({ type: 'Percent', value, periodSeconds });
const up = (rules: object) => ({ behavior: { scaleUp: rules } });
const down = (rules: object) => ({
  behavior: { scaleDown: { stabilizationWindowSeconds: 0, ...rules } },
});

interface Case {
  readonly title: string;
  readonly replicas: number;
  /** The CPU of all pods. */
  readonly total: string;
  readonly spec?: object;
  readonly sizes: readonly number[];
  readonly conditions: readonly string[];
}

const cases: readonly Case[] = [
  {
    title: 'twice its size at a time without a behavior',
    ...{ replicas: 3, total: '800m', sizes: [6, 12, 16] },
    conditions: [able.ready, active, limited.no],
  },
  {
    title: 'at least 4 without a behavior',
    ...{ replicas: 1, total: '200m', sizes: [4] },
    conditions: [able.ready, active, limited.no],
  },
  {
    title: 'its maximum',
    ...{ replicas: 3, total: '800m', spec: { maxReplicas: 5 }, sizes: [5] },
    conditions: [able.ready, active, limited.most],
  },
  {
    title: 'its minimum',
    ...{ replicas: 4, total: '4m', spec: { minReplicas: 2, ...down({}) }, sizes: [2] },
    conditions: [able.ready, active, limited.least],
  },
  {
    title: 'a size of 1 without a minimum',
    ...{ replicas: 4, total: '4m', spec: down({}), sizes: [1] },
    conditions: [able.ready, active, limited.no],
  },
  {
    title: 'more by a number of pods in a period',
    ...{ replicas: 2, total: '800m', spec: up({ policies: [pods(3)] }), sizes: [5] },
    conditions: [able.ready, active, limited.up],
  },
  {
    title: 'more by a percentage, rounded up',
    ...{ replicas: 3, total: '800m', spec: up({ policies: [percent(50)] }), sizes: [5] },
    conditions: [able.ready, active, limited.up],
  },
  {
    title: 'more by the policy that allows most',
    ...{ replicas: 2, total: '800m', spec: up({ policies: [pods(1), percent(200)] }), sizes: [6] },
    conditions: [able.ready, active, limited.up],
  },
  {
    title: 'more by the policy that allows least with Min',
    ...{ replicas: 2, total: '800m', sizes: [3] },
    spec: up({ policies: [percent(200), pods(1)], selectPolicy: 'Min' }),
    conditions: [able.ready, active, limited.up],
  },
  {
    title: 'not more if growth is disabled',
    ...{ replicas: 2, total: '800m', spec: up({ selectPolicy: 'Disabled' }), sizes: [] },
    conditions: [able.ready, active, limited.up],
  },
  {
    title: 'less by a number of pods in a period',
    ...{ replicas: 6, total: '6m', spec: down({ policies: [pods(1)] }), sizes: [5] },
    conditions: [able.ready, active, limited.down],
  },
  {
    title: 'less by a percentage, rounded down',
    ...{ replicas: 7, total: '6m', spec: down({ policies: [percent(50)] }), sizes: [3] },
    conditions: [able.ready, active, limited.down],
  },
  {
    title: 'less by the policy that allows most',
    ...{ replicas: 6, total: '6m', spec: down({ policies: [pods(1), percent(50)] }), sizes: [3] },
    conditions: [able.ready, active, limited.down],
  },
  {
    title: 'less by the policy that allows least with Min',
    ...{ replicas: 6, total: '6m', sizes: [5] },
    spec: down({ policies: [percent(50), pods(1)], selectPolicy: 'Min' }),
    conditions: [able.ready, active, limited.down],
  },
  {
    title: 'not less if shrinking is disabled',
    ...{ replicas: 6, total: '6m', spec: down({ selectPolicy: 'Disabled' }), sizes: [] },
    conditions: [able.ready, active, limited.down],
  },
  {
    title: 'not less at once without a behavior',
    ...{ replicas: 6, total: '6m', sizes: [] },
    conditions: [able.fewer, active, limited.no],
  },
  {
    title: 'not more within the stabilization window for scaling up',
    ...{ replicas: 2, total: '800m', spec: up({ stabilizationWindowSeconds: 60 }), sizes: [] },
    conditions: [able.more, active, limited.no],
  },
];

describe('the limits of a HorizontalPodAutoscaler', () => {
  // Both the autoscaler and the controller of Deployments write the Deployment, so they may conflict.
  afterEach(() => stopSimulatedClusters(/deployments default\/web: .* 409 Conflict/));

  for (const { title, replicas, total, spec = {}, ...expected } of cases) {
    it(`let it have ${title}`, async () => {
      const cluster = await scaled(replicas, total, spec);
      const conditions = await conditionsIn(cluster);
      expect({ sizes: cluster.sizes(), conditions }).to.deep.equal(expected);
    });
  }

  it('let it add pods again when the period of a policy is over', async () => {
    const { sizes, clock, settled } = await scaled(2, '800m', up({ policies: [pods(3)] }));
    await clock.advance(45_000);
    await settled();
    expect(sizes()).to.deep.equal([5]);
    await clock.advance(15_000);
    await settled();
    expect(sizes()).to.deep.equal([5, 8]);
  });

  it('let it add pods by the default policies when the stabilization window for scaling up is over', async () => {
    const { sizes, clock, settled } = await scaled(
      ...([2, '800m', up({ stabilizationWindowSeconds: 60 })] as const),
    );
    await clock.advance(59_999);
    await settled();
    expect(sizes()).to.deep.equal([]);
    await clock.advance(1);
    await settled();
    expect(sizes()).to.deep.equal([6]);
    await clock.advance(15_000);
    await settled();
    expect(sizes()).to.deep.equal([6, 12]);
  });

  it('let it remove pods when the default stabilization window is over', async () => {
    const { sizes, clock, settled } = await scaled(6, '60m', {});
    await clock.advance(299_999);
    await settled();
    expect(sizes()).to.deep.equal([]);
    await clock.advance(1);
    await settled();
    expect(sizes()).to.deep.equal([2]);
  });
});

describe('a HorizontalPodAutoscaler in its status and Events', () => {
  afterEach(() => stopSimulatedClusters(/deployments default\/web: .* 409 Conflict/));

  async function report(replicas: number | undefined, spec: object) {
    const cluster = await simulatedCluster();
    if (replicas !== undefined) await cluster.create(web(replicas));
    await cluster.create(autoscaler(spec));
    const events = (await cluster.list(coreEvent)).filter(
      ({ involvedObject }) => involvedObject.kind === 'HorizontalPodAutoscaler',
    );
    return {
      conditions: await conditionsIn(cluster),
      events: events.map(({ type, reason, message }) => `${type} ${reason}: ${message}`).sort(),
    };
  }

  const missing = "the HPA controller was unable to get the target's current scale";
  /** Returns the conditions and events of an autoscaler whose metric no server serves. */
  const unserved = (
    kind: string,
    subject: string,
    problem: string,
    rescaled: readonly string[] = [],
  ) => ({
    conditions: [
      able.got,
      `ScalingActive=False FailedGet${kind}Metric: the HPA was unable to compute the replica count: ${problem}`,
    ],
    events: [
      ...rescaled,
      `Warning FailedComputeMetricsReplicas: invalid metrics (1 invalid out of 1), first error is: failed to get ${subject} metric value: ${problem}`,
      `Warning FailedGet${kind}Metric: ${problem}`,
    ],
  });
  const ofPods =
    'unable to get metrics for resource cpu: unable to fetch metrics from resource metrics API: the server could not find the requested resource (get pods.metrics.k8s.io)';
  const custom =
    'unable to get metric m: unable to fetch metrics from custom metrics API: no custom metrics API (custom.metrics.k8s.io) registered';
  const external =
    'unable to get external metric default/m/nil: unable to fetch metrics from external metrics API: the server could not find the requested resource (get m.external.metrics.k8s.io)';
  const cpu = ['Resource', 'cpu resource', `failed to get cpu utilization: ${ofPods}`] as const;
  const metric = { name: 'm' };
  const target = { type: 'AverageValue', averageValue: '10' };
  const describedObject = { apiVersion: 'v1', kind: 'Service', name: 'web' };
  const container = { name: 'cpu', container: 'main', target };
  const reports: readonly (readonly [
    title: string,
    replicas: number | undefined,
    spec: object,
    expected: { readonly conditions: readonly string[]; readonly events: readonly string[] },
  ])[] = [
    [
      'says that a target is missing',
      ...([undefined, {}] as const),
      {
        conditions: [`AbleToScale=False FailedGetScale: ${missing}`],
        events: [`Warning FailedGetScale: ${missing}`],
      },
    ],
    [
      'says that a target without replicas is not scaled',
      ...([0, {}] as const),
      {
        conditions: [
          able.got,
          'ScalingActive=False ScalingDisabled: scaling is disabled since the replica count of the target is zero',
        ],
        events: [],
      },
    ],
    [
      'says that the target had too many replicas',
      ...([9, { maxReplicas: 4 }] as const),
      unserved(...cpu, [
        'Normal SuccessfulRescale: New size: 4; reason: Current number of replicas above Spec.MaxReplicas',
      ]),
    ],
    [
      'says that the target had too few replicas',
      ...([2, { minReplicas: 3 }] as const),
      unserved(...cpu, [
        'Normal SuccessfulRescale: New size: 3; reason: Current number of replicas below Spec.MinReplicas',
      ]),
    ],
    [
      'says that no server has the usage of a container',
      1,
      { metrics: [{ type: 'ContainerResource', containerResource: container }] },
      unserved('ContainerResource', 'main container', `failed to get cpu usage: ${ofPods}`),
    ],
    [
      'says that no server has a metric of pods',
      1,
      { metrics: [{ type: 'Pods', pods: { metric, target } }] },
      unserved('Pods', 'pods', `failed to get pods metric value: ${custom}`),
    ],
    [
      'says that no server has a metric of an object',
      1,
      { metrics: [{ type: 'Object', object: { metric, target, describedObject } }] },
      unserved(
        ...(['Object', 'object'] as const),
        `failed to get m object metric: ${custom} on Service default/web`,
      ),
    ],
    [
      'says that no server has an external metric',
      1,
      { metrics: [{ type: 'External', external: { metric, target } }] },
      unserved('External', 'm external', `failed to get external metric m: ${external}`),
    ],
  ];
  for (const [title, replicas, spec, expected] of reports) {
    it(title, async () => expect(await report(replicas, spec)).to.deep.equal(expected));
  }

  it('reports that its pods have no metrics', async () => {
    const cluster = await scaled(1, '50m', {});
    cluster.cluster.metrics.clear();
    cluster.cluster.metrics.add({ metric: 'memory', total: '50Mi' });
    await cluster.settled();
    expect((await conditionsIn(cluster)).slice(0, 2)).to.deep.equal([
      able.got,
      'ScalingActive=False FailedGetResourceMetric: the HPA was unable to compute the replica count: failed to get cpu utilization: unable to get metrics for resource cpu: no metrics returned from resource metrics API',
    ]);
  });

  it('names the metric that changed the number of replicas, and the time of the change', async () => {
    const { list, get, clock, settled, cluster } = await scaled(2, '200m', {});
    cluster.metrics.add({ metric: 'cpu', total: '100m' });
    await clock.advance(300_000);
    await settled();
    const events = await list(coreEvent);
    const rescales = events.filter(({ reason }) => reason === 'SuccessfulRescale');
    expect(rescales.map(({ message }) => message).sort()).to.deep.equal([
      'New size: 2; reason: All metrics below target',
      'New size: 4; reason: cpu resource utilization (percentage of request) above target',
    ]);
    const { status } = await get(HorizontalPodAutoscaler, 'web');
    expect(status).to.deep.include({ currentReplicas: 2, desiredReplicas: 2 });
    const shrunk = rescales.find(({ message }) => message!.startsWith('New size: 2'))!;
    expect(status!.lastScaleTime).to.equal(shrunk.firstTimestamp);
  });

  it('shows the usage of a container, and its percentage of the request', async () => {
    const utilization = { type: 'Utilization', averageUtilization: 50 };
    const containerResource = { name: 'cpu', container: 'main', target: utilization };
    const metrics = [{ type: 'ContainerResource', containerResource }];
    const cluster = await scaled(2, '100m', { metrics });
    const { status } = await cluster.get(HorizontalPodAutoscaler, 'web');
    const current = { averageUtilization: 50, averageValue: '50m' };
    expect(status!.currentMetrics).to.deep.equal([
      { type: 'ContainerResource', containerResource: { name: 'cpu', container: 'main', current } },
    ]);
    expect((await conditionsIn(cluster))[1]).to.equal(
      'ScalingActive=True ValidMetricFound: the HPA was able to successfully calculate a replica count from cpu container resource utilization (percentage of request)',
    );
  });
});
