import { expect } from 'chai';
import { Deployment, HorizontalPodAutoscaler } from '../../../lib/object/kinds.js';
import { simulatedCluster, stopSimulatedClusters } from './simulated-cluster.js';
import { deployment, pod } from './workload-objects.js';

/** CPU use of a pod in thousandths; `none`: the pod has no metric; others: the behavior of a pod that is not ready. */
type Use = number | 'none' | 'neverReady' | 'fail';

/** A target for pods that request 100m. */
interface Target {
  readonly averageUtilization?: number;
  readonly averageValue?: string;
}

const half: Target = { averageUtilization: 50 };
const value: Target = { averageValue: '50m' };

/** Autoscales a Deployment with `replicas`, whose pods are given by `uses` instead of created by a controller. */
async function scaled(replicas: number, uses: readonly Use[], target: Target) {
  const own = { deployments: false, disruptionBudgets: false };
  const { cluster, create, get } = await simulatedCluster({ controllers: own });
  const containers = [
    { name: 'main', image: 'app:1', resources: { requests: { cpu: '100m' } } } as const,
  ];
  for (const [index, use] of uses.entries()) {
    const name = `web-${index}`;
    const match = { name };
    if (use === 'fail' || use === 'neverReady') cluster.pods.add({ match, behavior: use });
    // The use of pods that are not ready must not count.
    const used = typeof use === 'number' ? use : 90;
    if (use !== 'none') cluster.metrics.add({ metric: 'cpu', value: `${used}m`, match });
    const spec = { containers, restartPolicy: use === 'fail' ? 'Never' : 'Always' };
    await create(pod(name, spec, { labels: { app: 'web' } }));
  }
  const type = target.averageUtilization === undefined ? 'AverageValue' : 'Utilization';
  const autoscaler: HorizontalPodAutoscaler = {
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: { name: 'web', namespace: 'default' },
    spec: {
      maxReplicas: 20,
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
      metrics: [{ type: 'Resource', resource: { name: 'cpu', target: { type, ...target } } }],
      behavior: { scaleDown: { stabilizationWindowSeconds: 0 } },
    },
  };
  await create(deployment('web', { replicas }), autoscaler);
  const { status } = await get(HorizontalPodAutoscaler, 'web');
  const active = status?.conditions?.find(({ type: name }) => name === 'ScalingActive');
  return { replicas: (await get(Deployment, 'web')).spec?.replicas, message: active?.message };
}

const cases: readonly (readonly [
  title: string,
  ...given: Parameters<typeof scaled>,
  expected: number,
])[] = [
  ['by the pods with a metric, if it grows', 3, [150, 150, 'none'], half, 6],
  ['as if pods without a metric used nothing, if it grows', 3, [70, 'none', 'none'], half, 3],
  [
    'as if pods without a metric used nothing, if it grows and the target is an average value',
    3,
    [70, 'none', 'none'],
    value,
    3,
  ],
  [
    'as if pods without a metric used their request, if it shrinks',
    4,
    [17, 17, 17, 'none'],
    half,
    3,
  ],
  [
    'as if pods without a metric used the target, if it shrinks and the target exceeds their request',
    ...([4, [20, 20, 20, 'none'], { averageUtilization: 200 }, 2] as const),
  ],
  [
    'as if pods without a metric used the target, if it shrinks and the target is an average value',
    4,
    [10, 10, 10, 'none'],
    value,
    2,
  ],
  ['not up only because of pods without a metric', 2, [40, 'none'], half, 2],
  ['not down only because of pods without a metric', 1, [140, 'none', 'none', 'none'], half, 1],
  [
    'not at all if its pods meet the target once those without a metric count as 0',
    3,
    [158, 'none', 'none'],
    half,
    3,
  ],
  ['not at all if the pods with a metric meet the target exactly', 2, [50, 'none'], half, 2],
  ['not up if it has to shrink, but has more pods than replicas', 2, [20, 20, 30, 'none'], half, 2],
  ['not down if it has to grow, but has fewer pods than replicas', 6, [150, 60, 'none'], half, 6],
  ['down if all of its pods have a metric, but are fewer than its replicas', 6, [150, 60], half, 5],
  ['as if unready pods used nothing, if it grows', 3, [100, 'neverReady', 'neverReady'], half, 3],
  ['without unready pods, if it shrinks', 4, [10, 10, 'neverReady', 'neverReady'], half, 1],
  ['without failed pods', 3, [10, 10, 'fail'], half, 1],
];

describe('a HorizontalPodAutoscaler of pods, some of which have no metrics', () => {
  afterEach(() => stopSimulatedClusters());

  for (const [title, replicas, uses, target, expected] of cases) {
    it(`scales ${title}`, async () => {
      expect((await scaled(replicas, uses, target)).replicas).to.equal(expected);
    });
  }

  it('does not scale if no pod is ready', async () => {
    const { replicas, message } = await scaled(2, ['neverReady', 'neverReady'], half);
    expect(replicas).to.equal(2);
    expect(message).to.include('did not receive metrics for targeted pods (pods might be unready)');
  });
});
