import { patch, post, put } from '../scenario.js';
import type { Request, Scenario } from '../scenario.js';

type Body = Readonly<Record<string, unknown>>;

const templates = '/api/v1/namespaces/{{ns}}/podtemplates?dryRun=All';
const pods = '/api/v1/namespaces/{{ns}}/pods';
const container = { name: 'c', image: 'x' };

/** Creates a template with each spec, without storing it. */
const templatesOf = (specs: readonly Body[]): Request[] =>
  specs.map((spec) =>
    post(templates, {
      metadata: { name: 'one' },
      template: { spec: { containers: [container], ...spec } },
    }),
  );

const withContainer = (more: Body, spec: Body = {}): Body => ({
  ...spec,
  containers: [{ ...container, ...more }],
});
const containersOf = (all: readonly Body[], spec: Body = {}): Request[] =>
  templatesOf(all.map((more) => withContainer(more, spec)));

const volumes = [
  { name: 'v', emptyDir: {} },
  { name: 'w', emptyDir: {} },
  { name: 'b', persistentVolumeClaim: { claimName: 'c' } },
  {
    name: 'e',
    ephemeral: {
      volumeClaimTemplate: {
        spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1' } } },
      },
    },
  },
];

const mounts: readonly Body[] = [
  ...[
    [{ name: '', mountPath: '' }],
    [{ name: 'x', mountPath: '/a' }],
    [{ name: 'v', mountPath: 'a:b' }],
    [
      { name: 'v', mountPath: '/a' },
      { name: 'w', mountPath: '/a' },
    ],
    [
      { name: 'v', mountPath: '/a' },
      { name: 'v', mountPath: '/b' },
    ],
  ].map((volumeMounts) => ({ volumeMounts })),
  ...['/x', 'x', '..', 'a/..', '../a', '..a', 'a..b'].flatMap((path) => [
    { volumeMounts: [{ name: 'v', mountPath: '/a', subPath: path }] },
    { volumeMounts: [{ name: 'v', mountPath: '/a', subPathExpr: path }] },
    { volumeDevices: [{ name: 'b', devicePath: path }] },
  ]),
  { volumeMounts: [{ name: 'v', mountPath: '/a', subPath: 'x', subPathExpr: 'y' }] },
  ...[
    [{ name: '', devicePath: '' }],
    [{ name: 'x', devicePath: '/d' }],
    [{ name: 'v', devicePath: '/d' }],
    [{ name: 'e', devicePath: '/d' }],
    [
      { name: 'b', devicePath: '/d' },
      { name: 'b', devicePath: '/f' },
    ],
    [
      { name: 'b', devicePath: '/d' },
      { name: 'e', devicePath: '/d' },
    ],
    [
      { name: 'b', devicePath: '/../d' },
      { name: 'e', devicePath: '/../d' },
    ],
    [
      { name: '', devicePath: '/d' },
      { name: '', devicePath: '/f' },
    ],
  ].map((volumeDevices) => ({ volumeDevices })),
  ...[
    [
      { name: 'b', mountPath: '/x' },
      { name: 'b', devicePath: '/d' },
    ],
    [
      { name: 'v', mountPath: '/d' },
      { name: 'b', devicePath: '/d' },
    ],
    [
      { name: 'v', mountPath: '/x' },
      { name: 'b', devicePath: '/d' },
    ],
  ].map(([mount, device]) => ({ volumeMounts: [mount], volumeDevices: [device] })),
  ...['None', 'HostToContainer', 'Bidirectional', '', 'x'].flatMap((mountPropagation) => [
    ...[undefined, 'Enabled', 'IfPossible', 'Disabled', 'x', ''].map((recursiveReadOnly) => ({
      volumeMounts: [
        { name: 'v', mountPath: '/a', mountPropagation, recursiveReadOnly, readOnly: true },
      ],
    })),
    ...[true, false].map((privileged) => ({
      volumeMounts: [{ name: 'v', mountPath: '/a', mountPropagation }],
      securityContext: { privileged },
    })),
  ]),
  ...['Enabled', 'IfPossible', 'Disabled'].map((recursiveReadOnly) => ({
    volumeMounts: [{ name: 'v', mountPath: '/a', recursiveReadOnly }],
  })),
];

const handlers: readonly Body[] = [
  ...[{}, { exec: {} }, { exec: { command: [] } }, { exec: { command: ['a'] } }],
  ...[0, 1, 65_535, 65_536, -1, '', 'http', 'a b', 'a--b', '1', 'x'.repeat(16)].flatMap((port) => [
    { httpGet: { port } },
    { tcpSocket: { port } },
  ]),
  ...['HTTP', 'HTTPS', 'http', ''].map((scheme) => ({ httpGet: { port: 80, scheme } })),
  ...['A-b', 'a b', '', 'ä'].map((name) => ({
    httpGet: { port: 80, path: '', httpHeaders: [{ name, value: 'v' }] },
  })),
  { httpGet: { port: 80 }, tcpSocket: { port: 80 } },
  { exec: { command: ['a'] }, tcpSocket: { port: 80 }, httpGet: { port: 80 } },
];

const probes: readonly Body[] = [
  ...handlers,
  ...[0, 1, 65_535, 65_536].map((port) => ({ grpc: { port } })),
  { grpc: { port: 1, service: 's' }, exec: { command: ['a'] } },
  ...[
    'initialDelaySeconds',
    'timeoutSeconds',
    'periodSeconds',
    'successThreshold',
    'failureThreshold',
  ].flatMap((count) =>
    [-1, 0, 1, 2].map((number) => ({ tcpSocket: { port: 80 }, [count]: number })),
  ),
  ...[-1, 0, 1].map((seconds) => ({
    tcpSocket: { port: 80 },
    terminationGracePeriodSeconds: seconds,
  })),
];

const hooks: readonly Body[] = [
  ...handlers,
  ...[-1, 0, 30, 31].map((seconds) => ({ sleep: { seconds } })),
  { sleep: { seconds: 1 }, exec: { command: ['a'] } },
];

const keyed = { configMapKeyRef: { name: 'm', key: 'k' } };
const sources: readonly Body[] = [
  ...[{}, keyed, { ...keyed, secretKeyRef: { name: 's', key: 'k' } }],
  ...['configMapKeyRef', 'secretKeyRef'].flatMap((member) => [
    ...['', 'A', 'a.b'].map((name) => ({ [member]: { name, key: 'k' } })),
    ...['', '..', '.', 'a b', '..a', 'A_b.c', 'k'.repeat(254)].map((key) => ({
      [member]: { name: 'a', key },
    })),
    { [member]: { key: 'k', optional: true } },
  ]),
  ...[
    ...[
      'limits.cpu',
      'requests.memory',
      'limits.ephemeral-storage',
      'limits.hugepages-2Mi',
      '',
    ].flatMap((resource) =>
      ['1', '1m', '2', '1Ki', '1Mi', '1k', '0', '1Ei', '3Mi'].map((divisor) => ({
        resource,
        divisor,
      })),
    ),
    { resource: 'limits.hugepages-' },
    { resource: 'limits.gpu' },
    { resource: 'x.hugepages-2Mi' },
    { resource: 'requests.hugepages-2Mi' },
  ].map((resourceFieldRef) => ({ resourceFieldRef })),
  ...[
    { key: 'A', volumeName: 'v', path: 'p' },
    { key: '', volumeName: '', path: '' },
    { key: 'A=b', volumeName: 'V', path: '../p' },
    { key: 'A', volumeName: 'b', path: 'a/../p', optional: true },
    { key: 'A', volumeName: 'none', path: '/p' },
  ].map((fileKeyRef) => ({ fileKeyRef })),
];

const environments: readonly Body[] = [
  ...['', 'A', 'a b', 'a=b', '1', 'ä', '~', '\t'].map((name) => ({ env: [{ name, value: 'x' }] })),
  ...sources.map((valueFrom) => ({ env: [{ name: 'A', valueFrom }] })),
  { env: [{ name: 'A', value: 'x', valueFrom: keyed }] },
  ...[
    ...[{}, { prefix: 'p', configMapRef: { name: 'm' } }, { configMapRef: {} }, { secretRef: {} }],
    { secretRef: { name: 'S!' } },
    { prefix: '', secretRef: { name: 's' } },
    { prefix: 'a=b', secretRef: {} },
    { configMapRef: { name: 'm' }, secretRef: { name: 's' } },
    { prefix: 'a=b', secretRef: { name: 's', optional: true } },
  ].map((source) => ({ envFrom: [source] })),
];

const containerParts: readonly Body[] = [
  ...['', 'C', 'a.b', 'a'.repeat(64)].map((name) => ({ name })),
  ...['', ' x', 'x:latest', 'x@sha256:' + 'a'.repeat(64), 'x:1', 'x:', 'a.b:5000/x', 'X'].map(
    (image) => ({ image }),
  ),
  ...['Always', 'IfNotPresent', 'Never', '', 'x'].map((imagePullPolicy) => ({ imagePullPolicy })),
  ...['File', 'FallbackToLogsOnError', '', 'x'].map((policy) => ({
    terminationMessagePolicy: policy,
  })),
  ...[
    ...[{ containerPort: 0 }, { containerPort: 65_536 }, { containerPort: 1, hostPort: 0 }],
    ...[
      { containerPort: 1, hostPort: 65_536 },
      { containerPort: 1, protocol: 'x' },
    ],
    ...['', 'a--b', 'A', '1', 'x'.repeat(16)].map((name) => ({ containerPort: 1, name })),
    { containerPort: 1, protocol: 'SCTP' },
  ].map((port) => ({ ports: [port] })),
  {
    ports: [
      { containerPort: 1, name: 'a', hostPort: 1 },
      { containerPort: 1, name: 'a', hostPort: 1 },
      { containerPort: 1, name: 'b', hostPort: 1, protocol: 'UDP' },
      { containerPort: 1, name: 'c', hostPort: 1, hostIP: '10.0.0.1' },
      { containerPort: 1, name: 'A' },
      { containerPort: 1, name: 'A' },
    ],
  },
  ...[
    [
      { resourceName: 'cpu', restartPolicy: 'NotRequired' },
      { resourceName: 'cpu', restartPolicy: 'RestartContainer' },
    ],
    [{ resourceName: 'disk', restartPolicy: 'x' }],
    [{ resourceName: '', restartPolicy: '' }],
    [{ resourceName: 'memory', restartPolicy: 'RestartContainer' }],
  ].map((resizePolicy) => ({ resizePolicy })),
  ...['Always', 'Never', 'OnFailure', 'x', ''].map((restartPolicy) => ({ restartPolicy })),
  ...[
    ...[{}, { action: '' }, { action: 'Restart' }, { action: 'x', exitCodes: {} }],
    { action: 'Restart', exitCodes: { operator: 'In', values: [1] } },
    { action: 'RestartAllContainers', exitCodes: { operator: 'NotIn', values: [1] } },
    ...[255, 256].map((length) => ({
      action: 'Restart',
      exitCodes: { operator: 'In', values: Array.from({ length }, (_, code) => code) },
    })),
    { action: 'Restart', exitCodes: { operator: 'x', values: [] } },
  ].flatMap((rule) => [
    { restartPolicy: 'Never', restartPolicyRules: [rule] },
    { restartPolicyRules: [rule] },
  ]),
  ...[20, 21].map((length) => ({
    restartPolicy: 'Never',
    restartPolicyRules: Array.from({ length }, () => ({
      action: 'Restart',
      exitCodes: { operator: 'In', values: [1] },
    })),
  })),
];

const others: readonly Body[] = [
  { lifecycle: { preStop: { exec: { command: ['a'] } } } },
  ...['livenessProbe', 'readinessProbe', 'startupProbe'].map((probe) => ({
    [probe]: { tcpSocket: { port: 80 } },
  })),
  { resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }] },
  { restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'In', values: [1] } }] },
  { name: 'c' },
  { name: '' },
  {
    ports: [
      { containerPort: 1, hostPort: 1 },
      { containerPort: 2, hostPort: 1 },
    ],
  },
];

const tolerations: readonly Body[] = [
  ...[{}, { operator: 'Exists' }, { key: 'a' }, { key: 'a b' }, { key: 'a', operator: 'x' }],
  ...[
    { key: 'a', operator: 'Exists', value: 'v' },
    { key: 'a', value: 'v w' },
  ],
  ...['NoSchedule', 'PreferNoSchedule', 'NoExecute', 'x', ''].flatMap((effect) => [
    { key: 'a', operator: 'Equal', effect },
    { key: 'a', operator: 'Exists', effect, tolerationSeconds: 0 },
  ]),
];

const searches = (length: number, size: number): readonly string[] =>
  Array.from({ length }, () => 'a'.repeat(size));

const networks: readonly Body[] = [
  ...['ClusterFirst', 'ClusterFirstWithHostNet', 'Default', 'None', 'x', ''].map((dnsPolicy) => ({
    dnsPolicy,
  })),
  ...[
    ...[
      {},
      { nameservers: [] },
      { nameservers: ['10.0.0.1'] },
      { nameservers: ['x', '2001:db8::1'] },
    ],
    ...[3, 4].map((length) => ({ nameservers: Array.from({ length }, () => '10.0.0.1') })),
    ...[searches(32, 5), searches(33, 5), searches(32, 63), searches(32, 64), searches(31, 65)].map(
      (list) => ({
        searches: list,
      }),
    ),
    { searches: ['.', 'a.b.', 'a..', '', 'A', 'a_b.c', '_x', ' '] },
    { options: [{}, { name: '' }, { name: 'a', value: 'b' }] },
  ].flatMap((dnsConfig) => [{ dnsConfig }, { dnsPolicy: 'None', dnsConfig }]),
  ...['hostname', 'subdomain'].flatMap((member) =>
    ['', 'A', 'a.b', 'a'.repeat(64)].map((name) => ({ [member]: name })),
  ),
  ...[
    { ip: 'x' },
    { ip: '' },
    { ip: '10.0.0.1', hostnames: ['A!', '', 'a.b'] },
    { ip: '010.0.0.1' },
  ].map((alias) => ({ hostAliases: [alias] })),
  ...[{ hostPort: 1 }, { hostPort: 2 }, {}].map((port) => ({
    hostNetwork: true,
    containers: [{ ...container, ports: [{ containerPort: 1, ...port }] }],
  })),
];

const names: readonly Body[] = [
  ...[
    'serviceAccountName',
    'serviceAccount',
    'nodeName',
    'priorityClassName',
    'runtimeClassName',
    'schedulerName',
  ].flatMap((member) => ['', 'A', 'a.b', 'a/b'].map((name) => ({ [member]: name }))),
  ...['PreemptLowerPriority', 'Never', 'x', ''].map((preemptionPolicy) => ({ preemptionPolicy })),
  ...['Always', 'OnFailure', 'Never', 'x', ''].map((restartPolicy) => ({ restartPolicy })),
  ...[[{ conditionType: '' }], [{ conditionType: 'a b' }], [{ conditionType: 'a/b' }]].map(
    (gates) => ({
      readinessGates: gates,
    }),
  ),
  ...[[{ name: '' }], [{ name: 'a b' }], [{ name: 'a' }, { name: 'a' }]].map((gates) => ({
    schedulingGates: gates,
  })),
  ...[{ a: 'b c' }, { 'a b': 'c' }, { '': '' }].map((nodeSelector) => ({ nodeSelector })),
  { ephemeralContainers: [{ name: 'e', image: 'x' }] },
  { initContainers: [{ name: 'c', image: 'x' }] },
  { containers: [] },
  { containers: null },
  { containers: [container, container] },
  ...[-1, 0, 2 ** 40].map((seconds) => ({ terminationGracePeriodSeconds: seconds })),
  ...[0, 2 ** 31].map((seconds) => ({ activeDeadlineSeconds: seconds })),
];

const term = { topologyKey: 'zone', labelSelector: { matchLabels: { a: 'b' } } };
const required = 'requiredDuringSchedulingIgnoredDuringExecution';
const preferred = 'preferredDuringSchedulingIgnoredDuringExecution';

const requirements: readonly Body[] = [
  ...['In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt', 'x', ''].flatMap((operator) =>
    [undefined, [], ['1'], ['1', '2'], ['x'], ['a b']].map((values) => ({
      key: 'k',
      operator,
      values,
    })),
  ),
  ...['', 'a b', 'metadata.name', 'metadata.namespace'].map((key) => ({
    key,
    operator: 'In',
    values: ['a'],
  })),
];

const podTerms: readonly Body[] = [
  ...[
    {},
    term,
    { topologyKey: 'a b' },
    { ...term, namespaces: ['A!'] },
    { ...term, namespaces: ['a'] },
  ],
  ...[{ ...term, namespaceSelector: { matchLabels: { 'a b': 'c' } } }, { topologyKey: 'zone' }],
  { topologyKey: 'zone', labelSelector: { matchExpressions: [{ key: 'a', operator: 'In' }] } },
  ...['matchLabelKeys', 'mismatchLabelKeys'].flatMap((member) => [
    { ...term, [member]: ['x'] },
    { ...term, [member]: ['a'] },
    { ...term, [member]: ['a b', 'a b'] },
    { topologyKey: 'zone', [member]: ['x'] },
  ]),
  { ...term, matchLabelKeys: ['x'], mismatchLabelKeys: ['x'] },
  {
    topologyKey: 'zone',
    labelSelector: { matchExpressions: [{ key: 'x', operator: 'Exists' }] },
    matchLabelKeys: ['x'],
  },
];

const affinities: readonly Body[] = [
  { nodeAffinity: { [required]: {} } },
  { nodeAffinity: { [required]: { nodeSelectorTerms: [{}] } } },
  ...requirements.flatMap((requirement) => [
    { nodeAffinity: { [required]: { nodeSelectorTerms: [{ matchExpressions: [requirement] }] } } },
    { nodeAffinity: { [required]: { nodeSelectorTerms: [{ matchFields: [requirement] }] } } },
  ]),
  ...[0, 1, 100, 101].flatMap((weight) => [
    { nodeAffinity: { [preferred]: [{ weight, preference: {} }] } },
    { podAffinity: { [preferred]: [{ weight, podAffinityTerm: term }] } },
  ]),
  {
    nodeAffinity: {
      [preferred]: [{ weight: 1, preference: { matchExpressions: [{ key: '', operator: 'x' }] } }],
    },
  },
  ...podTerms.flatMap((one) => [
    { podAffinity: { [required]: [one] } },
    { podAntiAffinity: { [preferred]: [{ weight: 1, podAffinityTerm: one }] } },
  ]),
];

const spread = { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule' };
const constraints: readonly (readonly Body[])[] = [
  ...[
    ...[
      {},
      spread,
      { ...spread, maxSkew: 0 },
      { ...spread, maxSkew: -1 },
      { ...spread, topologyKey: '' },
    ],
    ...[
      { ...spread, topologyKey: 'a b' },
      { ...spread, whenUnsatisfiable: 'x' },
    ],
    { ...spread, whenUnsatisfiable: 'ScheduleAnyway' },
    ...[-1, 0, 1].flatMap((minDomains) => [
      { ...spread, minDomains },
      { ...spread, whenUnsatisfiable: 'ScheduleAnyway', minDomains },
    ]),
    ...['nodeAffinityPolicy', 'nodeTaintsPolicy'].flatMap((member) =>
      ['Honor', 'Ignore', 'x', ''].map((policy) => ({ ...spread, [member]: policy })),
    ),
    ...[['x'], ['a'], ['a b'], ['x', 'x']].flatMap((matchLabelKeys) => [
      { ...spread, matchLabelKeys },
      { ...spread, matchLabelKeys, labelSelector: { matchLabels: { a: 'b' } } },
      {
        ...spread,
        matchLabelKeys,
        labelSelector: { matchExpressions: [{ key: 'x', operator: 'Exists' }] },
      },
    ]),
    { ...spread, labelSelector: { matchLabels: { 'a b': 'c' } } },
  ].map((one) => [one]),
  [spread, spread],
  [spread, { ...spread, whenUnsatisfiable: 'ScheduleAnyway' }],
];

/** Statuses of a pod, which are written one after the other. */
const statuses: readonly Body[] = [
  ...[
    {
      conditions: [
        { type: 'a b', status: 'True' },
        { type: 'Ready', status: 'x' },
      ],
    },
  ],
  ...[{ hostIP: '10.0.0.1' }, { hostIP: '10.0.0.1', hostIPs: [{ ip: '10.0.0.1' }] }],
  { hostIP: '10.0.0.1', hostIPs: [{ ip: '10.0.0.1' }, { ip: '10.0.0.2' }] },
  { hostIP: '10.0.0.1', hostIPs: [{ ip: '10.0.0.1' }, { ip: '2001:db8::1' }, { ip: '10.0.0.3' }] },
  { hostIP: 'x', hostIPs: [{ ip: 'x' }] },
  { podIP: '10.1.0.9', podIPs: [{ ip: '10.1.0.1' }, { ip: '2001:db8::1' }] },
  { podIP: '10.1.0.1', podIPs: [{ ip: '10.1.0.1' }, { ip: '10.1.0.1' }] },
  { podIPs: [{ ip: '2001:db8::1' }, { ip: '10.1.0.1' }] },
  { podIP: '10.1.0.1' },
  { qosClass: 'Burstable' },
];

const once = { containers: [container], terminationGracePeriodSeconds: 5 };
const toleration = { key: 'a', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 5 };

const changes: readonly Body[] = [
  ...[{ activeDeadlineSeconds: 9 }, { activeDeadlineSeconds: 9 }, { activeDeadlineSeconds: 10 }],
  ...[{ activeDeadlineSeconds: null }, { tolerations: [toleration] }, { tolerations: [] }],
  { tolerations: [{ ...toleration, tolerationSeconds: 9 }] },
  { tolerations: [{ ...toleration, effect: 'NoSchedule', tolerationSeconds: null }] },
  ...[{ terminationGracePeriodSeconds: 1 }, { hostname: 'x' }, { nodeSelector: { a: 'b' } }],
  { initContainers: [{ name: 'i', image: 'x' }] },
  { containers: [container, { ...container, name: 'd' }] },
  { schedulingGates: [{ name: 'a' }] },
];

const mirror = 'kubernetes.io/config.mirror';

const extras: readonly Body[] = [
  ...[
    { name: 'e', image: 'x' },
    { name: 'c', image: 'x' },
    { name: 'f', image: ' x' },
    { name: '', image: '' },
  ],
  { name: 'g', image: 'x', targetContainerName: 'none' },
  { name: 'g', image: 'x', targetContainerName: 'c', ports: [{ containerPort: 1 }] },
  { name: 'g', image: 'x', volumeMounts: [{ name: 'v', mountPath: '/a', subPath: 'b' }] },
  { name: 'g', image: 'x', volumeMounts: [{ name: 'v', mountPath: '/a', subPathExpr: 'b' }] },
  { name: 'g', image: 'x', volumeMounts: [{ name: 'v', mountPath: '/a' }] },
];

/** Checks of the parts of a pod, and of changes of pods. */
export const podParts: readonly Scenario[] = [
  { title: 'mounts of containers', requests: containersOf(mounts, { volumes }) },
  {
    title: 'probes of containers',
    requests: ['livenessProbe', 'readinessProbe', 'startupProbe'].flatMap((probe) =>
      containersOf(probes.map((one) => ({ [probe]: one }))),
    ),
  },
  {
    title: 'hooks of containers',
    requests: ['postStart', 'preStop'].flatMap((hook) =>
      containersOf(hooks.map((one) => ({ lifecycle: { [hook]: one } }))),
    ),
  },
  { title: 'variables of containers', requests: containersOf(environments, { volumes }) },
  {
    title: 'parts of containers',
    requests: [
      ...containersOf(containerParts),
      ...containersOf(containerParts.slice(-40), { restartPolicy: 'Never' }),
    ],
  },
  {
    title: 'parts of init containers',
    requests: [undefined, 'Always', 'Never'].flatMap((restartPolicy) =>
      templatesOf(
        [...others, ...containerParts.slice(-25)].map((more) => ({
          initContainers: [{ name: 'i', image: 'x', restartPolicy, ...more }],
        })),
      ),
    ),
  },
  {
    title: 'tolerations of pods',
    requests: templatesOf(tolerations.map((one) => ({ tolerations: [one] }))),
  },
  { title: 'networks of pods', requests: templatesOf(networks) },
  { title: 'names of pods', requests: templatesOf(names) },
  {
    title: 'affinities of pods',
    requests: templatesOf(affinities.map((affinity) => ({ affinity }))),
  },
  {
    title: 'spreading of pods',
    requests: templatesOf(constraints.map((all) => ({ topologySpreadConstraints: all }))),
  },
  {
    title: 'statuses of pods',
    requests: [
      post(pods, { metadata: { name: 'one' }, spec: once }),
      ...statuses.map((status) => patch('merge', `${pods}/one/status`, { status })),
    ],
  },
  {
    title: 'changes of pods',
    requests: [
      post(pods, { metadata: { name: 'one' }, spec: once }),
      ...changes.map((spec) => patch('merge', `${pods}/one`, { spec })),
    ],
  },
  {
    title: 'mirrors of static pods',
    requests: [
      post(pods, { metadata: { name: 'none', annotations: { [mirror]: 'a' } }, spec: once }),
      post(pods, { metadata: { name: 'one' }, spec: { ...once, nodeName: 'n' } }),
      patch('merge', `${pods}/one`, { metadata: { annotations: { [mirror]: 'a' } } }),
      post(pods, {
        metadata: { name: 'two', annotations: { [mirror]: 'a' } },
        spec: { ...once, nodeName: 'n' },
      }),
      ...['b', null].map((value) =>
        patch('merge', `${pods}/two`, { metadata: { annotations: { [mirror]: value } } }),
      ),
      patch('merge', `${pods}/two/resize`, { spec: once }),
    ],
  },
  {
    title: 'gates of pods on a node',
    requests: [
      { schedulingGates: [{ name: 'a' }], nodeName: 'n' },
      { ephemeralContainers: [{ name: 'e', image: 'x' }] },
    ].map((more) => post(pods, { metadata: { name: 'one' }, spec: { ...once, ...more } })),
  },
  {
    title: 'ephemeral containers of pods',
    requests: [
      post(pods, {
        metadata: { name: 'one' },
        spec: { ...once, volumes: [{ name: 'v', emptyDir: {} }] },
      }),
      ...extras.map((extra) =>
        patch('strategic', `${pods}/one/ephemeralcontainers?dryRun=All`, {
          spec: { ephemeralContainers: [extra] },
        }),
      ),
      ...[[{ name: 'e', image: 'x' }], [{ name: 'e', image: 'y' }], []].map((ephemeralContainers) =>
        put(`${pods}/one/ephemeralcontainers`, {
          metadata: { name: 'one' },
          spec: { ...once, ephemeralContainers },
        }),
      ),
    ],
  },
];
