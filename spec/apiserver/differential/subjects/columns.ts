import omit from 'lodash/omit.js';
import { get, patch, post, remove, representations } from '../scenario.js';
import type { Request, Scenario } from '../scenario.js';
import { certificateRequest } from './cluster-parts.js';

type Body = Readonly<Record<string, unknown>>;

const table = { accept: representations.table };
const time = '2026-01-01T00:00:00Z';
const microTime = '2026-01-01T00:00:00.000000Z';
const containers = [{ name: 'c', image: 'x' }];
const labels = { app: 'a' };
const core = '/api/v1/namespaces/{{ns}}';

/** Creates an object, and reads the table with it after each change of its status. */
const shown = (path: string, body: Body, statuses: readonly Body[] = []): Request[] => {
  const { metadata } = body as { metadata: { name: string } };
  const one = `${path}/${metadata.name}`;
  return [
    post(path, body),
    get(one, table),
    ...statuses.flatMap((status) => [patch('merge', `${one}/status`, { status }), get(one, table)]),
  ];
};

/** Creates an object of each body, and reads the table with each. */
const each = (path: string, bodies: readonly Body[]): Request[] =>
  bodies.flatMap((body, index) => shown(path, { metadata: { name: `n${index}` }, ...body }));

const one = { metadata: { name: 'one' } };
const cluster = { metadata: { name: '{{ns}}-one' } };

const container = (state: Body, more: Body = {}): Body => ({
  ...{ name: 'c', image: 'x', imageID: '', ready: false, restartCount: 0, state },
  ...more,
});
const ended = (exitCode: number, more: Body = {}): Body => ({ terminated: { exitCode, ...more } });
const waiting = (reason?: string): Body => ({ waiting: { reason } });
const running = { running: { startedAt: time } };
const when = (type: string, status = 'True', more: Body = {}): Body => ({
  conditions: [{ type, status, ...more }],
});

/** States of one container of a pod. */
const states: readonly Body[] = [
  ...[
    running,
    waiting(),
    waiting('CrashLoopBackOff'),
    ended(0),
    ended(1),
    ended(0, { reason: 'Completed' }),
  ],
  ...[ended(137, { signal: 9 }), ended(1, { reason: 'Error' }), {}],
];

const podStatuses: readonly Body[] = [
  ...states.flatMap((state) => [
    { containerStatuses: [container(state), container(running, { name: 'd', ready: true })] },
    { containerStatuses: [container(running, { ready: true }), container(state, { name: 'd' })] },
    {
      containerStatuses: [
        container(ended(0, { reason: 'Completed' })),
        container(state, { name: 'd', ready: true }),
      ],
      ...when('Ready'),
    },
    {
      containerStatuses: [
        container(ended(0, { reason: 'Completed' })),
        container(state, { name: 'd', ready: true }),
      ],
      ...when('Ready', 'False'),
    },
  ]),
  { containerStatuses: null, reason: 'Evicted', phase: 'Failed' },
  { reason: null, phase: 'Succeeded' },
  { phase: 'Running', ...when('PodScheduled', 'False', { reason: 'SchedulingGated' }) },
  { ...when('PodScheduled', 'False', { reason: 'Unschedulable' }) },
  {
    containerStatuses: [
      container(running, { restartCount: 2, lastState: ended(1, { finishedAt: time }) }),
      container(running, { name: 'd', restartCount: 1, lastState: ended(1) }),
    ],
  },
  { containerStatuses: [container(running, { lastState: ended(1, { finishedAt: time }) })] },
  { podIP: '10.1.0.1', nominatedNodeName: 'm', ...when('a.b/c') },
  { ...when('a.b/d', 'False') },
];

const initialStatuses: readonly Body[] = [
  ...states.flatMap((state) => [
    {
      initContainerStatuses: [container(state, { name: 'i' }), container(waiting(), { name: 's' })],
      containerStatuses: [container(waiting('PodInitializing'))],
    },
    {
      initContainerStatuses: [
        container(ended(0), {
          name: 'i',
          restartCount: 1,
          lastState: ended(1, { finishedAt: time }),
        }),
        container(state, { name: 's', started: true, ready: true, restartCount: 2 }),
      ],
      containerStatuses: [container(running, { ready: true, restartCount: 4 })],
    },
    {
      initContainerStatuses: [container(ended(0), { name: 'i' }), container(state, { name: 's' })],
      containerStatuses: [container(running, { ready: true })],
      ...when('Initialized'),
    },
    {
      initContainerStatuses: [
        container(ended(0), { name: 'i' }),
        container(state, { name: 's', started: false, ready: true }),
      ],
      ...when('Initialized', 'False'),
    },
  ]),
  {
    initContainerStatuses: [container(waiting('PodInitializing'), { name: 'i' })],
    conditions: null,
  },
];

const pods = `${core}/pods`;
const deleted = (name: string, status: Body): Request[] => [
  post(pods, { metadata: { name, finalizers: ['a.b/c'] }, spec: { containers, nodeName: 'n' } }),
  patch('merge', `${pods}/${name}/status`, { status }),
  remove(`${pods}/${name}`),
  get(`${pods}/${name}`, table),
];

const template = { metadata: { labels }, spec: { containers } };
const two = {
  metadata: { labels },
  spec: { containers: [...containers, { name: 'd', image: 'y' }], nodeSelector: { disk: 'ssd' } },
};
const selector = { matchLabels: labels };
const complex = {
  matchLabels: labels,
  matchExpressions: [
    { key: 'app', operator: 'In', values: ['b', 'a'] },
    { key: 'x', operator: 'DoesNotExist' },
  ],
};
const apps = '/apis/apps/v1/namespaces/{{ns}}';
const counts = { replicas: 4, readyReplicas: 3, updatedReplicas: 2, availableReplicas: 1 };

const jobs = '/apis/batch/v1/namespaces/{{ns}}/jobs';
const cronJobs = '/apis/batch/v1/namespaces/{{ns}}/cronjobs';
const job = { template: { spec: { restartPolicy: 'Never', containers } } };
const jobStatuses: readonly Body[] = [
  { startTime: time, succeeded: 1 },
  ...['Suspended', 'FailureTarget', 'SuccessCriteriaMet'].map((type) => when(type)),
  when('Suspended', 'False'),
  {
    ...{ completionTime: '2026-01-01T01:00:00Z', startTime: time },
    conditions: [
      { type: 'SuccessCriteriaMet', status: 'True' },
      { type: 'Complete', status: 'True' },
    ],
  },
];

const autoscalers = '/apis/autoscaling/v2/namespaces/{{ns}}/horizontalpodautoscalers';
const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' };
const utilization = { type: 'Utilization', averageUtilization: 60 };
const average = { type: 'AverageValue', averageValue: '1500m' };
const value = { type: 'Value', value: '2000m' };
const metricsOf = (...metrics: readonly (readonly [string, Body])[]): readonly Body[] =>
  metrics.map(([type, source]) => ({
    type,
    [type.charAt(0).toLowerCase() + type.slice(1)]: source,
  }));
const described = { describedObject: scaleTargetRef, metric: { name: 'o' } };
const metricLists = [
  [['Resource', { name: 'cpu', target: utilization }]],
  [['Resource', { name: 'memory', target: average }]],
  [['ContainerResource', { name: 'cpu', container: 'c', target: utilization }]],
  [['ContainerResource', { name: 'cpu', container: 'c', target: average }]],
  [['Pods', { metric: { name: 'p' }, target: average }]],
  [['Object', { ...described, target: value }]],
  [['Object', { ...described, target: average }]],
  [['External', { metric: { name: 'e' }, target: value }]],
  [['External', { metric: { name: 'e' }, target: average }]],
  [
    ['Resource', { name: 'cpu', target: utilization }],
    ['Pods', { metric: { name: 'p' }, target: average }],
    ['Pods', { metric: { name: 'q' }, target: average }],
  ],
] as const;
const currents = metricLists.map((list) =>
  metricsOf(
    ...list.map(([type, { target, ...source }]) => {
      return [
        type,
        { ...source, current: { ...omit(target, 'type'), averageValue: '3' } },
      ] as const;
    }),
  ),
);

const nodes = '/api/v1/nodes';
const info = {
  ...{
    machineID: '',
    systemUUID: '',
    bootID: '',
    kernelVersion: 'k',
    osImage: 'o',
    architecture: '',
  },
  ...{
    containerRuntimeVersion: 'r',
    kubeletVersion: 'v1',
    kubeProxyVersion: '',
    operatingSystem: '',
  },
};
const nodeStatuses: readonly Body[] = [
  ...['True', 'False', 'Unknown'].map((status) => when('Ready', status)),
  when('DiskPressure'),
  { nodeInfo: info },
  { nodeInfo: { ...info, architecture: 'amd64' } },
  ...['InternalIP', 'ExternalIP', 'Hostname'].map((type) => ({
    addresses: [{ type, address: '10.0.0.1' }],
  })),
];

const events = `${core}/events`;
const newEvents = '/apis/events.k8s.io/v1/namespaces/{{ns}}/events';
const involvedObject = { kind: 'Pod', name: 'p', namespace: '{{ns}}', fieldPath: 'spec' };
const coreEvents: readonly Body[] = [
  ...[{}, { firstTimestamp: time }, { lastTimestamp: time }, { count: 3 }],
  ...[{ involvedObject: { kind: 'Pod', namespace: '{{ns}}' } }, { message: ' m\n' }],
  ...[
    { source: { component: 'c' } },
    { source: { host: 'h' } },
    { source: { component: 'c', host: 'h' } },
  ],
  ...[{ reportingComponent: 'a.b/c' }, { reportingInstance: 'i', reportingComponent: 'r' }],
  { series: { count: 4, lastObservedTime: microTime } },
];
const modernEvents: readonly Body[] = [
  ...[{}, { note: ' n ' }, { series: { count: 4, lastObservedTime: microTime } }],
];
const modern = {
  ...{ eventTime: microTime, reason: 'Why', action: 'Act', type: 'Normal', reportingInstance: 'i' },
  ...{ reportingController: 'a.b/c', regarding: involvedObject },
};

const services = `${core}/services`;
const ports = [
  { port: 80, name: 'a' },
  { port: 443, name: 'b', protocol: 'UDP' },
];
const ingress = [{ ip: '10.9.0.2' }, { hostname: 'b.c' }, { ip: '10.9.0.1' }, { ip: '10.9.0.1' }];
const balanced = { type: 'LoadBalancer', allocateLoadBalancerNodePorts: false };
const serviceSpecs: readonly Body[] = [
  ...[{ ports }, { ports, externalIPs: ['10.8.0.1', '10.8.0.2'] }, { clusterIP: 'None' }],
  ...[
    { type: 'ExternalName', externalName: 'a.b' },
    { ports, selector: labels },
  ],
  { type: 'NodePort', ports: ports.map((port, index) => ({ ...port, nodePort: 30_081 + index })) },
  { type: 'NodePort', ports: [{ port: 80, nodePort: 30_083 }], externalIPs: ['10.8.0.1'] },
];

const ingresses = '/apis/networking.k8s.io/v1/namespaces/{{ns}}/ingresses';
const backend = { service: { name: 's', port: { number: 80 } } };
const hosts = (...names: readonly string[]): readonly Body[] => names.map((host) => ({ host }));
const ingressSpecs: readonly Body[] = [
  ...[{ defaultBackend: backend }, { defaultBackend: backend, tls: [{}], ingressClassName: 'c' }],
  ...[
    ['a.b'],
    ['a.b', 'c.d', 'e.f'],
    ['a.b', 'c.d', 'e.f', 'g.h'],
    ['', 'a.b', '', 'c.d', 'e.f', ''],
  ].map((names) => ({ rules: hosts(...names) })),
];

const slices = '/apis/discovery.k8s.io/v1/namespaces/{{ns}}/endpointslices';
const addresses = (...ends: readonly number[]): readonly Body[] =>
  ends.map((end) => ({ addresses: [`10.1.1.${end}`] }));
const sliceBodies: readonly Body[] = [
  ...[{ endpoints: [] }, { endpoints: addresses(1) }, { endpoints: addresses(1, 2, 3) }],
  ...[{ endpoints: addresses(1, 2, 3, 4, 5) }, { endpoints: [], ports: [{}] }],
  { endpoints: [], ports: [{ name: 'a' }, { name: 'b', port: 1 }, { name: 'c', port: 2 }] },
  { endpoints: [], ports: ['a', 'b', 'c', 'd', 'e'].map((name) => ({ name })) },
];
const ips = (...ends: readonly string[]): readonly Body[] => ends.map((ip) => ({ ip }));
const endpointBodies: readonly Body[] = [
  ...[{}, { subsets: [{ addresses: ips('10.1.1.1', '10.1.1.2') }] }],
  { subsets: [{ addresses: ips('10.1.1.1', '2001:db8::1'), ports }] },
  { subsets: [{ notReadyAddresses: ips('10.1.1.1'), ports }] },
  { subsets: [{ addresses: ips('10.1.1.1') }, { addresses: ips('10.1.1.2'), ports }] },
];

const claims = `${core}/persistentvolumeclaims`;
const volumes = '/api/v1/persistentvolumes';
const storage = { resources: { requests: { storage: '1Gi' } } };
const modes = ['ReadWriteMany', 'ReadOnlyMany', 'ReadWriteOnce'];
const capacity = { storage: '1Gi' };
const hostPath = { path: '/data' };

const owner = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd', uid: 'u' };
const revisions = `${apps}/controllerrevisions`;
const registration = '/apis/admissionregistration.k8s.io/v1';
const requests = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const decided = (type: string): Body => when(type, 'True', { reason: 'R', lastUpdateTime: time });

/** The tables of objects, in each of their states. */
export const columns: readonly Scenario[] = [
  {
    title: 'columns of pods',
    requests: [
      ...shown(
        pods,
        {
          ...one,
          spec: {
            containers: [...containers, { name: 'd', image: 'y' }],
            readinessGates: [{ conditionType: 'a.b/c' }, { conditionType: 'a.b/d' }],
          },
        },
        podStatuses,
      ),
      ...deleted('gone', { phase: 'Running' }),
      ...deleted('lost', { reason: 'NodeLost' }),
      ...deleted('ended', { phase: 'Failed' }),
      ...deleted('done', { phase: 'Succeeded' }),
    ],
  },
  {
    title: 'columns of pods with init containers',
    requests: shown(
      pods,
      {
        ...one,
        spec: {
          containers,
          initContainers: [
            { name: 'i', image: 'x' },
            { name: 's', image: 'x', restartPolicy: 'Always' },
          ],
        },
      },
      initialStatuses,
    ),
  },
  {
    title: 'columns of workloads',
    requests: [
      ...shown(`${apps}/deployments`, { ...one, spec: { selector: complex, template: two } }, [
        counts,
      ]),
      ...shown(`${apps}/replicasets`, { ...one, spec: { selector, template } }, [
        { replicas: 4, readyReplicas: 3, availableReplicas: 1 },
      ]),
      ...shown(`${apps}/statefulsets`, { ...one, spec: { selector, template, serviceName: 's' } }, [
        { ...counts, currentReplicas: 2 },
      ]),
      ...shown(`${apps}/daemonsets`, { ...one, spec: { selector, template: two } }, [
        {
          ...{ desiredNumberScheduled: 5, currentNumberScheduled: 4, numberReady: 3 },
          ...{ updatedNumberScheduled: 2, numberAvailable: 1, numberMisscheduled: 0 },
        },
      ]),
      ...shown(`${apps}/daemonsets`, { metadata: { name: 'two' }, spec: { selector, template } }),
      ...shown(`${core}/replicationcontrollers`, { ...one, spec: { selector: labels, template } }, [
        { replicas: 4, readyReplicas: 3 },
      ]),
      ...each(`${core}/podtemplates`, [{ template: two }, { template: { spec: { containers } } }]),
      ...each(revisions, [
        { revision: 3, data: {} },
        { metadata: { name: 'a', ownerReferences: [owner] }, revision: 0, data: {} },
        {
          metadata: { name: 'b', ownerReferences: [{ ...owner, controller: true }] },
          revision: 1,
          data: {},
        },
        {
          metadata: {
            name: 'c',
            ownerReferences: [{ ...owner, apiVersion: 'v1', controller: true }],
          },
          ...{ revision: 1, data: {} },
        },
      ]),
      get(`${apps}/deployments/one/scale`, table),
    ],
  },
  {
    title: 'columns of Jobs',
    requests: [
      ...shown(jobs, { ...one, spec: job }, jobStatuses),
      ...shown(jobs, { metadata: { name: 'two' }, spec: { ...job, parallelism: 2 } }, [
        {
          startTime: time,
          conditions: [
            { type: 'FailureTarget', status: 'True' },
            { type: 'Failed', status: 'True' },
          ],
        },
      ]),
      ...shown(jobs, { metadata: { name: 'three' }, spec: { ...job, parallelism: 1 } }),
      ...shown(jobs, {
        metadata: { name: 'four', finalizers: ['a.b/c'] },
        spec: { ...job, completions: 3 },
      }),
      remove(`${jobs}/four`, { propagationPolicy: 'Background' }),
      get(`${jobs}/four`, table),
      ...shown(cronJobs, { ...one, spec: { schedule: '@daily', jobTemplate: { spec: job } } }, [
        { lastScheduleTime: time, active: [{ name: 'a' }, { name: 'b' }] },
      ]),
      ...shown(cronJobs, {
        metadata: { name: 'two' },
        spec: {
          schedule: '@daily',
          suspend: true,
          timeZone: 'Etc/UTC',
          jobTemplate: { spec: job },
        },
      }),
    ],
  },
  {
    title: 'columns of autoscalers',
    requests: metricLists.flatMap((list, index) =>
      shown(
        autoscalers,
        {
          metadata: { name: `n${index}` },
          spec: { scaleTargetRef, maxReplicas: 3, metrics: metricsOf(...list) },
        },
        [{ currentMetrics: currents[index], currentReplicas: 2, desiredReplicas: 1 }],
      ),
    ),
  },
  {
    title: 'columns of nodes',
    requests: [
      ...shown(nodes, { ...cluster, spec: { unschedulable: true } }, nodeStatuses),
      ...shown(nodes, {
        metadata: { name: '{{ns}}-two' },
      }),
      ...[
        {
          'node-role.kubernetes.io/worker': '',
          'kubernetes.io/role': 'a',
          'node-role.kubernetes.io/b': '',
        },
        { 'kubernetes.io/role': 'worker' },
      ].flatMap((names) => [
        patch('merge', `${nodes}/{{ns}}-two`, { metadata: { labels: names } }),
        get(`${nodes}/{{ns}}-two`, table),
      ]),
    ],
  },
  {
    title: 'columns of events',
    requests: [
      ...each(
        events,
        coreEvents.map((more) => ({
          ...{ involvedObject, reason: 'Why', type: 'Normal' },
          ...more,
        })),
      ),
      ...each(
        newEvents,
        modernEvents.map((more) => ({ ...modern, ...more })),
      ),
      get(newEvents, table),
      get(events, table),
    ],
  },
  {
    title: 'columns of services',
    requests: [
      ...each(
        services,
        serviceSpecs.map((spec) => ({ spec })),
      ),
      ...shown(services, { ...one, spec: { ...balanced, ports } }, [
        { loadBalancer: { ingress } },
        { loadBalancer: {} },
      ]),
      ...shown(
        services,
        {
          metadata: { name: 'two' },
          spec: { ...balanced, ports, externalIPs: ['10.8.0.1'] },
        },
        [{ loadBalancer: { ingress: [{ ip: '10.9.0.1' }] } }],
      ),
    ],
  },
  {
    title: 'columns of networks',
    requests: [
      ...each(
        ingresses,
        ingressSpecs.map((spec) => ({ spec })),
      ),
      ...shown(ingresses, { ...one, spec: { defaultBackend: backend } }, [
        { loadBalancer: { ingress } },
      ]),
      ...each(
        slices,
        sliceBodies.map((body) => ({ addressType: 'IPv4', ...body })),
      ),
      ...each(`${core}/endpoints`, endpointBodies),
      ...each('/apis/networking.k8s.io/v1/namespaces/{{ns}}/networkpolicies', [
        { spec: { podSelector: {} } },
        { spec: { podSelector: complex } },
      ]),
      ...each('/apis/networking.k8s.io/v1/ingressclasses', [
        { metadata: { name: '{{ns}}-a' }, spec: { controller: 'a.b/c' } },
        {
          metadata: { name: '{{ns}}-b' },
          spec: { controller: 'a.b/c', parameters: { kind: 'K', name: 'n' } },
        },
        {
          metadata: { name: '{{ns}}-c' },
          spec: { controller: 'a.b/c', parameters: { apiGroup: 'a.b', kind: 'K', name: 'n' } },
        },
      ]),
    ],
  },
  {
    title: 'columns of storage',
    requests: [
      ...shown(claims, { ...one, spec: { accessModes: modes, ...storage } }, [
        { phase: 'Bound', capacity, accessModes: modes },
      ]),
      patch('merge', `${claims}/one`, { spec: { volumeName: 'v' } }),
      get(`${claims}/one`, table),
      patch('merge', `${claims}/one/status`, { status: { capacity: null, accessModes: null } }),
      get(`${claims}/one`, table),
      remove(`${claims}/one`),
      get(`${claims}/one`, table),
      ...shown(claims, {
        metadata: { name: 'two' },
        spec: {
          ...{ accessModes: ['ReadWriteOncePod'], volumeMode: 'Block', storageClassName: 's' },
          ...{ volumeAttributesClassName: 'a', ...storage },
        },
      }),
      ...shown(volumes, { ...cluster, spec: { capacity, accessModes: modes, hostPath } }, [
        { phase: 'Failed', reason: 'R' },
      ]),
      remove(`${volumes}/{{ns}}-one`),
      get(`${volumes}/{{ns}}-one`, table),
      ...shown(volumes, {
        metadata: { name: '{{ns}}-two' },
        spec: {
          ...{
            capacity,
            accessModes: ['ReadWriteOncePod'],
            storageClassName: 's',
            volumeMode: 'Block',
          },
          ...{ csi: { driver: 'd', volumeHandle: 'h' }, volumeAttributesClassName: 'a' },
          claimRef: { namespace: 'n', name: 'c' },
        },
      }),
      ...each('/apis/storage.k8s.io/v1/storageclasses', [
        { metadata: { name: '{{ns}}-a' }, provisioner: 'p' },
        {
          metadata: { name: '{{ns}}-b' },
          ...{ provisioner: 'p', reclaimPolicy: 'Retain', allowVolumeExpansion: true },
          volumeBindingMode: 'WaitForFirstConsumer',
        },
      ]),
      ...each('/apis/storage.k8s.io/v1/csidrivers', [
        { metadata: { name: '{{ns}}-a' }, spec: { attachRequired: false, storageCapacity: true } },
        {
          metadata: { name: '{{ns}}-b' },
          spec: {
            ...{ podInfoOnMount: true, requiresRepublish: true },
            tokenRequests: [{ audience: 'a' }, { audience: 'b' }],
            volumeLifecycleModes: ['Persistent', 'Ephemeral'],
          },
        },
      ]),
    ],
  },
  {
    title: 'columns of configuration',
    requests: [
      ...each(`${core}/configmaps`, [
        {},
        { data: { a: 'b' }, binaryData: { c: 'eA==', d: 'eA==' } },
      ]),
      ...each(`${core}/secrets`, [{}, { type: 'a', data: { c: 'eA==', d: 'eA==' } }]),
      ...shown(`${core}/resourcequotas`, { ...one, spec: { hard: { 'count/a.b': '1' } } }, [
        {
          hard: { pods: '4', 'limits.cpu': '2', cpu: '1', 'limits.memory': '1Gi' },
          used: { pods: '3', 'limits.cpu': '1' },
        },
      ]),
      ...each('/apis/scheduling.k8s.io/v1/priorityclasses', [
        { metadata: { name: '{{ns}}-a' }, value: 5, preemptionPolicy: 'Never' },
      ]),
      ...each('/apis/policy/v1/namespaces/{{ns}}/poddisruptionbudgets', [
        ...[{ minAvailable: 1 }, { maxUnavailable: '50%' }, { minAvailable: 0 }].map((spec) => ({
          spec,
        })),
      ]),
      ...each('/apis/coordination.k8s.io/v1/namespaces/{{ns}}/leases', [
        { spec: {} },
        { spec: { holderIdentity: 'h' } },
      ]),
    ],
  },
  {
    title: 'columns of access',
    requests: ['clusterrolebindings', 'namespaces/{{ns}}/rolebindings'].flatMap((plural) =>
      shown(`/apis/rbac.authorization.k8s.io/v1/${plural}`, {
        ...cluster,
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'r' },
        subjects: [
          ...['u', 'v'].map((name) => ({ kind: 'User', name })),
          ...['g', 'h'].map((name) => ({ kind: 'Group', name })),
          ...['s', 't'].map((name) => ({ kind: 'ServiceAccount', name, namespace: 'n' })),
        ],
      }),
    ),
  },
  {
    title: 'columns of extensions',
    requests: [
      ...['validating', 'mutating'].flatMap((kind) => [
        ...[{ name: 'n' }, { name: 'n', namespace: 'm' }].flatMap((reference, index) =>
          shown(`${registration}/${kind}admissionpolicybindings`, {
            metadata: { name: `{{ns}}-${index}` },
            spec: {
              ...(kind === 'validating' && { validationActions: ['Deny'] }),
              ...{ policyName: 'p', paramRef: { parameterNotFoundAction: 'Deny', ...reference } },
            },
          }),
        ),
        ...shown(`${registration}/${kind}webhookconfigurations`, cluster),
      ]),
      ...shown(`${registration}/validatingadmissionpolicies`, {
        ...cluster,
        spec: {
          paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
          matchConstraints: {
            resourceRules: [
              { apiGroups: ['x.y'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['z'] },
            ],
          },
          validations: [{ expression: 'true' }, { expression: 'true' }],
        },
      }),
      ...shown('/apis/node.k8s.io/v1/runtimeclasses', { ...cluster, handler: 'h' }),
    ],
  },
  {
    title: 'columns of certificate requests',
    requests: ['Approved', 'Denied'].flatMap((type) => {
      const name = `{{ns}}-${type.toLowerCase()}`;
      const spec = {
        ...{ request: certificateRequest, signerName: 'example.com/s', usages: ['client auth'] },
        expirationSeconds: 3600,
      };
      return [
        post(requests, { metadata: { name }, spec }),
        get(`${requests}/${name}`, table),
        patch('merge', `${requests}/${name}/approval`, { status: decided(type) }),
        get(`${requests}/${name}`, table),
      ];
    }),
  },
];
