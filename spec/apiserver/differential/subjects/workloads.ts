import { apply, get, patch, post, put, remove } from '../scenario.js';
import type { Request, Scenario } from '../scenario.js';

const deployments = '/apis/apps/v1/namespaces/{{ns}}/deployments';
const pods = '/api/v1/namespaces/{{ns}}/pods';

/** Defaults, unknown and immutable fields of workloads, and the deletion of Pods. */
export const workloads: readonly Scenario[] = [
  { title: 'defaults and unknown fields of a Deployment', requests: deploymentBodies() },
  { title: 'immutable fields of workloads', requests: immutables() },
  { title: 'deletion of Pods', requests: podDeletions() },
  { title: 'scheduling directives of a gated Pod', requests: gatedPodChanges() },
  { title: 'template of a suspended Job', requests: suspendedJobChanges() },
  { title: 'merged parts of a pod', requests: mergedParts() },
  ...emptyLabels(),
  { title: 'failure policies of a Job', requests: failurePolicies() },
  { title: 'pods of a RuntimeClass', requests: podsOfRuntimeClass() },
];

function deploymentSpec(more: object): object {
  const labels = { app: 'a' };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  return { selector: { matchLabels: labels }, template, ...more };
}
function deploymentBodies(): Request[] {
  const specs: readonly object[] = [
    ...[
      {},
      { replicas: 0 },
      { replicas: -1 },
      { replicas: '1' },
      { replicas: null },
      { replicas: 1.5 },
      { paused: true },
      { paused: 'yes' },
    ],
    ...[
      { strategy: {} },
      { strategy: { type: 'Recreate' } },
      { strategy: { type: 'Recreate', rollingUpdate: {} } },
      { strategy: { type: 'Other' } },
    ],
    ...[
      { strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 0 } } },
      { strategy: { rollingUpdate: { maxSurge: '10', maxUnavailable: '101%' } } },
    ],
    ...[
      { minReadySeconds: 600 },
      { minReadySeconds: -1 },
      { progressDeadlineSeconds: 5, minReadySeconds: 9 },
      { revisionHistoryLimit: -1 },
    ],
    ...[
      { selector: {} },
      { selector: null },
      { selector: { matchLabels: { app: 'b' } } },
      { selector: { matchExpressions: [{ key: 'app', operator: 'In' }] } },
    ],
    ...[
      { selector: { matchExpressions: [{ key: 'app', operator: 'Exists', values: ['x'] }] } },
      { unknown: 1 },
      { template: { spec: { unknown: 1 } } },
    ],
    ...[
      { template: {} },
      { template: null },
      { template: { metadata: { labels: { app: 'a' } }, spec: { containers: [] } } },
    ],
  ];
  return specs.flatMap((spec, index) => {
    const body = { metadata: { name: `s${index}` }, spec: deploymentSpec(spec) };
    return [
      post(deployments, body),
      post(`${deployments}?dryRun=All&fieldValidation=Strict`, body),
      patch('apply', `${deployments}/a${index}?fieldManager=m`, {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        ...body,
        metadata: {},
      }),
    ];
  });
}

function immutables(): Request[] {
  const labels = { app: 'a' };
  const other = { matchLabels: { app: 'b' } };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  const once = { metadata: { labels }, spec: { ...template.spec, restartPolicy: 'Never' } };
  const storage = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
  const claim = { metadata: { name: 'c' }, spec: storage };
  const kinds = [
    [
      '/apis/apps/v1',
      'deployments',
      { selector: { matchLabels: labels }, template },
      [{ selector: other }],
    ],
    [
      '/apis/apps/v1',
      'replicasets',
      { selector: { matchLabels: labels }, template },
      [{ selector: other }],
    ],
    [
      '/apis/apps/v1',
      'daemonsets',
      { selector: { matchLabels: labels }, template },
      [{ selector: other }],
    ],
    [
      ...['/apis/apps/v1', 'statefulsets'],
      {
        selector: { matchLabels: labels },
        template,
        serviceName: 's',
        volumeClaimTemplates: [claim],
      },
      [
        { selector: other },
        { serviceName: 't' },
        { podManagementPolicy: 'Parallel' },
        { volumeClaimTemplates: [] },
        { replicas: 3, minReadySeconds: 2 },
      ],
    ],
    [
      '/apis/batch/v1',
      'jobs',
      { template: once },
      [
        { selector: other },
        { completions: 3 },
        { template: { spec: { restartPolicy: 'OnFailure' } } },
        { completionMode: 'Indexed' },
        { parallelism: 3 },
        { backoffLimit: 1, ttlSecondsAfterFinished: 1 },
      ],
    ],
    [
      '/api/v1',
      'services',
      { ports: [{ port: 80 }] },
      [
        { clusterIP: '10.96.1.1' },
        { clusterIP: 'None' },
        { type: 'ExternalName' },
        { type: 'ExternalName', externalName: 'x.y', clusterIP: null, clusterIPs: null },
        { ipFamilyPolicy: 'RequireDualStack' },
        { type: 'NodePort' },
        { ports: [] },
      ],
    ],
    [
      '/api/v1',
      'pods',
      template.spec,
      [
        { containers: [{ name: 'c', image: 'j' }] },
        { containers: [{ name: 'd', image: 'i' }] },
        { nodeName: 'n' },
        { activeDeadlineSeconds: 5 },
        { activeDeadlineSeconds: 9 },
        { terminationGracePeriodSeconds: 1 },
        { tolerations: [] },
        { hostname: 'x' },
      ],
    ],
    [
      '/api/v1',
      'persistentvolumeclaims',
      storage,
      [
        { resources: { requests: { storage: '2Gi' } } },
        { accessModes: ['ReadOnlyMany'] },
        { storageClassName: 'x' },
        { volumeMode: 'Block' },
      ],
    ],
  ] as readonly (readonly [string, string, object, readonly object[]])[];
  return kinds.flatMap(([root, plural, spec, changes]) => {
    const path = `${root}/namespaces/{{ns}}/${plural}`;
    return [
      post(path, { metadata: { name: 'one' }, spec }),
      ...changes.flatMap((change) => [
        patch('merge', `${path}/one`, { spec: change }),
        patch('strategic', `${path}/one`, { spec: change }),
        put(`${path}/one`, { metadata: { name: 'one' }, spec: { ...spec, ...change } }),
      ]),
      get(`${path}/one`),
    ];
  });
}

function podDeletions(): Request[] {
  const spec = { containers: [{ name: 'c', image: 'i' }] };
  return [
    undefined,
    {},
    { gracePeriodSeconds: 0 },
    { gracePeriodSeconds: 5 },
    { gracePeriodSeconds: -3 },
  ].flatMap((body, index) =>
    [{}, { nodeName: 'n' }].flatMap((more, at) => {
      const one = `${pods}/p${index}-${at}`;
      return [
        post(pods, { metadata: { name: `p${index}-${at}` }, spec: { ...spec, ...more } }),
        remove(one, body),
        get(one),
        remove(one, body),
        remove(one, { gracePeriodSeconds: 0 }),
        get(one),
      ];
    }),
  );
}

/** A node affinity with one term for each list. The term requires a node to have all labels of the list. */
function nodeAffinity(...terms: readonly (readonly string[])[]): object {
  const nodeSelectorTerms = terms.map((labels) => ({
    matchExpressions: labels.map((key) => ({ key, operator: 'Exists' })),
  }));
  return {
    nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } },
  };
}

function podAffinity(label: string): object {
  const labelSelector = { matchLabels: { [label]: 'a' } };
  const terms = [{ topologyKey: 'kubernetes.io/hostname', labelSelector }];
  return { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } };
}

function gatedPodChanges(): Request[] {
  const gates = (...names: readonly string[]): object => ({
    schedulingGates: names.map((name) => ({ name: `example.com/${name}` })),
  });
  const containers = [{ name: 'c', image: 'i' }];
  const changes: readonly object[] = [
    { nodeSelector: { disk: 'ssd' } },
    { nodeSelector: { disk: 'ssd', zone: 'a' } },
    { nodeSelector: { disk: 'hdd', zone: 'a' } },
    { nodeSelector: null },
    { affinity: podAffinity('app') },
    { affinity: nodeAffinity(['a'], ['b']) },
    { affinity: nodeAffinity(['a', 'c'], ['b']) },
    { affinity: nodeAffinity(['c'], ['b', 'd']) },
    { affinity: nodeAffinity(['a', 'c']) },
    { affinity: { ...nodeAffinity(['a', 'c'], ['b']), ...podAffinity('app') } },
    { affinity: null },
    { schedulingGates: null },
    { nodeSelector: { disk: 'ssd', zone: 'a', rack: 'b' }, hostname: 'x' },
    gates('b', 'c'),
    gates('b'),
    gates('b', 'a'),
    gates(),
    { nodeSelector: { disk: 'ssd', zone: 'a', rack: 'c' } },
    gates('b'),
  ];
  const specs = [
    { containers, ...gates('a', 'b') },
    { containers, ...gates('a', 'b'), affinity: podAffinity('app') },
    { containers },
  ];
  return specs.flatMap((spec, index) => [
    post(pods, { metadata: { name: `p${index}` }, spec }),
    ...changes.map((change) => patch('merge', `${pods}/p${index}`, { spec: change })),
    get(`${pods}/p${index}`),
  ]);
}

function suspendedJobChanges(): Request[] {
  const jobs = '/apis/batch/v1/namespaces/{{ns}}/jobs';
  const container = { name: 'c', image: 'i' };
  const spec = { containers: [container], restartPolicy: 'Never' };
  const resources = { requests: { cpu: '1' } };
  const templates: readonly object[] = [
    { spec: { nodeSelector: { disk: 'ssd' } } },
    { spec: { tolerations: [{ key: 'a', operator: 'Exists' }] } },
    { spec: { schedulingGates: [{ name: 'example.com/a' }] } },
    { spec: { affinity: nodeAffinity(['a']) } },
    { spec: { affinity: podAffinity('app') } },
    { spec: { affinity: null } },
    { metadata: { labels: { team: 'a' }, annotations: { note: 'b' } } },
    { spec: { containers: [{ ...container, resources }] } },
    { spec: { containers: [{ ...container, image: 'j' }] } },
    { spec: { containers: [container, { ...container, name: 'd' }] } },
    { spec: { restartPolicy: 'OnFailure' } },
    { spec: { nodeSelector: { disk: 'hdd' }, hostname: 'x' } },
  ];
  const startTime = '2026-01-01T00:00:00Z';
  const suspended = { type: 'Suspended', status: 'True', reason: 'r', message: 'm' };
  const times = { lastProbeTime: startTime, lastTransitionTime: startTime };
  const statuses: readonly object[] = [
    {},
    { startTime },
    { startTime, conditions: [{ ...suspended, ...times }] },
    { active: 1 },
  ];
  return statuses.flatMap((status, index) => [
    post(jobs, { metadata: { name: `j${index}` }, spec: { suspend: true, template: { spec } } }),
    patch('merge', `${jobs}/j${index}/status`, { status }),
    ...templates.map((template) => patch('merge', `${jobs}/j${index}`, { spec: { template } })),
    get(`${jobs}/j${index}`),
  ]);
}

/** Templates without labels, and with empty ones. */
function emptyLabels(): Scenario[] {
  const selector = { matchLabels: { app: 'a' } };
  const container = { name: 'c', image: 'i' };
  const kinds = [
    ['apps/v1', 'Deployment', 'deployments', { selector }],
    ['apps/v1', 'StatefulSet', 'statefulsets', { selector, serviceName: 's' }],
    ['batch/v1', 'Job', 'jobs', { selector, manualSelector: true }],
    ['batch/v1', 'Job', 'jobs', {}],
  ] as const;
  return kinds.map(([apiVersion, kind, plural, more]) => {
    const all = `/apis/${apiVersion}/namespaces/{{ns}}/${plural}`;
    const one = `${all}/one`;
    const restartPolicy = kind === 'Job' ? 'Never' : 'Always';
    const spec = { restartPolicy, containers: [{ ...container, args: [] }] };
    const body = (labels?: object): Readonly<Record<string, unknown>> => ({
      ...{ apiVersion, kind, metadata: { name: 'one' } },
      spec: { ...more, template: { metadata: { labels }, spec } },
    });
    const labelled = (labels: unknown): object => ({
      spec: { template: { metadata: { labels } } },
    });
    return {
      title: `labels of a template of ${kind} ${JSON.stringify(more)}`,
      requests: [
        ...[post(all, body()), post(all, body({})), apply('m', one, body({}))],
        patch('merge', `${one}/status`, { metadata: { labels: null } }),
        post(all, body({ app: 'a' })),
        ...[put(one, body()), put(one, body({}))],
        ...[null, {}, { app: null }].flatMap((labels) => [
          patch('merge', one, labelled(labels)),
          patch('strategic', one, labelled(labels)),
        ]),
        put(`${one}/status?dryRun=All`, { metadata: { name: 'one' } }),
        put(`${one}/status`, { metadata: { name: 'one' } }),
        ...[patch('merge', one, {}), patch('merge', one, {})],
      ],
    };
  });
}

function failurePolicies(): Request[] {
  const jobs = '/apis/batch/v1/namespaces/{{ns}}/jobs';
  const spec = { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] };
  const codes = (onExitCodes: object): object => ({ action: 'FailJob', onExitCodes });
  const rules: readonly object[] = [
    ...[{}, codes({}), codes({ operator: 'In', values: [] })],
    codes({ operator: 'In', values: [0, 2, 1, 1] }),
    codes({ operator: 'In', values: [1], containerName: 'd' }),
    codes({ operator: 'NotIn', values: Array.from({ length: 256 }, (_, code) => code) }),
    { action: 'FailIndex', onPodConditions: [{ type: 'a', status: 'X' }, { type: '' }] },
    { action: '', onPodConditions: Array.from({ length: 21 }, () => ({ type: 'a' })) },
  ];
  const body = (own: readonly object[]): Readonly<Record<string, unknown>> => ({
    ...{ apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'one' } },
    spec: { template: { spec }, podFailurePolicy: { rules: own } },
  });
  return [
    ...rules.flatMap((rule) => [post(jobs, body([rule])), apply('m', `${jobs}/one`, body([rule]))]),
    post(jobs, body(Array.from({ length: 21 }, () => codes({ operator: 'In', values: [1] })))),
  ];
}

/** Strategic merge patches that leave a pod or its template with parts that do not fit together. */
function mergedParts(): Request[] {
  const container = { name: 'c', image: 'i', ports: [{ containerPort: 80 }] };
  const volumes = [
    { name: 'v', hostPath: { path: '/x' } },
    { name: 'w', projected: { sources: [{}] } },
  ];
  const containers = [container];
  const rule = (onExitCodes: object): object => ({ action: 'FailJob', onExitCodes });
  const job = { template: { spec: { restartPolicy: 'Never', containers, volumes } } };
  return [
    post(pods, { metadata: { name: 'p' }, spec: { containers } }),
    patch('strategic', `${pods}/p`, { spec: { initContainers: [{ name: 'j', image: 'i' }] } }),
    patch('strategic', `${pods}/p`, { spec: { initContainers: [{ image: 'i' }] } }),
    post(pods, {
      metadata: { name: 'q' },
      spec: { containers: [container, { ...container, name: 'd' }] },
    }),
    patch('merge', `${pods}/q`, { metadata: { labels: { a: 'b' } } }),
    ...[
      { containers: [{ name: 'c', tty: '' }] },
      { containers: [{ name: 'c', image: {}, tty: 1.5 }] },
      { containers: [{ name: 'c', command: [{ $patch: 'replace' }] }] },
      { activeDeadlineSeconds: 'x', hostname: 5 },
      { hostname: 5 },
      { activeDeadlineSeconds: 1.5 },
    ].map((spec) => patch('strategic', `${pods}/p`, { spec })),
    post('/apis/batch/v1/namespaces/{{ns}}/jobs', { metadata: { name: 'j' }, spec: job }),
    post('/apis/batch/v1/namespaces/{{ns}}/jobs', {
      metadata: { name: 'k' },
      spec: {
        template: {
          metadata: { labels: { app: 'a' } },
          spec: { ...job.template.spec, imagePullSecrets: [], tolerations: [] },
        },
      },
    }),
    ...[
      { template: { spec: { volumes: [{ name: 'v', emptyDir: {} }] } } },
      { template: { spec: { volumes: [{ name: 'v', configMap: {}, emptyDir: {} }] } } },
      { podFailurePolicy: { rules: [{ onExitCodes: { values: [1] } }] } },
      { podFailurePolicy: { rules: [rule({ values: [1] })] } },
    ].map((spec) => patch('strategic', '/apis/batch/v1/namespaces/{{ns}}/jobs/j', { spec })),
  ];
}

function podsOfRuntimeClass(): Request[] {
  const name = '{{ns}}-kata';
  const sandbox = { key: 'sandbox', effect: 'NoSchedule' };
  const equal = { ...sandbox, operator: 'Equal', value: 'x' };
  const specs = [
    ...[{}, { overhead: {} }, { overhead: { cpu: '1000m' } }, { overhead: { cpu: '2' } }],
    ...[{ nodeSelector: { runtime: 'runc' } }, { nodeSelector: { disk: 'ssd' } }],
    ...[{ tolerations: [equal] }, { tolerations: [equal, { operator: 'Exists' }] }],
  ];
  return [
    post('/apis/node.k8s.io/v1/runtimeclasses', {
      ...{ metadata: { name }, handler: 'kata', overhead: { podFixed: { cpu: '1' } } },
      scheduling: {
        nodeSelector: { runtime: 'kata' },
        tolerations: [{ ...sandbox, operator: 'Exists' }],
      },
    }),
    // The server admits pods with a new RuntimeClass only shortly after its creation.
    ...specs.map((spec, index) =>
      post(
        pods,
        {
          metadata: { name: `p${index}` },
          spec: { containers: [{ name: 'c', image: 'x' }], runtimeClassName: name, ...spec },
        },
        index === 0 ? { whileStatus: 403 } : {},
      ),
    ),
    post(pods, {
      metadata: { name: 'none' },
      spec: { containers: [{ name: 'c', image: 'x' }], overhead: { cpu: '1' } },
    }),
  ];
}
