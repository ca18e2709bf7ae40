import { patch, post, put } from '../scenario.js';
import type { Request, Scenario } from '../scenario.js';

type Body = Readonly<Record<string, unknown>>;

const dry = '?dryRun=All';
const inNamespace = (api: string, plural: string): string => `${api}/namespaces/{{ns}}/${plural}`;
const nodes = '/api/v1/nodes';
const slices = inNamespace('/apis/discovery.k8s.io/v1', 'endpointslices');
const endpoints = inNamespace('/api/v1', 'endpoints');
const coreEvents = inNamespace('/api/v1', 'events');
const newEvents = inNamespace('/apis/events.k8s.io/v1', 'events');
const limits = inNamespace('/api/v1', 'limitranges');
const quotas = inNamespace('/api/v1', 'resourcequotas');
const configMaps = inNamespace('/api/v1', 'configmaps');
const secrets = inNamespace('/api/v1', 'secrets');
const requests = '/apis/certificates.k8s.io/v1/certificatesigningrequests';

/** Creates an object with each of `bodies`, without storing it. */
const tried = (path: string, bodies: readonly Body[], name = 'one'): Request[] =>
  bodies.map((body) => post(`${path}${dry}`, { metadata: { name }, ...body }));

const taint = { key: 'k', effect: 'NoSchedule' };
const cidrs: readonly (readonly string[])[] = [
  ...[['10.0.0.0/24'], ['10.0.0.1/24'], ['x'], [''], ['2001:db8::/64'], ['10.0.0.0/33']],
  ...[
    ['10.0.0.0/24', '10.1.0.0/24'],
    ['10.0.0.0/24', '2001:db8::/64'],
    ['10.0.0.0/24', '2001:db8::/64', '10.1.0.0/24'],
  ],
];
const nodeSpecs: readonly Body[] = [
  ...cidrs.flatMap((podCIDRs) => [{ podCIDRs }, { podCIDR: podCIDRs[0], podCIDRs }]),
  ...[{ podCIDR: '10.2.0.0/24', podCIDRs: ['10.0.0.0/24'] }, { podCIDR: '10.0.0.0/24' }],
  ...[
    { ...taint, value: 'a b' },
    { ...taint, value: '-a b-' },
    { key: '', effect: '' },
  ].map((one) => ({
    taints: [one],
  })),
  ...['NoSchedule', 'PreferNoSchedule', 'NoExecute', 'x'].map((effect) => ({
    taints: [{ key: 'a/b', value: 'v', effect }],
  })),
  { taints: [taint, taint] },
  { taints: [taint, { ...taint, effect: 'NoExecute' }, { ...taint, value: 'v' }] },
  ...[{ externalID: 'x' }, { externalID: '' }, { providerID: 'p' }, { unschedulable: true }],
  { configSource: { configMap: { name: 'a', namespace: 'b', kubeletConfigKey: 'c' } } },
];
const nodeChanges: readonly Body[] = [
  { podCIDRs: ['10.0.0.0/24'], podCIDR: '10.0.0.0/24' },
  { podCIDRs: ['10.0.1.0/24'], podCIDR: '10.0.1.0/24' },
  { podCIDRs: null, podCIDR: null },
  { podCIDRs: ['10.0.0.0/24', '2001:db8::/64'] },
  ...[{ providerID: 'p' }, { providerID: 'q' }, { providerID: null }, { externalID: 'x' }],
];

const words = (...sizes: readonly number[]): string =>
  sizes.map((size) => 'a'.repeat(size)).join('.');

const pem = (type: string): string =>
  Buffer.from(`-----BEGIN ${type}-----\nYQ==\n-----END ${type}-----\n`).toString('base64');
/** A request for a certificate, which the real server parses. */
export const certificateRequest =
  'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIRk1HNENBUUF3RERFS01BZ0dBMVVFQXd3QllUQlpNQk1HQnlxR1NNNDlBZ0VHQ0NxR1NNNDlBd0VIQTBJQQpCT1R3RWlKR0VuWEppcjd5MFRPSlhHaHUweDBhVmkzc2FmRGlWY2p2TG04TTIxMFFyMk1vUkViVTRWZVg0VXBTCmwwYjFJTVhhamgzTWc1c0tQZ0tUd3IrZ0FEQUtCZ2dxaGtqT1BRUURBZ05IQURCRUFpQllyb3JYRm8xdVgwMUIKZjBoRGpEblhXWUJiSGZrOStGbE84Skg4NjJHT3dnSWdDamRsc2hpV1diay9wMWM4YjdGTnA2aXllNDFrRks1aApmckNnRXRBTTZuUT0KLS0tLS1FTkQgQ0VSVElGSUNBVEUgUkVRVUVTVC0tLS0tCg==';
const signing = {
  ...{ request: '', signerName: 'example.com/s', usages: ['client auth'] },
};
const signingSpecs: readonly Body[] = [
  ...['', 'eA==', pem('CERTIFICATE'), certificateRequest].map((request) => ({ request })),
  ...[[], ['x'], ['client auth', 'client auth'], ['any', 'signing', 's/mime'], ['']].map(
    (usages) => ({ usages }),
  ),
  ...['', 'x', 'a.b', 'a.b/', '/a', 'a/b', 'a.b/c/d', 'A.b/c', 'a..b/c', 'a.b/c..d', 'a.b/C'].map(
    (signerName) => ({ signerName }),
  ),
  ...[words(63, 63, 63, 61), words(63, 63, 63, 62), words(64, 2)].map((domain) => ({
    signerName: `${domain}/x`,
  })),
  ...['kubernetes.io/legacy-unknown', 'kubernetes.io/kubelet-serving'].map((signerName) => ({
    signerName,
  })),
  ...[0, 599, 600, -1].map((expirationSeconds) => ({ expirationSeconds })),
];

const is = (type: string, status = 'True', more: Body = {}): Body => ({
  ...{ type, status, reason: 'R', message: 'm' },
  ...{ lastUpdateTime: '2026-01-01T00:00:00Z', lastTransitionTime: '2026-01-01T00:00:00Z' },
  ...more,
});
const signed =
  'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUJiekNDQVJXZ0F3SUJBZ0lVRHFrS0lIa092ZCt2SGJaazRHaGJsZkliVmdvd0NnWUlLb1pJemowRUF3SXcKRERFS01BZ0dBMVVFQXd3QllUQWdGdzB5TmpFeE16QXlNakEzTkRWYUdBOHlNRFUwTURReE5qSXlNRGMwTlZvdwpEREVLTUFnR0ExVUVBd3dCWVRCWk1CTUdCeXFHU000OUFnRUdDQ3FHU000OUF3RUhBMElBQk9WZFBmelNnRWxzCnc2UytjMVpiOU1ZSW5JOXN0Q2ZnZGVLQW9zYWNQZzRZUitiYktXRFFIa1NvUHNzWDBkM0hYRnJGeTRIN2lCR0QKQmtMVXVBbVpGZ1NqVXpCUk1CMEdBMVVkRGdRV0JCUlF2Wk9DY1lYSlUwZ1RGbUxwOXo0S3llQUF6ekFmQmdOVgpIU01FR0RBV2dCUlF2Wk9DY1lYSlUwZ1RGbUxwOXo0S3llQUF6ekFQQmdOVkhSTUJBZjhFQlRBREFRSC9NQW9HCkNDcUdTTTQ5QkFNQ0EwZ0FNRVVDSUdwMTFYaTd0aDlxZlpvTjNGM1FPUjQxMmk4TklpT0Vjc3ZnY3JaVTNYaXEKQWlFQXpFTUtJUkI1ZmxwYWtXYnZNamR0dXJtUHA0a2RBU0dWMEFYTWd1QXFxL0E9Ci0tLS0tRU5EIENFUlRJRklDQVRFLS0tLS0K';

/** Creates a CertificateSigningRequest, and writes its approval and its status in these steps. */
const decisions = (...steps: readonly (readonly [string, Body])[]): Request[] => {
  const one = `${requests}/{{ns}}-one`;
  return [
    post(requests, {
      metadata: { name: '{{ns}}-one' },
      spec: { ...signing, request: certificateRequest },
    }),
    ...steps.map(([part, status]) => patch('merge', `${one}/${part}`, { status })),
  ];
};

const eventTime = '2026-01-01T00:00:00.000000Z';
const event = {
  ...{ eventTime, reason: 'Why', action: 'Act', type: 'Normal', reportingInstance: 'i' },
};
const text = (size: number): string => 'a'.repeat(size);
const core = {
  ...event,
  involvedObject: { kind: 'Pod', name: 'p', namespace: '{{ns}}' },
  reportingComponent: 'a.b/c',
};
const modern = {
  ...event,
  regarding: { kind: 'Pod', name: 'p', namespace: '{{ns}}' },
  reportingController: 'a.b/c',
};
const eventParts: readonly Body[] = [
  ...['reportingInstance', 'action', 'reason'].flatMap((member) =>
    ['', text(128), text(129), text(1024)].map((value) => ({ [member]: value })),
  ),
  ...['Normal', 'Warning', '', 'x'].map((type) => ({ type })),
  ...[{ series: {} }, { series: { count: 1, lastObservedTime: eventTime } }, { eventTime: null }],
  ...[{ series: { count: 2, lastObservedTime: eventTime } }, { series: { count: 2 } }],
];
const coreParts: readonly Body[] = [
  ...eventParts,
  ...['', 'a b', 'a/b/c', 'x'].map((reportingComponent) => ({ reportingComponent })),
  ...['', text(1024), text(1025)].map((message) => ({ message })),
  ...['other', '', undefined].flatMap((namespace) => [
    { involvedObject: { namespace } },
    { involvedObject: { namespace }, eventTime: null },
  ]),
];
const modernParts: readonly Body[] = [
  ...eventParts,
  ...['', 'a b', 'a/b/c', 'x'].map((reportingController) => ({ reportingController })),
  ...['', text(1024), text(1025)].map((note) => ({ note })),
  ...['other', '', undefined].map((namespace) => ({ regarding: { namespace } })),
  ...[{ deprecatedCount: 1 }, { deprecatedCount: 0 }, { deprecatedSource: { component: 'a' } }],
  { deprecatedSource: { host: 'a' } },
  { deprecatedFirstTimestamp: '2026-01-01T00:00:00Z' },
  { deprecatedLastTimestamp: '2026-01-01T00:00:00Z' },
];
const modernChanges: readonly Body[] = [
  ...[{ reason: 'Other' }, { note: 'n' }, { type: 'Warning' }, { action: 'Other' }],
  ...[{ regarding: { name: 'q' } }, { related: { kind: 'Pod' } }, { deprecatedCount: 1 }],
  ...[{ reportingController: 'x.y/z' }, { reportingInstance: 'j' }, { series: { count: 1 } }],
  ...[{ eventTime: '2026-01-02T00:00:00.000000Z' }, { deprecatedSource: { component: 'a' } }],
  { series: { count: 3, lastObservedTime: eventTime } },
  {
    deprecatedFirstTimestamp: '2026-01-01T00:00:00Z',
    deprecatedLastTimestamp: '2026-01-01T00:00:00Z',
  },
];

const address = (index: number): string => `10.1.${Math.floor(index / 250)}.${(index % 250) + 1}`;
const zones = (...names: readonly string[]): readonly Body[] => names.map((name) => ({ name }));
const eight = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
const endpointParts: readonly Body[] = [
  ...[0, 100, 101].map((length) => ({ addresses: Array.from({ length }, (_, at) => address(at)) })),
  ...[
    '127.0.0.1',
    '169.254.1.1',
    '224.0.0.1',
    '0.0.0.0',
    '::1',
    '2001:db8::1',
    'fe80::1',
    'ff02::1',
    'x',
    '',
    'a.b',
    'A.b',
    'a.b.',
    'A.b.',
    'a.',
    'a-',
    '::ffff:10.1.1.1',
    '1.2.3',
    '1.2.3.4.5',
  ].map((one) => ({ addresses: [one] })),
  ...['', 'A', 'a.b', 'a'].flatMap((name) => [{ nodeName: name }, { hostname: name }]),
  ...[['a'], ['a', 'a'], ['a b'], [''], eight, [...eight, 'i']].flatMap((names) => [
    { hints: { forZones: zones(...names) } },
    { hints: { forNodes: zones(...names) } },
  ]),
  ...[{ targetRef: { kind: 'Pod', name: 'p' } }, { zone: 'z' }, { conditions: { ready: false } }],
];
const slicePorts: readonly (readonly Body[])[] = [
  ...[
    {},
    { name: '' },
    { name: 'A' },
    { name: 'a.b' },
    { port: 0 },
    { port: 70_000 },
    { protocol: 'x' },
  ].map((port) => [port]),
  ...['', 'x', 'a.b/c', 'a b', 'a/b/c'].map((appProtocol) => [{ name: 'a', appProtocol }]),
  [{ name: 'a' }, { name: 'a' }],
  [{}, {}],
];
const subsets: readonly Body[] = [
  ...[{}, { addresses: [] }, { ports: [{ port: 80 }] }],
  ...[
    '127.0.0.1',
    '169.254.1.1',
    '224.0.0.1',
    '0.0.0.0',
    'x',
    '',
    '2001:db8::1',
    '010.1.1.1',
  ].flatMap((ip) => [{ addresses: [{ ip }] }, { notReadyAddresses: [{ ip }] }]),
  ...['', 'A', 'a.b'].flatMap((name) => [
    { addresses: [{ ip: '10.1.1.1', hostname: name }] },
    { addresses: [{ ip: '10.1.1.1', nodeName: name }] },
  ]),
  ...slicePorts.map((ports) => ({
    addresses: [{ ip: '10.1.1.1' }],
    ports: ports.map((port) => ({ port: 80, ...port })),
  })),
];

const amounts = (list: string, cpu: string): Body => ({ [list]: { cpu } });
const pairs = [
  ['min', 'max'],
  ['min', 'default'],
  ['min', 'defaultRequest'],
  ['default', 'max'],
  ['defaultRequest', 'max'],
  ['defaultRequest', 'default'],
] as const;
const items: readonly Body[] = [
  ...['', 'x', 'a/b', 'a b', 'Pod', 'Container', 'PersistentVolumeClaim'].map((type) => ({ type })),
  ...['Pod', 'Container', 'a/b'].flatMap((type) => [
    ...pairs.flatMap(([low, high]) => [
      { type, ...amounts(low, '2'), ...amounts(high, '1') },
      { type, ...amounts(low, '1'), ...amounts(high, '1') },
    ]),
    ...['x', 'a/b', 'requests.cpu', 'hugepages-2Mi', 'a b', 'storage', ''].flatMap((name) => [
      ...['min', 'max', 'default', 'defaultRequest', 'maxLimitRequestRatio'].map((list) => ({
        type,
        [list]: { [name]: '1' },
      })),
    ]),
    ...['0.5', '1', '2', '2.5', '3', '1500m'].map((cpu) => ({
      ...{ type, min: { cpu: '2' }, max: { cpu: '5' } },
      maxLimitRequestRatio: { cpu },
    })),
    { type, maxLimitRequestRatio: { cpu: '0.5' } },
    { type, max: { cpu: '5' }, maxLimitRequestRatio: { cpu: '9' } },
  ]),
  ...[{ min: { storage: '1' } }, { max: { storage: '1' } }, { max: { cpu: '1' } }].map(
    (bounds) => ({
      ...{ type: 'PersistentVolumeClaim', ...bounds },
    }),
  ),
];

const scopeNames = [
  ...['Terminating', 'NotTerminating', 'BestEffort', 'NotBestEffort', 'PriorityClass', 'x'],
  ...['CrossNamespacePodAffinity', 'VolumeAttributesClass'],
];
const resources = [
  'pods',
  'cpu',
  'services',
  'persistentvolumeclaims',
  'requests.storage',
  'count/x.y',
];
const quotaSpecs: readonly Body[] = [
  ...scopeNames.flatMap((scope) =>
    resources.flatMap((resource) => [
      { hard: { [resource]: '1' }, scopes: [scope] },
      {
        hard: { [resource]: '1' },
        scopeSelector: { matchExpressions: [{ scopeName: scope, operator: 'Exists' }] },
      },
    ]),
  ),
  ...scopeNames.flatMap((scopeName) =>
    ['In', 'NotIn', 'Exists', 'DoesNotExist', 'x'].flatMap((operator) =>
      [[], ['a']].map((values) => ({
        scopeSelector: { matchExpressions: [{ scopeName, operator, values }] },
      })),
    ),
  ),
  ...[
    ['BestEffort', 'NotBestEffort'],
    ['Terminating', 'NotTerminating'],
    ['Terminating', 'BestEffort', 'NotTerminating', 'NotBestEffort'],
    ['Terminating', 'Terminating'],
  ].flatMap((scopes) => [
    { scopes },
    {
      scopeSelector: {
        matchExpressions: scopes.map((scopeName) => ({ scopeName, operator: 'Exists' })),
      },
    },
  ]),
  ...['-1', '0', '1.5', '1500m', '1Gi'].flatMap((amount) =>
    ['pods', 'cpu', 'memory', 'count/pods', 'services.nodeports', 'requests.storage'].map(
      (name) => ({
        hard: { [name]: amount },
      }),
    ),
  ),
  ...[
    'x',
    'a b',
    'count/',
    'count/a/b',
    'requests.x',
    'requests.a.b/c',
    'a/b',
    'limits.a/b',
    'a.storageclass.storage.k8s.io/requests.storage',
  ].map((name) => ({ hard: { [name]: '1' } })),
];

const base64 = (value: string): string => Buffer.from(value).toString('base64');
const types: readonly Body[] = [
  ...[
    'dockercfg',
    'dockerconfigjson',
    'ssh-auth',
    'tls',
    'basic-auth',
    'service-account-token',
    'x',
  ].flatMap((name) =>
    [
      {},
      { '.dockercfg': base64('{}'), '.dockerconfigjson': base64('{"auths":{}}') },
      { 'ssh-privatekey': '', 'tls.crt': '', username: '' },
      { 'tls.key': '', password: '' },
      { 'tls.crt': base64('-----BEGIN X-----'), 'tls.key': '' },
      { 'tls.crt': '', 'tls.key': pem('PRIVATE KEY') },
      { 'tls.crt': pem('CERTIFICATE'), 'tls.key': base64('x') },
    ].map((data) => ({ type: `kubernetes.io/${name}`, data })),
  ),
  ...['', 'a'].map((account) => ({
    metadata: { name: 'one', annotations: { 'kubernetes.io/service-account.name': account } },
    type: 'kubernetes.io/service-account-token',
  })),
];
const mebibyte = 1024 * 1024;
const keys = ['', '.', '..', '...', 'a b', 'A_b-c.d', 'a/b', 'k'.repeat(253), 'k'.repeat(254)];
const changesOfData: readonly Body[] = [
  ...[{ data: { a: 'eA==' } }, { data: null }, { immutable: false }, { immutable: null }],
  ...[{ metadata: { labels: { a: 'b' } } }, { metadata: { generateName: 'A!' } }],
];

/** Checks of the kinds that the cluster itself uses: nodes, certificates, events, endpoints, limits and data. */
export const clusterParts: readonly Scenario[] = [
  {
    title: 'specs of nodes',
    requests: [
      ...tried(
        nodes,
        nodeSpecs.map((spec) => ({ spec })),
        '{{ns}}-one',
      ),
      post(nodes, { metadata: { name: '{{ns}}-one' }, spec: {} }),
      ...nodeChanges.map((spec) => patch('merge', `${nodes}/{{ns}}-one`, { spec })),
    ],
  },
  {
    title: 'specs of certificate requests',
    requests: tried(
      requests,
      signingSpecs.map((spec) => ({
        spec: { ...signing, request: certificateRequest, ...spec },
      })),
      '{{ns}}-one',
    ),
  },
  {
    title: 'decisions about certificate requests',
    requests: decisions(
      ...[[''], ['Approved', 'False'], ['Approved', ''], ['X', 'Unknown'], ['X', '']].map(
        ([type = '', status]) => ['approval', { conditions: [is(type, status)] }] as const,
      ),
      ['approval', { conditions: [is('Approved'), is('Denied')] }],
      ['approval', { conditions: [is('Denied'), is('Approved')] }],
      ['approval', { conditions: [is('X'), is('X')] }],
      ['status', { conditions: [is('Approved')] }],
      ['approval', { conditions: [is('Approved', 'True', { lastTransitionTime: null })] }],
      ['approval', { conditions: [] }],
      ['approval', { certificate: signed }],
      ['status', { conditions: [is('Approved', 'True', { message: 'other' }), is('Failed')] }],
      ['status', { conditions: [is('Approved'), is('Denied')] }],
      ['status', { conditions: [is('Approved')] }],
      ['status', { certificate: 'eA==' }],
      ['status', { certificate: signed }],
      ['status', { certificate: null }],
      ['status', { conditions: null }],
    ),
  },
  {
    title: 'parts of events',
    requests: [
      ...tried(
        coreEvents,
        coreParts.map((part) => ({ ...core, ...part })),
      ),
      post(coreEvents, { metadata: { name: 'one' }, ...core }),
      ...coreParts.map((part) => patch('merge', `${coreEvents}/one${dry}`, part)),
    ],
  },
  {
    title: 'parts of events of the newer API',
    requests: [
      ...tried(
        newEvents,
        modernParts.map((part) => ({ ...modern, ...part })),
      ),
      post(newEvents, { metadata: { name: 'one' }, ...modern }),
      ...[...modernChanges, ...modernParts].map((part) =>
        patch('merge', `${newEvents}/one${dry}`, part),
      ),
    ],
  },
  {
    title: 'parts of endpoint slices',
    requests: [
      ...['IPv4', 'IPv6', 'FQDN', 'x', ''].flatMap((addressType) =>
        tried(
          slices,
          endpointParts.map((part) => ({
            addressType,
            endpoints: [{ addresses: ['10.1.1.1'], ...part }],
          })),
        ),
      ),
      ...tried(
        slices,
        ['', '.', 'a.', 'a.b.', `${words(64)}.b`, `a.${words(63)}`, 'a_.b'].map((address) => ({
          ...{ addressType: 'FQDN', endpoints: [{ addresses: [address] }] },
        })),
      ),
      ...tried(
        slices,
        slicePorts.map((ports) => ({ addressType: 'IPv4', endpoints: [], ports })),
      ),
      post(slices, { metadata: { name: 'one' }, addressType: 'IPv4', endpoints: [] }),
      put(`${slices}/one`, { metadata: { name: 'one' }, addressType: 'IPv6', endpoints: [] }),
      patch('merge', `${slices}/one`, { metadata: { labels: { a: 'b' } } }),
      patch('merge', `${slices}/one`, { metadata: { annotations: { a: 'b' } } }),
    ],
  },
  {
    title: 'subsets of endpoints',
    requests: tried(
      endpoints,
      subsets.map((subset) => ({ subsets: [subset] })),
    ),
  },
  {
    title: 'items of limits',
    requests: [
      ...tried(
        limits,
        items.map((item) => ({ spec: { limits: [item] } })),
      ),
      ...tried(limits, [
        { spec: { limits: [{ type: 'Pod' }, { type: 'Pod' }] } },
        { spec: { limits: null } },
        ...[
          { max: { cpu: '2' } },
          { min: { cpu: '1' } },
          { default: { cpu: '1' } },
          { defaultRequest: { cpu: '1' } },
        ].map((bounds) => ({ spec: { limits: [{ type: 'Container', ...bounds }] } })),
      ]),
    ],
  },
  {
    title: 'specs of quotas',
    requests: tried(
      quotas,
      quotaSpecs.map((spec) => ({ spec })),
    ),
  },
  {
    title: 'data of objects',
    requests: [
      ...tried(
        configMaps,
        keys.map((key) => ({ data: { [key]: 'x' } })),
      ),
      ...tried(
        configMaps,
        keys.map((key) => ({ binaryData: { [key]: 'eA==' } })),
      ),
      ...tried(
        secrets,
        keys.map((key) => ({ data: { [key]: 'eA==' } })),
      ),
      ...tried(
        secrets,
        keys.map((key) => ({ stringData: { [key]: 'x' } })),
      ),
      ...tried(configMaps, [
        { data: { a: 'x' }, binaryData: { a: 'eA==' } },
        { data: { a: text(mebibyte) } },
        { data: { a: text(mebibyte), b: 'c' } },
        { data: { a: text(mebibyte - 1) }, binaryData: { b: base64('cd') } },
      ]),
      ...tried(secrets, [
        { stringData: { a: text(mebibyte) } },
        { stringData: { a: text(mebibyte), b: 'c' } },
        ...types,
      ]),
    ],
  },
  {
    title: 'immutable data',
    requests: [configMaps, secrets].flatMap((path) => [
      post(path, { metadata: { name: 'one' }, data: { a: 'eQ==' }, immutable: true }),
      post(path, { metadata: { name: 'two' }, data: { a: 'eQ==' } }),
      ...['one', 'two'].flatMap((name) =>
        changesOfData.map((change) => patch('merge', `${path}/${name}${dry}`, change)),
      ),
      patch('merge', `${path}/two${dry}`, { type: 'x' }),
      patch('merge', `${path}/one${dry}`, { binaryData: { b: 'eA==' } }),
    ]),
  },
];
