import { get, patch, post, remove, representations } from '../scenario.js';
import type { Request, Scenario } from '../scenario.js';

const { table, partial, partialList } = representations;
const core = '/api/v1/namespaces/{{ns}}';
const configMaps = `${core}/configmaps`;
const pods = `${core}/pods`;
const networking = '/apis/networking.k8s.io/v1';
const claims = '/apis/resource.k8s.io/v1/namespaces/{{ns}}/resourceclaims';
const containers = [{ name: 'c', image: 'x' }];
const initContainers = [{ name: 'i', image: 'x' }];
const balanced = {
  loadBalancer: {
    ingress: [{ hostname: 'b.example.com' }, { ip: '10.0.0.2' }, { ip: '10.0.0.2' }],
  },
};
const path = {
  ...{ path: '/', pathType: 'Prefix' },
  backend: { service: { name: 's', port: { number: 80 } } },
};
const isDefault = (kind: string) => ({ [`${kind}.kubernetes.io/is-default-class`]: 'true' });

/** Creates an object with a status, and reads it as a table. */
function shown(collection: string, object: object, status?: object): Request[] {
  const { metadata, ...rest } = object as { readonly metadata?: object };
  const one = `${collection}/{{ns}}-one`;
  return [
    post(collection, { metadata: { name: '{{ns}}-one', ...metadata }, ...rest }),
    ...(status === undefined ? [] : [patch('merge', `${one}/status`, { status })]),
    get(one, { accept: table }),
  ];
}

const cells: readonly Request[] = [
  ...shown(
    '/api/v1/nodes',
    {
      metadata: { labels: { 'node-role.kubernetes.io/worker': '', 'kubernetes.io/role': 'edge' } },
    },
    { nodeInfo: { kernelVersion: '6.1', architecture: 'arm64' } },
  ),
  remove('/api/v1/nodes/{{ns}}-one'),
  ...shown(
    `${networking}/namespaces/{{ns}}/ingresses`,
    {
      spec: {
        rules: ['a', 'b', 'c', 'd', 'e'].map((name) => ({
          ...{ host: `${name}.example.com`, http: { paths: [path] } },
        })),
      },
    },
    balanced,
  ),
  ...shown(`${core}/services`, { spec: { type: 'ClusterIP', clusterIP: 'None' } }),
  ...shown(`${core}/events`, {
    ...{ type: 'Normal', reason: 'Made', source: { component: 'a' }, reportingComponent: 'b' },
    ...{ reportingInstance: 'i', involvedObject: { kind: 'Pod', name: 'p', namespace: '{{ns}}' } },
  }),
  ...shown(`${networking}/ingressclasses`, {
    metadata: { annotations: isDefault('ingressclass') },
    spec: { controller: 'example.com/c' },
  }),
  remove(`${networking}/ingressclasses/{{ns}}-one`),
  ...shown('/apis/storage.k8s.io/v1/storageclasses', {
    metadata: { annotations: isDefault('storageclass') },
    provisioner: 'example.com/c',
  }),
  remove('/apis/storage.k8s.io/v1/storageclasses/{{ns}}-one'),
  ...shown(`${core}/endpoints`, {
    subsets: [{ notReadyAddresses: [{ ip: '10.1.2.3' }], ports: [{ port: 80 }] }],
  }),
  ...shown('/apis/discovery.k8s.io/v1/namespaces/{{ns}}/endpointslices', {
    ...{ addressType: 'IPv4', endpoints: [], ports: [{}] },
  }),
  ...shown('/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings', {
    spec: {
      ...{ policyName: 'p', validationActions: ['Deny'] },
      paramRef: { name: 'x', parameterNotFoundAction: 'Deny' },
    },
  }),
  ...shown(
    claims,
    { metadata: { finalizers: ['example.com/f'] }, spec: {} },
    { allocation: {} },
  ).slice(0, -1),
  remove(`${claims}/{{ns}}-one`),
  get(`${claims}/{{ns}}-one`, { accept: table }),
];

const logQueries = [
  ...['', '?tailLines=-1', '?limitBytes=0', '?sinceSeconds=0', '?tailLines=x', '?container=c'],
  ...['?container=i', '?container=z', '?container=', '?tailLines=-1&limitBytes=-5'],
];

const second = '---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: second}\n';
const documentOf = (name: string): string =>
  `---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\ndata: {a: b}\n`;

/** Forms of objects and of bodies: tables, metadata, logs and YAML. */
export const forms: readonly Scenario[] = [
  { title: 'cells of tables', requests: cells },
  {
    title: 'metadata and its versions',
    requests: [
      post(configMaps, { metadata: { name: 'a' } }),
      get(`${configMaps}?includeObject=x`, { accept: table }),
      get(`${configMaps}?includeObject=x`),
      ...[table, partial, partialList]
        .flatMap((accept) => [accept, accept.replace('v=v1', 'v=v1beta1')])
        .flatMap((accept) =>
          [configMaps, `${configMaps}/a`, `${configMaps}/none`, `${core}/events`].map((read) =>
            get(read, { accept }),
          ),
        ),
    ],
  },
  {
    title: 'logs of Pods without a node',
    requests: [
      post(pods, { metadata: { name: 'one' }, spec: { containers, initContainers } }),
      post(pods, {
        metadata: { name: 'two' },
        spec: { containers: [...containers, { name: 'd', image: 'x' }], initContainers },
      }),
      ...['one', 'two', 'none'].flatMap((name) =>
        logQueries.map((query) => get(`${pods}/${name}/log${query}`)),
      ),
    ],
  },
  {
    title: 'several documents of YAML',
    requests: ['---\n', second].flatMap((rest) => [
      post(`${configMaps}?dryRun=All`, documentOf('a') + rest, { type: 'application/yaml' }),
      patch('apply', `${configMaps}/a?dryRun=All&fieldManager=m`, documentOf('a') + rest),
    ]),
  },
];
