import { apply, get, patch, post, put, remove } from '../scenario.js';
import type { Request, Scenario } from '../scenario.js';

type Body = Readonly<Record<string, unknown>>;

const pods = '/api/v1/namespaces/{{ns}}/pods';
const one = `${pods}/one`;
const resize = `${one}/resize`;

const amounts = (cpu: string, memory: string): Body => ({ cpu, memory });
const burstable = { requests: amounts('100m', '100Mi') };
const guaranteed = { limits: amounts('200m', '200Mi'), requests: amounts('200m', '200Mi') };
const container = { name: 'c', image: 'x', resources: burstable };

const podOf = (spec: Body, metadata: Body = {}): Body => ({
  ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'one', ...metadata } },
  spec: { containers: [container], ...spec },
});

const resized = (resources: Body, more: Body = {}): Request =>
  patch('strategic', resize, { spec: { containers: [{ name: 'c', resources, ...more }] } });

const initResized = (name: string, more: Body): Request =>
  patch('strategic', resize, { spec: { initContainers: [{ name, ...more }] } });

const podResized = (resources: Body | null): Request =>
  patch('merge', resize, { spec: { resources } });

/** A status of a pod whose container runs, with or without the resources that new kubelets report. */
const running = (resources?: Body): Request =>
  patch('merge', `${one}/status`, {
    status: {
      phase: 'Running',
      containerStatuses: [
        {
          ...{ name: 'c', image: 'x', imageID: 'x', ready: true, restartCount: 0 },
          state: { running: { startedAt: '2026-01-01T00:00:00Z' } },
          ...(resources !== undefined && { resources }),
        },
      ],
    },
  });

const containerScenario: Scenario = {
  title: 'resizes of a container',
  requests: [
    get(resize),
    patch('merge', resize, {}),
    post(pods, podOf({})),
    get(resize),
    resized({ requests: amounts('200m', '200Mi') }),
    resized({ requests: amounts('0.2', '200Mi') }),
    resized({ limits: amounts('300m', '300Mi') }),
    resized({ limits: amounts('100m', '300Mi') }),
    resized({ requests: { cpu: '-1' } }),
    resized({ requests: { cpu: null } }),
    resized({ requests: null }),
    resized({ limits: null, requests: null }),
    resized({ requests: { 'ephemeral-storage': '1Gi' } }),
    resized({ requests: { 'example.com/a': '1' }, limits: { 'example.com/a': '1' } }),
    resized({ requests: { a: '1' } }),
    resized({ claims: [{ name: 'x' }] }),
    resized({ limits: amounts('200m', '200Mi') }),
    resized({}, { image: 'y' }),
    resized({}, { env: [{ name: 'A', value: 'b' }] }),
    resized({}, { resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }] }),
    resized({}, { resizePolicy: [{ resourceName: 'disk', restartPolicy: 'Never' }] }),
    resized({ requests: { cpu: 'x' } }),
    resized({ requests: 'x' }),
    patch('strategic', resize, { spec: { containers: [{ name: 'd', image: 'x' }] } }),
    patch('merge', resize, { spec: { containers: [] } }),
    patch('merge', resize, { spec: { containers: [{ name: 'd', image: 'x' }] } }),
    patch('merge', resize, {
      spec: { containers: [{ name: 'd', image: 'x' }, container], nodeName: 'n' },
      metadata: { labels: { a: 'b' } },
    }),
    patch('merge', resize, { spec: { initContainers: [{ name: 'i', image: 'x' }] } }),
    patch('merge', resize, { metadata: { labels: { a: 'b' }, annotations: { c: 'd' } } }),
    patch('merge', resize, { spec: { activeDeadlineSeconds: 5, nodeName: 'n' } }),
    patch('merge', resize, { status: { phase: 'Running' } }),
    patch('merge', `${resize}?dryRun=All`, { metadata: { finalizers: ['example.com/f'] } }),
    patch('json', resize, [
      { op: 'replace', path: '/spec/containers/0/resources/requests/cpu', value: '150m' },
    ]),
    put(resize, podOf({})),
    put(resize, podOf({ containers: [{ ...container, resources: {} }] })),
    put(resize, podOf({ containers: [] })),
    put(resize, { metadata: { name: 'one' } }),
    put(resize, podOf({ containers: [{ ...container, resources: guaranteed }] })),
    put(`${pods}/two/resize`, podOf({})),
    post(resize, podOf({})),
    remove(resize),
    get(one),
  ],
};

const owners: Scenario = {
  title: 'owners of resized fields',
  requests: [
    post(`${pods}?fieldManager=m`, podOf({ restartPolicy: 'Never' })),
    patch('strategic', `${resize}?fieldManager=r`, {
      metadata: { labels: { a: 'b' } },
      spec: {
        activeDeadlineSeconds: 5,
        containers: [
          {
            ...{ name: 'c', image: 'y', resources: { limits: amounts('1', '1Gi') } },
            resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'NotRequired' }],
          },
        ],
      },
    }),
    apply('a', resize, podOf({ containers: [container] })),
    apply('a', resize, podOf({ containers: [container] }), true),
    apply('a', resize, podOf({ containers: [{ name: 'c', resources: burstable }] }), true),
    apply('a', resize, podOf({ containers: [{ name: 'd', image: 'x' }] })),
    patch('merge', `${one}/ephemeralcontainers?fieldManager=e`, {
      metadata: { labels: { a: 'b' } },
      spec: { activeDeadlineSeconds: 5, ephemeralContainers: [{ name: 'e', image: 'x' }] },
    }),
    apply('f', `${one}/ephemeralcontainers`, {
      ...{ apiVersion: 'v1', kind: 'Pod', metadata: { labels: { c: 'd' } } },
      spec: { ephemeralContainers: [{ name: 'f', image: 'x' }] },
    }),
    get(one),
  ],
};

const classes: Scenario = {
  title: 'resizes that would change the class of a pod',
  requests: [
    post(pods, podOf({ containers: [{ ...container, resources: guaranteed }] })),
    resized({ requests: amounts('100m', '100Mi') }),
    resized({ requests: amounts('0', '0'), limits: amounts('0', '0') }),
    resized({ requests: amounts('300m', '300Mi'), limits: amounts('300m', '300Mi') }),
    resized({ requests: amounts('0.4', '0.5Gi'), limits: amounts('400m', '512Mi') }),
    remove(one),
    post(pods, podOf({ containers: [{ name: 'c', image: 'x' }] })),
    resized(burstable),
    resized({ requests: amounts('0', '0') }),
    resized({ requests: { 'ephemeral-storage': '1Gi' } }),
    remove(one),
    post(pods, podOf({ containers: [{ ...container, resources: { requests: { cpu: '1' } } }] })),
    resized({ requests: amounts('1', '1Gi') }),
    resized({ limits: { cpu: '2' } }),
    resized({ limits: amounts('1', '1Gi') }),
    get(one),
  ],
};

const refused: Scenario = {
  title: 'pods that cannot be resized',
  requests: [
    post(pods, podOf({}, { annotations: { 'kubernetes.io/config.mirror': 'x' } })),
    post(pods, podOf({ nodeName: 'n' }, { annotations: { 'kubernetes.io/config.mirror': 'x' } })),
    resized({ requests: amounts('200m', '200Mi') }),
    patch('merge', resize, { metadata: { labels: { 'a b': 'c' } } }),
    patch('merge', one, { metadata: { annotations: { 'kubernetes.io/config.mirror': 'y' } } }),
    patch('merge', one, { metadata: { annotations: { 'kubernetes.io/config.mirror': null } } }),
    remove(`${one}?gracePeriodSeconds=0`),
    post(pods, podOf({ os: { name: 'windows' } })),
    resized({ requests: amounts('200m', '200Mi') }),
    resized({ requests: amounts('200m', '-1') }),
    remove(one),
    post(pods, podOf({})),
    patch('merge', one, { metadata: { annotations: { 'kubernetes.io/config.mirror': 'y' } } }),
    running(),
    resized({ requests: amounts('200m', '200Mi') }),
    resized({ requests: { cpu: null } }),
    resized({}),
    running(burstable),
    resized({ requests: amounts('200m', '200Mi') }),
    remove(one),
  ],
};

const policy = (restartPolicy: string): Body => ({
  resizePolicy: [{ resourceName: 'cpu', restartPolicy }],
});
const restarting = { restartPolicy: 'Always', name: 's', image: 'x' };

const initContainers: Scenario = {
  title: 'resizes of init containers',
  requests: [
    post(
      pods,
      podOf({
        initContainers: [
          { ...restarting, resources: burstable, ...policy('RestartContainer') },
          { name: 'i', image: 'x', resources: burstable, ...policy('NotRequired') },
        ],
      }),
    ),
    initResized('s', { resources: { requests: amounts('200m', '200Mi') } }),
    initResized('i', { resources: { requests: amounts('200m', '200Mi') } }),
    initResized('i', { resources: { requests: { cpu: null } } }),
    initResized('s', { resources: { limits: { 'ephemeral-storage': '1Gi' } } }),
    initResized('i', { resources: { limits: { 'ephemeral-storage': '1Gi' } } }),
    initResized('s', { image: 'y' }),
    initResized('i', policy('RestartContainer')),
    initResized('s', policy('NotRequired')),
    initResized('new', { image: 'y' }),
    patch('merge', resize, { spec: { initContainers: null } }),
    patch('json', resize, [
      { op: 'copy', from: '/spec/initContainers/1', path: '/spec/initContainers/0' },
      { op: 'remove', path: '/spec/initContainers/2' },
    ]),
    get(one),
  ],
};

const restartPolicies: Scenario = {
  title: 'resizes and restart policies',
  requests: [
    post(
      pods,
      podOf({
        restartPolicy: 'Never',
        containers: [{ ...container, ...policy('RestartContainer') }],
      }),
    ),
    post(
      pods,
      podOf({ restartPolicy: 'Never', containers: [{ ...container, ...policy('NotRequired') }] }),
    ),
    resized({ requests: amounts('200m', '200Mi') }),
    resized({}, policy('RestartContainer')),
    remove(one),
    post(
      pods,
      podOf({
        restartPolicy: 'OnFailure',
        containers: [{ ...container, ...policy('RestartContainer') }],
      }),
    ),
    resized({ requests: amounts('50m', '50Mi') }),
    resized({}, policy('NotRequired')),
    resized({}, { resizePolicy: null }),
    get(one),
  ],
};

const nodes: Scenario = {
  title: 'resizes of pods on nodes',
  requests: [
    post(pods, podOf({ nodeName: '{{ns}}-absent' })),
    resized({}),
    resized({ requests: amounts('200m', '200Mi') }),
    remove(`${one}?gracePeriodSeconds=0`),
    post('/api/v1/nodes', {
      metadata: { name: '{{ns}}-node', labels: { 'kubernetes.io/os': 'linux' } },
      status: {},
    }),
    patch('merge', '/api/v1/nodes/{{ns}}-node/status', {
      status: { capacity: amounts('1', '1Gi'), allocatable: amounts('1', '1Gi') },
    }),
    post(pods, podOf({ nodeName: '{{ns}}-node' })),
    resized({ requests: amounts('200m', '200Mi') }),
    resized({ requests: amounts('2', '200Mi') }),
    resized({ requests: amounts('2', '2Gi') }),
    resized({ requests: amounts('1', '2Gi') }),
    resized({ requests: { memory: '-1' } }),
    patch('merge', '/api/v1/nodes/{{ns}}-node', {
      metadata: { labels: { 'kubernetes.io/os': 'windows' } },
    }),
    resized({ requests: amounts('300m', '200Mi') }),
    resized({}),
    patch('merge', '/api/v1/nodes/{{ns}}-node', {
      metadata: { labels: { 'kubernetes.io/os': null } },
    }),
    podResized({ limits: amounts('1', '1Gi') }),
    remove(`${one}?gracePeriodSeconds=0`),
    post(pods, podOf({ nodeName: '{{ns}}-node', initContainers: [{ ...container, name: 'i' }] })),
    initResized('i', { resources: { requests: amounts('200m', '200Mi') } }),
    initResized('i', { resources: { requests: amounts('2', '200Mi') } }),
    patch('merge', '/api/v1/nodes/{{ns}}-node/status', {
      status: {
        declaredFeatures: [
          'InPlacePodLevelResourcesVerticalScaling',
          'InPlacePodVerticalScalingInitContainers',
        ],
      },
    }),
    podResized({ limits: amounts('1', '1Gi') }),
    initResized('i', { resources: { requests: amounts('300m', '200Mi') } }),
    podResized({ requests: amounts('2', '1Gi') }),
    podResized({ limits: amounts('2', '2Gi'), requests: amounts('2', '2Gi') }),
    remove(`${one}?gracePeriodSeconds=0`),
    remove('/api/v1/nodes/{{ns}}-node'),
  ],
};

const podLevel: Scenario = {
  title: 'resizes of the resources of a whole pod',
  requests: [
    post(pods, podOf({ resources: guaranteed })),
    podResized({ requests: amounts('300m', '300Mi'), limits: amounts('300m', '300Mi') }),
    podResized({ requests: amounts('100m', '50Mi') }),
    podResized(null),
    podResized({ requests: null }),
    podResized({ limits: { cpu: null } }),
    podResized({ limits: { cpu: '1' } }),
    podResized({ limits: { 'hugepages-2Mi': '2Mi' } }),
    podResized({ limits: { 'ephemeral-storage': '2Mi' } }),
    resized({ requests: amounts('400m', '400Mi') }),
    resized({ limits: amounts('400m', '400Mi') }),
    remove(one),
    post(pods, podOf({})),
    podResized({ requests: amounts('200m', '200Mi') }),
    podResized({ requests: amounts('50m', '200Mi') }),
    podResized({ limits: amounts('50m', '200Mi') }),
    get(one),
  ],
};

const limits: Scenario = {
  title: 'resizes within limits and quotas',
  requests: [
    post('/api/v1/namespaces/{{ns}}/limitranges', {
      metadata: { name: 'one' },
      spec: { limits: [{ type: 'Container', max: amounts('500m', '500Mi') }] },
    }),
    post(
      pods,
      podOf({
        containers: [
          { ...container, resources: { ...burstable, limits: amounts('200m', '200Mi') } },
        ],
      }),
    ),
    resized({ limits: amounts('600m', '400Mi') }),
    resized({ limits: amounts('400m', '600Mi') }),
    resized({ limits: amounts('400m', '400Mi') }),
    remove('/api/v1/namespaces/{{ns}}/limitranges/one'),
    post('/api/v1/namespaces/{{ns}}/resourcequotas', {
      ...{ metadata: { name: 'one' }, spec: { hard: amounts('500m', '500Mi') } },
    }),
    patch('merge', '/api/v1/namespaces/{{ns}}/resourcequotas/one/status', {
      status: { hard: amounts('500m', '500Mi'), used: amounts('100m', '100Mi') },
    }),
    resized({ limits: amounts('1', '1Gi'), requests: { cpu: '600m' } }),
    resized({ limits: amounts('1', '1Gi'), requests: amounts('400m', '400Mi') }),
    resized({ requests: amounts('300m', '600Mi') }),
    remove(one),
  ],
};

/** The subresource `resize` of pods. */
export const resizes: readonly Scenario[] = [
  ...[containerScenario, owners, classes, refused, initContainers],
  ...[restartPolicies, nodes, podLevel, limits],
];
