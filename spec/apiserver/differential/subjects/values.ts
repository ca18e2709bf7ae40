import { get, post, put } from '../scenario.js';
import type { Request, Scenario } from '../scenario.js';

type Body = Readonly<Record<string, unknown>>;

const dry = '?dryRun=All';
const pods = `/api/v1/namespaces/{{ns}}/pods${dry}`;
const templates = `/api/v1/namespaces/{{ns}}/podtemplates${dry}`;
const jobs = `/apis/batch/v1/namespaces/{{ns}}/jobs${dry}`;
const policies = `/apis/networking.k8s.io/v1/namespaces/{{ns}}/networkpolicies${dry}`;
const volumes = `/api/v1/persistentvolumes${dry}`;
const controllers = '/api/v1/namespaces/{{ns}}/replicationcontrollers';
const quotas = '/api/v1/namespaces/{{ns}}/resourcequotas';
const definitions = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions${dry}`;
const registration = '/apis/admissionregistration.k8s.io/v1';

const container = { name: 'c', image: 'x' };
const named = (rest: Body): Body => ({ metadata: { name: 'one' }, ...rest });

/** Creates a PodTemplate with each of the specs. The server might check Pods further. */
const templatesOf = (specs: readonly Body[]): Request[] =>
  specs.map((spec) =>
    post(templates, named({ template: { spec: { containers: [container], ...spec } } })),
  );

const controllerOf = (podSpec: Body): Body => ({
  selector: { a: 'b' },
  template: {
    metadata: { labels: { a: 'b' } },
    spec: { containers: [container], ...podSpec },
  },
});

/** A pod spec with affinity terms that lack a label selector. */
const spreading = (topologyKey: string): Body => {
  const term = { topologyKey };
  const terms = {
    requiredDuringSchedulingIgnoredDuringExecution: [term],
    preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm: term }],
  };
  return { affinity: { podAffinity: terms, podAntiAffinity: terms } };
};

const podClaims: readonly (readonly unknown[])[] = [
  ...[[{}], [{ name: '' }], [{ name: 'a' }], [null], [{ name: 'A_b!', resourceClaimName: 'a' }]],
  ...['A_b!', 'a.b', '', 'a'.repeat(300)].flatMap((name) => [
    [{ name: 'a', resourceClaimName: name }],
    [{ name: 'a', resourceClaimTemplateName: name }],
  ]),
  [{ name: 'a', resourceClaimName: 'x', resourceClaimTemplateName: 'y' }],
  [
    { name: 'a', resourceClaimName: 'x' },
    { name: 'a', resourceClaimName: 'y' },
  ],
];

const usedClaims: readonly (readonly unknown[])[] = [
  ...[[], [{}], [{ request: 'r' }], [{ name: 'a' }], [{ name: 'b' }], [{ name: 'z' }]],
  ...[[{ name: 'a', request: 'r' }], [{ name: 'a', request: 'R!' }]],
  [{ name: 'a' }, { name: 'a' }],
  [{ name: 'a' }, { name: 'a', request: 'r' }],
  [
    { name: 'a', request: 'r' },
    { name: 'a', request: 'r' },
  ],
  [{ name: 'a', request: 'r' }, { name: 'a', request: 's' }, { name: 'a' }, { name: 'a' }],
];

const resourceClaims = [
  { name: 'b', resourceClaimName: 'x' },
  { name: 'a', resourceClaimName: 'y' },
];

const claimUses = usedClaims.flatMap((claims) => [
  { resourceClaims, containers: [{ ...container, resources: { claims } }] },
  { containers: [{ ...container, resources: { claims } }] },
  { resources: { claims } },
]);

const windowsOptions = { runAsUserName: 'a' };
const linuxOptions = {
  ...{ runAsUser: 1, runAsGroup: 1, seLinuxOptions: {}, seccompProfile: { type: 'Unconfined' } },
  appArmorProfile: { type: 'Unconfined' },
};
const podOptions = {
  ...{ ...linuxOptions, fsGroup: 1, fsGroupChangePolicy: 'Always', supplementalGroups: [1] },
  ...{ sysctls: [{ name: 'a', value: '1' }], supplementalGroupsPolicy: 'Merge' },
  seLinuxChangePolicy: 'Recursive',
};
const containerOptions = {
  ...{ ...linuxOptions, capabilities: {}, readOnlyRootFilesystem: false, privileged: false },
  ...{ allowPrivilegeEscalation: true, procMount: 'Default' },
};

const systems: readonly Body[] = [
  ...[{}, { name: '' }, { name: null }, { name: 'x' }, { name: 'Linux' }].map((os) => ({ os })),
  ...['linux', 'windows'].flatMap((name) => [
    { os: { name }, securityContext: { windowsOptions } },
    { os: { name }, securityContext: podOptions },
    { os: { name }, securityContext: { supplementalGroups: [], sysctls: [] } },
    { os: { name }, containers: [{ ...container, securityContext: { windowsOptions } }] },
    { os: { name }, containers: [{ ...container, securityContext: containerOptions }] },
    {
      os: { name },
      initContainers: [{ ...container, name: 'i', securityContext: { runAsUser: 1 } }],
    },
    { os: { name }, hostUsers: true, hostPID: false, hostIPC: true, shareProcessNamespace: false },
  ]),
];

const fieldPaths = [
  ...['', 'x', 'spec.host', 'spec.nodeName', 'spec.restartPolicy', 'status.phase', 'status.podIPs'],
  ...['metadata', 'metadata.name', 'metadata.labels', 'metadata.annotations', 'metadata.uid'],
  ...[
    "metadata.labels['a']",
    "metadata.labels['A/b']",
    "metadata.labels['']",
    "metadata.labels['a b']",
  ],
  ...["metadata.annotations['A b']", "metadata.annotations['X/y']", "metadata.name['a']", "['a']"],
  ...['metadata.labels[a]', "metadata.labels['a", "metadata.labels['a'b']", "x.y['a']"],
];

const fieldRefs: readonly Body[] = [
  ...fieldPaths.map((fieldPath) => ({ fieldPath })),
  ...[{}, { apiVersion: '' }, { apiVersion: 'v2', fieldPath: 'metadata.name' }],
  { apiVersion: '', fieldPath: 'metadata.name' },
];

const inVolumes = (source: Body): Body => ({
  volumes: [{ name: 'v', downwardAPI: { items: [{ path: 'a', ...source }] } }],
});
const inVariables = (valueFrom: Body): Body => ({
  containers: [{ ...container, env: [{ name: 'A', valueFrom }] }],
});

const amounts: readonly Body[] = [
  ...[{}, { resource: 'limits.cpu' }, { resource: 'limits.cpu', divisor: '3' }, { resource: 'x' }],
  { containerName: 'c', resource: 'limits.cpu', divisor: '3' },
];

const ephemeral: readonly Body[] = [
  ...[{ lifecycle: {} }, { lifecycle: null }, { ports: [] }, { resources: {} }, { ports: null }],
  ...[{ resources: { requests: {} } }, { resources: { limits: null } }, { resizePolicy: [] }],
  ...[{ livenessProbe: {} }, { restartPolicy: 'Always' }, { resources: { claims: [{}] } }],
];

const endPorts: readonly Body[] = [
  ...[70_000, 0, -1, 79, 80, 65_535].map((endPort) => ({ port: 80, endPort })),
  ...[{ endPort: 80 }, { port: 'http', endPort: 80 }, { port: 70_000, endPort: 60_000 }],
];

const expressions: readonly Body[] = [
  ...[{}, { operator: 'x' }, { key: 'a' }, { key: 'a b', operator: 'Exists' }],
  ...[
    { key: 'a', operator: 'In' },
    { key: 'a', operator: 'Exists', values: ['x'] },
  ],
];

const template = {
  spec: { restartPolicy: 'Never', containers: [container], schedulingGroup: {} },
};

const urls = [
  ...['', 'x', 'a.b/c', '/a', '//a', 'a:b', ':', '*', '1:b', 'http://a/b', 'https:a', 'https://'],
  ...[
    'https://a b',
    'https://a/%zz',
    'https://a%41',
    'https://a:b',
    'https://a:1:2',
    'https://[::1',
  ],
  ...['https://[::1]:1/a', 'https://[1.2.3.4]', 'https://[x]', 'https://u@a', 'https://u:p@a/b'],
  ...[
    'https://u v@a',
    'https://a?b',
    'https://a#b',
    'https://a?',
    'https://a#',
    'HTTPS://a',
    'https://a\n',
  ],
  ...['https://a/b c', 'https://a?b=c#d', 'https:///a', 'https://"', 'https://{', 'https://a#%zz'],
];

const services: readonly Body[] = [
  ...['', '/', '//', 'a', '/a', '/a/', '/a//b', '/A', 'aB', '/a/b_', '/a.b/c'].map((path) => ({
    path,
  })),
  ...[{ port: 0 }, { port: 70_000 }, { port: 1 }],
];

const nestedSchemas: readonly Body[] = [
  ...[{ 'x-kubernetes-list-map-keys': ['x'] }, { 'x-kubernetes-preserve-unknown-fields': false }],
  ...[{ 'x-kubernetes-map-type': 'x' }, { 'x-kubernetes-list-type': 'set' }, { uniqueItems: true }],
  ...[
    { type: 'text' },
    { type: 'null' },
    { items: [] },
    { items: [{}] },
    { items: 5 },
    { $ref: '#/x' },
  ],
  ...[{ 'x-kubernetes-map-type': '' }, { 'x-kubernetes-list-type': '' }, { default: [] }],
  ...[{ properties: { a: {} }, additionalProperties: {} }, { not: { uniqueItems: true } }],
  ...[{}, { rule: ' ' }, { reason: 'x' }, { rule: 'true', fieldPath: '.x' }].map((rule) => ({
    'x-kubernetes-validations': [rule],
  })),
  ...[{ $schema: 'x' }, { id: 'x' }, { properties: { a: { items: { uniqueItems: true } } } }],
];

const conversions: readonly Body[] = [
  ...[{}, { '': '' }, { strategy: '' }, { strategy: 'None', webhook: { clientConfig: {} } }],
  ...[{}, { conversionReviewVersions: ['v1'] }].map((webhook) => ({ strategy: 'None', webhook })),
  ...[[], ['v2'], ['v1', 'v1'], ['V1'], ['v1beta1']].map((conversionReviewVersions) => ({
    strategy: 'Webhook',
    webhook: { clientConfig: { url: 'https://a' }, conversionReviewVersions },
  })),
];

const v1 = {
  ...{ name: 'v1', served: true, storage: true },
  schema: { openAPIV3Schema: { type: 'object' } },
};
const definitionOf = (schema: Body, more: Body = {}): Body => ({
  metadata: { name: 'widgets.{{ns}}.example.com' },
  spec: {
    ...{ group: '{{ns}}.example.com', scope: 'Namespaced' },
    names: { plural: 'widgets', kind: 'Widget' },
    versions: [
      {
        ...{ name: 'v1', served: true, storage: true },
        schema: { openAPIV3Schema: { type: 'object', ...schema } },
      },
    ],
    ...more,
  },
});

const macros = [
  ...['nope.optMap(x, x).hasValue()', 'nope.optFlatMap(x, optional.of(x)).hasValue()'],
  ...['nope.a.optMap(x, x).hasValue()', 'optional.of(nope).optMap(x, x).hasValue()'],
  ...['optional.of(1).optMap(x, nope).hasValue()', '[nope][0].optMap(x, x).hasValue()'],
  ...['1.optMap(x, x).hasValue()', 'nope.optMap(x, other).hasValue()', 'nope.sortBy(x, x) == []'],
];

const binding = { apiVersion: 'v1', kind: 'Binding' };
const bodies: readonly Body[] = [
  ...[{}, { metadata: {} }, { metadata: { name: 'x' } }, { target: { name: 'n' } }, binding],
  ...[
    { metadata: { name: 'x' }, target: {} },
    { metadata: { name: 'x' }, target: { name: 'n' } },
  ],
  { metadata: { name: 'x' }, target: { kind: 'Pod', name: 'n' } },
  { metadata: { name: 'one' }, target: { kind: 'Pod', name: 'n' } },
  { metadata: { name: 'one' }, target: { kind: 'Node', name: '' } },
  { metadata: { generateName: 'x' }, target: { kind: 'Node', name: 'n' } },
  { metadata: { name: 1 }, target: { name: 'n' } },
  { metadata: { name: null }, target: { name: 'n' } },
  ...['a', 'default'].map((namespace) => ({
    ...{ metadata: { name: 'x', namespace }, target: { name: 'n' } },
  })),
  ...[1, [{}], null].map((kind) => ({ metadata: { name: 'x' }, target: { kind, name: 'n' } })),
  ...[1, { x: 1 }, null].map((name) => ({ metadata: { name: 'one' }, target: { name } })),
];

const bound = { metadata: { name: 'one' }, target: { kind: 'Node', name: 'n' } };

const webhook = {
  ...{ name: 'a.example.com', sideEffects: 'None', admissionReviewVersions: ['v1'] },
  clientConfig: { url: 'https://a' },
};
const webhooksOf = (webhooks: readonly Body[], list: string): Request[] =>
  webhooks.map((one) =>
    post(`${registration}/${list}${dry}`, {
      metadata: { name: '{{ns}}-one' },
      webhooks: [{ ...webhook, ...one }],
    }),
  );

/** Values that the schema of their fields permits, and that the server's own checks accept or refuse. */
export const values: readonly Scenario[] = [
  {
    title: 'claims of pods',
    requests: templatesOf([
      ...podClaims.map((claims) => ({ resourceClaims: claims })),
      ...claimUses,
    ]),
  },
  {
    title: 'operating systems of pods',
    requests: [
      ...templatesOf(systems),
      ...['linux', 'windows'].map((name) =>
        post(pods, named({ spec: { containers: [container], os: { name } } })),
      ),
    ],
  },
  {
    title: 'references to fields of a pod',
    requests: templatesOf([
      ...fieldRefs.flatMap((fieldRef) => [inVolumes({ fieldRef }), inVariables({ fieldRef })]),
      ...amounts.flatMap((resourceFieldRef) => [
        inVolumes({ resourceFieldRef }),
        inVariables({ resourceFieldRef }),
      ]),
    ]),
  },
  {
    title: 'limits of pods',
    requests: templatesOf([
      ...['', 'a', 'A_b!', 'a.b', 'a'.repeat(65)].map((name) => ({ hostnameOverride: name })),
      ...[{ uid: 'a' }, { name: 'a', labels: { a: 'b' } }].map((metadata) => ({
        volumes: [{ name: 'v', ephemeral: { volumeClaimTemplate: { metadata } } }],
      })),
      { hostnameOverride: 'a', setHostnameAsFQDN: true, hostNetwork: true },
      ...[{ schedulingGroup: {} }, { imagePullSecrets: [{}] }],
      ...[-1, 0, 1, 2 ** 31 - 1, 2 ** 31].map((seconds) => ({ activeDeadlineSeconds: seconds })),
      ...ephemeral.map((more) => ({ ephemeralContainers: [{ ...container, name: 'e', ...more }] })),
    ]),
  },
  {
    title: 'ports of network policies',
    requests: endPorts.map((port) =>
      post(policies, named({ spec: { podSelector: {}, ingress: [{ ports: [port] }] } })),
    ),
  },
  {
    title: 'selectors of Jobs',
    requests: expressions.flatMap((expression) => [
      post(jobs, named({ spec: { template, selector: { matchExpressions: [expression] } } })),
      post(
        jobs,
        named({
          spec: { template, manualSelector: true, selector: { matchExpressions: [expression] } },
        }),
      ),
    ]),
  },
  {
    title: 'capacities of volumes',
    requests: [{}, { capacity: null }, { capacity: {} }, { capacity: { cpu: '1' } }].map((more) =>
      post(volumes, {
        metadata: { name: '{{ns}}-one' },
        spec: { accessModes: ['ReadWriteOnce'], hostPath: { path: '/data' }, ...more },
      }),
    ),
  },
  {
    title: 'schemas within others',
    requests: nestedSchemas
      .flatMap((schema) => [
        { allOf: [schema] },
        { anyOf: [{ not: schema }] },
        { properties: { spec: schema } },
      ])
      .map((schema) => post(definitions, definitionOf(schema))),
  },
  {
    title: 'versions of definitions',
    requests: [
      [v1, { ...v1, storage: false }],
      [{}, {}],
    ].map((versions) => post(definitions, definitionOf({}, { versions }))),
  },
  {
    title: 'conversions of definitions',
    requests: [
      ...conversions.map((conversion) => post(definitions, definitionOf({}, { conversion }))),
      post(
        definitions.replace(dry, ''),
        definitionOf({}, { conversion: { strategy: 'None', webhook: {} } }),
      ),
    ],
  },
  {
    title: 'macros in rules',
    requests: macros.map((rule) =>
      post(definitions, definitionOf({ 'x-kubernetes-validations': [{ rule }] })),
    ),
  },
  {
    title: 'bindings of pods',
    requests: [
      post(pods.replace(dry, ''), named({ spec: { containers: [container] } })),
      ...['bindings', 'pods/one/binding', 'pods/x/binding'].flatMap((path) =>
        bodies.map((body) => post(`/api/v1/namespaces/{{ns}}/${path}`, body)),
      ),
      ...['bindings', 'pods/one/binding'].flatMap((path) => [
        post(`/api/v1/namespaces/{{ns}}/${path}?dryRun=All`, bound),
        post(`/api/v1/namespaces/{{ns}}/${path}?dryRun=Some`, bound),
        post(`/api/v1/namespaces/{{ns}}/${path}?fieldValidation=Strict`, { ...bound, a: 1 }),
      ]),
      get('/api/v1/namespaces/{{ns}}/pods/one'),
      post('/api/v1/namespaces/{{ns}}/bindings', bound),
      get('/api/v1/namespaces/{{ns}}/pods/one'),
    ],
  },
  {
    title: 'policies of pods',
    requests: [
      ...['Recursive', 'MountOption', '', 'x'].map((policy) => ({
        securityContext: { seLinuxChangePolicy: policy },
      })),
      ...[{}, { reference: 'a' }, { reference: 'a', pullPolicy: 'Often' }].map((image) => ({
        volumes: [{ name: 'v', image }],
      })),
      ...['..', '../a', '..a', 'a/../b', '/a/..', ''].map((path) => ({
        volumes: [
          {
            name: 'v',
            projected: { sources: [{ secret: { name: 's', items: [{ key: 'k', path }] } }] },
          },
          { name: 'w', projected: { sources: [{ serviceAccountToken: { path } }] } },
        ],
      })),
    ].flatMap((spec) => [
      ...templatesOf([spec]),
      post(
        pods,
        named({ spec: { containers: [container], serviceAccountName: 'default', ...spec } }),
      ),
    ]),
  },
  {
    title: 'warnings about selectors',
    requests: [
      post(controllers, named({ spec: controllerOf({}) })),
      ...[
        ...[{}, spreading('a'), spreading('b')].map((more) => controllerOf(more)),
        { ...controllerOf(spreading('b')), replicas: 2 },
        { ...controllerOf({}), replicas: 2 },
      ].map((spec) => put(`${controllers}/one`, named({ spec }))),
    ],
  },
  {
    title: 'scopes of quotas',
    requests: [
      post(quotas, named({ spec: { scopes: ['BestEffort', 'Terminating'] } })),
      ...[
        ...[undefined, null, ['BestEffort'], ['Terminating', 'BestEffort']],
        ...[
          ['Terminating', 'BestEffort', 'Terminating'],
          ['NotTerminating', 'BestEffort'],
        ],
      ].map((scopes) => put(`${quotas}/one`, named({ spec: { scopes } }))),
    ],
  },
  {
    title: 'clients of webhooks',
    requests: webhooksOf(
      [
        ...urls.map((url) => ({ clientConfig: { url } })),
        ...services.map((more) => ({
          clientConfig: { service: { name: 'a', namespace: 'b', ...more } },
        })),
        ...['', null, 'Some', 'x'].map((sideEffects) => ({ sideEffects })),
      ],
      'validatingwebhookconfigurations',
    ),
  },
];
