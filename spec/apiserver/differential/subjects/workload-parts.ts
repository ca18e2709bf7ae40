import { patch, post } from '../scenario.js';
import type { Request, Scenario } from '../scenario.js';

type Body = Readonly<Record<string, unknown>>;

const dry = '?dryRun=All';
const inNamespace = (api: string, plural: string): string =>
  `/apis/${api}/namespaces/{{ns}}/${plural}`;
const autoscalers = inNamespace('autoscaling/v2', 'horizontalpodautoscalers');
const budgets = inNamespace('policy/v1', 'poddisruptionbudgets');
const ingresses = inNamespace('networking.k8s.io/v1', 'ingresses');
const ingressClasses = '/apis/networking.k8s.io/v1/ingressclasses';
const policies = inNamespace('networking.k8s.io/v1', 'networkpolicies');
const classes = '/apis/storage.k8s.io/v1/storageclasses';
const attributes = '/apis/storage.k8s.io/v1/volumeattributesclasses';
const claims = '/api/v1/namespaces/{{ns}}/persistentvolumeclaims';
const volumes = '/api/v1/persistentvolumes';
const pods = '/api/v1/namespaces/{{ns}}/podtemplates';

/** Creates an object with each of `bodies`, without storing it. */
const tried = (path: string, bodies: readonly Body[], name = '{{ns}}-one'): Request[] =>
  bodies.map((body) => post(`${path}${dry}`, { metadata: { name }, ...body }));
const specsOf = (path: string, specs: readonly Body[]): Request[] =>
  tried(
    path,
    specs.map((spec) => ({ spec })),
  );

const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' };
const utilization = { type: 'Utilization', averageUtilization: 60 };
const average = { type: 'AverageValue', averageValue: '1' };
const value = { type: 'Value', value: '1' };
const targets: readonly Body[] = [
  ...[
    utilization,
    average,
    value,
    { type: '' },
    { type: 'x', value: '1' },
    { ...value, ...average },
  ],
  ...['0', '-1', '-1m', '0.5'].flatMap((amount) => [
    { type: 'Value', value: amount },
    { type: 'AverageValue', averageValue: amount },
  ]),
  ...[0, -1, 1].map((percent) => ({ type: 'Utilization', averageUtilization: percent })),
  { ...average, averageUtilization: 60 },
];
const names = ['', 'a/b', 'cpu', 'A b'];
const metrics: readonly Body[] = [
  ...['', 'x', 'Resource', 'Pods', 'Object', 'External', 'ContainerResource'].map((type) => ({
    type,
  })),
  ...targets.flatMap((target) => [
    { type: 'Resource', resource: { name: 'cpu', target } },
    { type: 'ContainerResource', containerResource: { name: 'cpu', container: 'c', target } },
    { type: 'Pods', pods: { metric: { name: 'p' }, target } },
    { type: 'Object', object: { describedObject: scaleTargetRef, metric: { name: 'o' }, target } },
    { type: 'External', external: { metric: { name: 'e' }, target } },
  ]),
  ...names.flatMap((name) => [
    { type: 'Resource', resource: { name, target: utilization } },
    {
      type: 'ContainerResource',
      containerResource: { name, container: name, target: utilization },
    },
    { type: 'Pods', pods: { metric: { name }, target: average } },
    { type: 'External', external: { metric: { name }, target: value } },
    {
      type: 'Object',
      object: { describedObject: { kind: name, name }, metric: { name }, target: value },
    },
  ]),
  ...['Resource', 'Pods', 'External'].map((type) => ({
    type,
    resource: { name: 'cpu', target: utilization },
    pods: { metric: { name: 'p' }, target: average },
    external: { metric: { name: 'e' }, target: value },
  })),
];
const policy = { type: 'Pods', value: 1, periodSeconds: 10 };
const scalingRules: readonly Body[] = [
  ...[{}, { policies: [] }, { policies: [policy] }],
  ...[-1, 0, 3600, 3601].map((stabilizationWindowSeconds) => ({ stabilizationWindowSeconds })),
  ...['Max', 'Min', 'Disabled', 'x', ''].map((selectPolicy) => ({ selectPolicy })),
  ...['-0.1', '0', '0.1'].map((tolerance) => ({ tolerance })),
  ...['Pods', 'Percent', 'x', ''].map((type) => ({ policies: [{ ...policy, type }] })),
  ...[-1, 0, 1, 1800, 1801].flatMap((number) => [
    { policies: [{ ...policy, value: number }] },
    { policies: [{ ...policy, periodSeconds: number }] },
  ]),
];
const external = { type: 'External', external: { metric: { name: 'e' }, target: value } };
const autoscalerSpecs: readonly Body[] = [
  ...metrics.map((metric) => ({ metrics: [metric] })),
  ...scalingRules.flatMap((rules) => [
    { behavior: { scaleUp: rules } },
    { behavior: { scaleDown: rules } },
  ]),
  ...[-1, 0, 1, 3, 4].flatMap((number) => [
    { minReplicas: number },
    { minReplicas: number, metrics: [external] },
    { maxReplicas: number },
  ]),
  ...['', 'v1', 'a/b/c', '/v1', 'apps/v1'].flatMap((apiVersion) =>
    ['', 'Deployment', 'ReplicationController', 'a/b'].map((kind) => ({
      scaleTargetRef: { apiVersion, kind, name: 'd' },
    })),
  ),
];

const amounts = [-1, 0, 1, '0%', '100%', '101%', '-1%', 'x', '5', ''];
const selectors: readonly Body[] = [
  ...[{}, { matchLabels: { a: 'b' } }, { matchLabels: { 'a b': 'c d' } }],
  ...['In', 'Exists', 'x'].flatMap((operator) =>
    [[], ['a'], ['a b']].map((values) => ({ matchExpressions: [{ key: 'k', operator, values }] })),
  ),
];
const budgetSpecs: readonly Body[] = [
  ...amounts.flatMap((amount) => [{ minAvailable: amount }, { maxUnavailable: amount }]),
  { minAvailable: 1, maxUnavailable: 1 },
  ...selectors.map((selector) => ({ selector })),
  ...['AlwaysAllow', 'IfHealthyBudget', 'x', ''].map((unhealthyPodEvictionPolicy) => ({
    unhealthyPodEvictionPolicy,
  })),
];
const condition = {
  ...{ type: 'A', status: 'True', reason: 'R', message: '' },
  lastTransitionTime: '2026-01-01T00:00:00Z',
};
const budgetStatuses: readonly Body[] = [
  ...['type', 'reason', 'status'].flatMap((member) =>
    ['', 'a b', '1a', 'a_b', 'a:', 'a,b:c_'].map((text) => ({
      conditions: [{ ...condition, [member]: text }],
    })),
  ),
  { conditions: [{ ...condition, lastTransitionTime: null }] },
  { conditions: [{ ...condition, observedGeneration: -1 }] },
  ...['disruptionsAllowed', 'currentHealthy', 'desiredHealthy', 'expectedPods'].flatMap((member) =>
    [-1, 1].map((count) => ({ [member]: count })),
  ),
];

const labels = { app: 'a' };
const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'x' }] } };
const updates: readonly Body[] = [
  ...['', 'x', 'OnDelete', 'RollingUpdate', 'Recreate'].flatMap((type) => [
    { type },
    { type, rollingUpdate: {} },
  ]),
  ...amounts.flatMap((amount) => [
    { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: amount } },
    { type: 'RollingUpdate', rollingUpdate: { maxSurge: amount } },
    { type: 'RollingUpdate', rollingUpdate: { maxSurge: amount, maxUnavailable: 0 } },
  ]),
  ...[-1, 0, 1].map((partition) => ({ type: 'RollingUpdate', rollingUpdate: { partition } })),
];
const numbers = ['replicas', 'minReadySeconds', 'revisionHistoryLimit', 'progressDeadlineSeconds'];
const workloadSpecs: readonly Body[] = [
  ...updates.flatMap((update) => [{ strategy: update }, { updateStrategy: update }]),
  ...numbers.flatMap((member) => [-1, 0, 1].map((number) => ({ [member]: number }))),
  { minReadySeconds: 600 },
  { minReadySeconds: 599 },
  ...[...selectors, null].map((selector) => ({ selector })),
  ...['Never', 'OnFailure', 'Always'].map((restartPolicy) => ({
    template: { ...template, spec: { ...template.spec, restartPolicy } },
  })),
  { template: { ...template, spec: { ...template.spec, activeDeadlineSeconds: 5 } } },
  { template: { ...template, metadata: { labels, annotations: { 'a b': 'c' } } } },
  ...['OrderedReady', 'Parallel', 'x', ''].map((podManagementPolicy) => ({ podManagementPolicy })),
  ...['Retain', 'Delete', 'x', ''].flatMap((whenDeleted) => [
    { persistentVolumeClaimRetentionPolicy: { whenDeleted } },
    { persistentVolumeClaimRetentionPolicy: { whenScaled: whenDeleted } },
  ]),
  ...[-1, 0].map((start) => ({ ordinals: { start } })),
  ...['', 'A', 'a.b', 's'].map((serviceName) => ({ serviceName })),
  ...[{}, { accessModes: ['ReadWriteOnce'] }].map((spec) => ({
    volumeClaimTemplates: [{ metadata: { name: 'd' }, spec }],
  })),
];
const counts = [
  ...['readyReplicas', 'availableReplicas', 'updatedReplicas', 'currentReplicas'],
  ...['fullyLabeledReplicas', 'unavailableReplicas', 'numberReady', 'collisionCount'],
];

const paths: readonly Body[] = [
  ...['', 'a', '/a', '//', '/a/./b', '/a/../b', '/%2f', '/%2F'].flatMap((path) =>
    ['Exact', 'Prefix', 'ImplementationSpecific', 'x', ''].map((pathType) => ({ path, pathType })),
  ),
  { path: '/a' },
];
const backends: readonly Body[] = [
  ...[{}, { service: {} }, { resource: { kind: 'K', name: 'n' } }, { service: { name: 's' } }],
  ...['', 'A', 'a.b'].map((name) => ({ service: { name, port: { number: 80 } } })),
  ...[0, 1, 65_536].map((number) => ({ service: { name: 's', port: { number } } })),
  ...['', 'http', 'a--b', '1', 'x'.repeat(16)].map((name) => ({
    service: { name: 's', port: { name } },
  })),
  { service: { name: 's', port: { name: 'a', number: 1 } } },
  { service: { name: 's', port: { number: 1 } }, resource: { kind: 'K', name: 'n' } },
];
const hosts = ['', 'a.b', 'A.b', '*.a.b', '*', 'a.*.b', '1.2.3.4', '1.2.3', 'a_b'];
const backend = { service: { name: 's', port: { number: 80 } } };
const ingressSpecs: readonly Body[] = [
  {},
  ...backends.map((defaultBackend) => ({ defaultBackend })),
  ...paths.map((path) => ({ rules: [{ http: { paths: [{ ...path, backend }] } }] })),
  { rules: [{ http: { paths: [] } }] },
  ...hosts.flatMap((host) => [
    { rules: [{ host }] },
    { defaultBackend: backend, tls: [{ hosts: [host] }] },
  ]),
  ...['', 'A', 'a.b'].flatMap((name) => [
    { defaultBackend: backend, tls: [{ secretName: name }] },
    { defaultBackend: backend, ingressClassName: name },
  ]),
];
const controller = 'a.b/c';
const classSpecs: readonly Body[] = [
  ...[
    '',
    'x',
    'x/y',
    'a.b/',
    'A.b/c',
    'a.b/c d',
    `a.b/${'c'.repeat(246)}`,
    `a.b/${'c'.repeat(247)}`,
  ].map((name) => ({ controller: name })),
  ...['', 'A!', 'a.b'].map((apiGroup) => ({
    controller,
    parameters: { apiGroup, kind: 'K', name: 'n' },
  })),
  ...['', 'a/b', '..'].flatMap((name) => [
    { controller, parameters: { kind: name, name: 'n' } },
    { controller, parameters: { kind: 'K', name } },
  ]),
  ...['Cluster', 'Namespace', 'x', ''].flatMap((scope) =>
    [undefined, '', 'n', 'N!'].map((namespace) => ({
      controller,
      parameters: { kind: 'K', name: 'n', scope, namespace },
    })),
  ),
];
const cidrs = [
  '',
  'x',
  '10.0.0.0/8',
  '10.0.0.1/8',
  '10.0.0.0/33',
  '2001:db8::/32',
  '010.0.0.0/8',
  '10.1.0.0/16',
];
const peers: readonly Body[] = [
  ...[{}, { podSelector: {} }, { ipBlock: { cidr: '10.0.0.0/8' }, podSelector: {} }],
  ...selectors.flatMap((selector) => [{ podSelector: selector }, { namespaceSelector: selector }]),
  ...cidrs.flatMap((cidr) => [
    { ipBlock: { cidr } },
    { ipBlock: { cidr: '10.0.0.0/7', except: [cidr] } },
  ]),
];
const policySpecs: readonly Body[] = [
  ...selectors.map((podSelector) => ({ podSelector })),
  ...peers.flatMap((peer) => [{ ingress: [{ from: [peer] }] }, { egress: [{ to: [peer] }] }]),
  ...['TCP', 'UDP', 'SCTP', 'x', ''].map((protocol) => ({
    egress: [{ ports: [{ protocol, port: 1 }] }],
  })),
  ...[0, 65_536, 'a', 'a b', ''].map((port) => ({ ingress: [{ ports: [{ port }] }] })),
  ...[['Ingress'], ['Egress'], ['x'], ['Ingress', 'Egress', 'Ingress'], []].map((policyTypes) => ({
    policyTypes,
  })),
].map((spec) => ({ podSelector: {}, ...spec }));

const topology = { key: 'zone', values: ['a'] };
const classBodies: readonly Body[] = [
  ...['', 'A.b/c', 'a b', 'a/b/c'].map((provisioner) => ({ provisioner })),
  ...['Retain', 'Delete', 'Recycle', 'x', ''].map((reclaimPolicy) => ({ reclaimPolicy })),
  ...['Immediate', 'WaitForFirstConsumer', 'x', ''].map((volumeBindingMode) => ({
    volumeBindingMode,
  })),
  ...[512, 513].map((length) => ({
    parameters: Object.fromEntries(Array.from({ length }, (_, at) => [`k${at}`, ''])),
  })),
  { parameters: { '': 'x' } },
  ...[256 * 1024 - 1, 256 * 1024].map((length) => ({ parameters: { k: 'v'.repeat(length) } })),
  ...[
    [],
    [topology],
    [topology, topology],
    [{ key: '', values: [] }],
    [{ key: 'a', values: ['b', 'b'] }],
  ].map((matchLabelExpressions) => ({ allowedTopologies: [{ matchLabelExpressions }] })),
  ...[
    [topology, { key: 'rack', values: ['b'] }],
    [topology, topology],
    [
      { key: 'zone', values: ['a', 'b'] },
      { key: 'zone', values: ['b', 'a'] },
    ],
  ].map((all) => ({ allowedTopologies: all.map((one) => ({ matchLabelExpressions: [one] })) })),
];
const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
const source = { kind: 'PersistentVolumeClaim', name: 'x' };
const snapshot = { apiGroup: 'snapshot.storage.k8s.io', kind: 'VolumeSnapshot', name: 'x' };
const claimSpecs: readonly Body[] = [
  ...[[], ['x'], ['ReadWriteOncePod'], ['ReadWriteOncePod', 'ReadWriteOnce']].map(
    (accessModes) => ({ accessModes }),
  ),
  ...[{}, { requests: {} }, ...['0', '-1', '1'].map((storage) => ({ requests: { storage } }))].map(
    (resources) => ({
      resources,
    }),
  ),
  ...selectors.map((selector) => ({ selector })),
  ...['', 'A!', 'a'].flatMap((name) => [
    { storageClassName: name },
    { volumeAttributesClassName: name },
  ]),
  ...['Block', 'Filesystem', 'x', ''].map((volumeMode) => ({ volumeMode })),
  ...[
    source,
    snapshot,
    { kind: '', name: '' },
    { ...source, apiGroup: 'A!' },
    { kind: 'K', name: 'x' },
    { ...snapshot, kind: 'K' },
  ].flatMap((dataSource) => [
    { dataSource },
    { dataSourceRef: dataSource },
    { dataSource, dataSourceRef: dataSource },
    { dataSource, dataSourceRef: snapshot },
    { dataSource: source, dataSourceRef: { ...dataSource, namespace: 'n' } },
  ]),
];

const iscsi = { targetPortal: '10.0.0.1', iqn: 'iqn.2001-04.com.example:a', lun: 0 };
const sources: readonly Body[] = [
  ...[
    'iqn.2001-04.com.example:a',
    'iqn.x',
    'eui.0123456789abcdef',
    'eui.x',
    `naa.${'0'.repeat(32)}`,
    'naa.x',
    'x',
    '',
  ].flatMap((iqn) => [{ iscsi: { ...iscsi, iqn } }, { iscsi: { ...iscsi, initiatorName: iqn } }]),
  ...[-1, 255, 256].flatMap((lun) => [
    { iscsi: { ...iscsi, lun } },
    { fc: { targetWWNs: ['a'], lun } },
  ]),
  ...[
    { chapAuthSession: true },
    { chapAuthDiscovery: true },
    { chapAuthSession: true, secretRef: {} },
  ].map((more) => ({
    iscsi: { ...iscsi, ...more },
  })),
  ...[{}, { wwids: ['a'] }, { wwids: ['a'], targetWWNs: ['b'], lun: 1 }, { targetWWNs: ['b'] }].map(
    (fc) => ({ fc }),
  ),
  ...['', 'a', '/a', '/a/../b'].flatMap((path) => [
    { nfs: { server: 's', path } },
    { hostPath: { path } },
  ]),
  ...['', 'D!', 'd.e', 'd'.repeat(63), 'd'.repeat(64)].map((driver) => ({
    csi: { driver, volumeHandle: 'h' },
  })),
  ...[
    'nodePublishSecretRef',
    'controllerPublishSecretRef',
    'controllerExpandSecretRef',
    'nodeExpandSecretRef',
  ].flatMap((member) =>
    [{}, { name: 'A!' }, { name: 'a' }, { name: 'a', namespace: 'N!' }].map((reference) => ({
      csi: { driver: 'd', volumeHandle: 'h', [member]: reference },
    })),
  ),
];

/** Checks of workloads and their scaling, of networks, and of storage. */
export const workloadParts: readonly Scenario[] = [
  {
    title: 'specs of autoscalers',
    requests: specsOf(
      autoscalers,
      autoscalerSpecs.map((spec) => ({ scaleTargetRef, maxReplicas: 3, ...spec })),
    ),
  },
  {
    title: 'budgets for disruptions',
    requests: [
      ...specsOf(budgets, budgetSpecs),
      post(budgets, { metadata: { name: 'one' }, spec: {} }),
      ...budgetStatuses.map((status) => patch('merge', `${budgets}/one/status${dry}`, { status })),
    ],
  },
  ...['deployments', 'statefulsets', 'daemonsets', 'replicasets'].map((plural) => ({
    title: `specs of ${plural}`,
    requests: [
      ...specsOf(
        inNamespace('apps/v1', plural),
        workloadSpecs.map((spec) => ({ selector: { matchLabels: labels }, template, ...spec })),
      ),
      post(inNamespace('apps/v1', plural), {
        metadata: { name: 'one' },
        spec: { selector: { matchLabels: labels }, template },
      }),
      ...counts.flatMap((count) =>
        [-1, 1, 2].map((number) =>
          patch('merge', `${inNamespace('apps/v1', plural)}/one/status${dry}`, {
            status: { replicas: 1, [count]: number },
          }),
        ),
      ),
    ],
  })),
  { title: 'specs of ingresses', requests: specsOf(ingresses, ingressSpecs) },
  { title: 'specs of ingress classes', requests: specsOf(ingressClasses, classSpecs) },
  { title: 'specs of network policies', requests: specsOf(policies, policySpecs) },
  {
    title: 'classes of storage',
    requests: [classes, attributes].flatMap((path) =>
      tried(
        path,
        classBodies.map((body) => ({ ...{ provisioner: 'p', driverName: 'd' }, ...body })),
      ),
    ),
  },
  {
    title: 'specs of claims',
    requests: specsOf(
      claims,
      claimSpecs.map((spec) => ({ ...claim, ...spec })),
    ),
  },
  {
    title: 'sources of volumes',
    requests: [
      ...specsOf(
        volumes,
        sources.map((one) => ({
          ...{ accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' } },
          ...one,
        })),
      ),
      ...tried(
        pods,
        sources.map((one) => ({
          template: { spec: { ...template.spec, volumes: [{ name: 'v', ...one }] } },
        })),
      ),
    ],
  },
];
