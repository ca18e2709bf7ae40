import { get, patch, post, put, remove } from '../scenario.js';
import type { Request, Scenario } from '../scenario.js';
import { gadgets as gadgetsOf, whole } from './definitions.js';

const maps = '/api/v1/namespaces/{{ns}}/configmaps';
const pods = '/api/v1/namespaces/{{ns}}/pods';
const accounts = '/api/v1/namespaces/{{ns}}/serviceaccounts';
const deployments = '/apis/apps/v1/namespaces/{{ns}}/deployments';
const events = '/apis/events.k8s.io/v1/namespaces/{{ns}}/events';
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const gadgets = '/apis/{{ns}}.example.com/v1/namespaces/{{ns}}/gadgets';

type Body = Readonly<Record<string, unknown>>;

const containers = [{ name: 'c', image: 'i' }];
const labels = { app: 'a' };
const deployment = (command?: string): Body => ({
  metadata: { name: 'one' },
  spec: {
    selector: { matchLabels: labels },
    template: {
      metadata: { labels },
      spec: { containers: [{ ...containers[0], ...(command && { command: [command] }) }] },
    },
  },
});

const definition = gadgetsOf(whole({ spec: whole({ a: { type: 'string' } }) }));
const gadget = (name: string, spec: Body): Body => ({
  ...{ apiVersion: '{{ns}}.example.com/v1', kind: 'Gadget', metadata: { name }, spec },
});

/** Creates an object, deletes it with options, and looks for it. */
const deleted = (name: string, query: string, body?: unknown, type?: string): Request[] => [
  post(maps, { metadata: { name } }),
  {
    ...{ method: 'DELETE', path: `${maps}/${name}${query}` },
    ...(body !== undefined && { body }),
    ...(type !== undefined && { type }),
  },
  get(`${maps}/${name}`),
];

const bodies: readonly unknown[] = [
  ...[{ dryRun: 'All' }, { dryRun: null }, { dryRun: [] }, { dryRun: ['all'] }, { dryRun: [1] }],
  ...[{ preconditions: 'x' }, { preconditions: null }, { preconditions: {} }],
  ...[{ preconditions: { uid: 5 } }, { preconditions: { uid: '' } }, { preconditions: [] }],
  ...[{ preconditions: { resourceVersion: '' } }, { preconditions: { resourceVersion: 5 } }],
  ...[{ orphanDependents: 'true' }, { orphanDependents: 1 }, { orphanDependents: null }],
  ...[{ propagationPolicy: 5 }, { propagationPolicy: '' }, { propagationPolicy: null }],
  ...[{ gracePeriodSeconds: '0' }, { gracePeriodSeconds: 1.5 }, { gracePeriodSeconds: -1 }],
  ...[{ unknown: 1 }, { kind: 'DeleteOptions' }, { kind: 'Pod', apiVersion: 'v1' }],
  ...['x', '[]', '5', '"x"', 'null', '{', '{}', ' ', '{"dryrun":["All"]}'],
];

const queries = [
  ...['dryRun=All', 'dryRun=all', 'dryRun=', 'propagationPolicy=Foreground', 'propagationPolicy=x'],
  ...['gracePeriodSeconds=abc', 'gracePeriodSeconds=', 'gracePeriodSeconds=-1', 'uid=x'],
  ...['orphanDependents=1', 'orphanDependents=false', 'orphanDependents=', 'orphanDependents'],
  'propagationPolicy=Orphan&orphanDependents=true',
].map((query) => `?${query}`);

const bindings: readonly Body[] = [
  ...[{ uid: 'x' }, { resourceVersion: '1' }, { uid: '{{pod.metadata.uid}}' }],
  ...[{ labels: { a: 'b' } }, { annotations: { a: 'b' } }, { uid: 'x', resourceVersion: 'x' }],
  ...[{ labels: { 'topology.kubernetes.io/zone': 'mine' } }, {}],
];

const bound = (metadata: Body, index: number): Request[] => {
  const name = `p${index}`;
  const binding = { metadata: { name, ...metadata }, target: { name: '{{ns}}' } };
  return [
    post(pods, { metadata: { name, labels: { a: 'a' } }, spec: { containers } }, { as: 'pod' }),
    patch('merge', `${pods}/${name}/status`, { status: { nominatedNodeName: 'n' } }),
    post(`${pods}/${name}/binding?dryRun=All`, binding),
    post(`${pods}/${name}/binding`, { ...binding, target: { kind: 'Node', name: '{{ns}}' } }),
    get(`${pods}/${name}`),
  ];
};

const scales = [
  ...[{ uid: 'x' }, { uid: '{{d.metadata.uid}}' }, { resourceVersion: '1' }],
  ...[{ resourceVersion: 'x' }, { labels: { a: 'b' } }, { namespace: 'other' }],
].flatMap((metadata, index) => [
  put(`${deployments}/one/scale`, {
    metadata: { name: 'one', ...metadata },
    spec: { replicas: index + 2 },
  }),
  put(`${deployments}/one/scale?dryRun=All`, {
    metadata: { name: 'one', ...metadata },
    spec: { replicas: index + 2 },
  }),
  patch('merge', `${deployments}/one/scale`, { metadata, spec: { replicas: index + 20 } }),
]);

const tokens: readonly unknown[] = [
  ...[{ expirationSeconds: '600' }, { expirationSeconds: 1.5 }, { audiences: 'x' }],
  ...[{ audiences: [1] }, { boundObjectRef: 'x' }, 'x'],
];

const fieldsOfEvents = [
  ...['involvedObject.name=p', 'regarding.name=p', 'source=c', 'reportingComponent=c'],
  ...['reportingController=c', 'reason=R'],
];

/** Options of requests, in their bodies and queries. */
export const options: readonly Scenario[] = [
  {
    title: 'options in the bodies of deletions',
    requests: bodies.flatMap((body, index) => deleted(`b${index}`, '', body)),
  },
  {
    title: 'options in the queries of deletions, alone and beside a body',
    requests: queries.flatMap((query, index) => [
      ...deleted(`a${index}`, query),
      ...deleted(`b${index}`, query, { kind: 'DeleteOptions', apiVersion: 'v1' }),
    ]),
  },
  {
    title: 'options of deletions in YAML',
    requests: [
      ...deleted('a', '', 'dryRun: [All]\n', 'application/yaml'),
      ...deleted('b', '', 'propagationPolicy: Foreground\n', 'application/yaml'),
      ...deleted('c', '', '{}', 'text/plain'),
    ],
  },
  {
    title: 'options of the deletion of a collection',
    requests: [
      post(maps, { metadata: { name: 'a' } }),
      remove(maps, { dryRun: 'All' }),
      remove(`${maps}?gracePeriodSeconds=x`),
      get(maps),
      remove(`${maps}?dryRun=All`, {}),
      get(maps),
    ],
  },
  {
    title: 'metadata of bindings',
    requests: [
      post('/api/v1/nodes', {
        metadata: {
          name: '{{ns}}',
          labels: { 'topology.kubernetes.io/zone': 'z', 'topology.kubernetes.io/region': 'r' },
        },
      }),
      ...bindings.flatMap(bound),
      post(pods, { metadata: { name: 'own' }, spec: { containers, nodeName: '{{ns}}' } }),
      remove('/api/v1/nodes/{{ns}}'),
    ],
  },
  {
    title: 'metadata of scales',
    requests: [post(deployments, deployment(), { as: 'd' }), ...scales],
  },
  {
    title: 'requests for tokens with values of other types',
    requests: [
      post(accounts, { metadata: { name: 'a' } }),
      ...tokens.map((spec) => post(`${accounts}/a/token`, { spec })),
      post(`${accounts}/a/token`, { kind: 'Pod', spec: {} }),
    ],
  },
  {
    title: 'events by the fields of their newer API',
    requests: fieldsOfEvents.map((selector) => get(`${events}?fieldSelector=${selector}`)),
  },
  {
    title: 'words and numbers of YAML',
    requests: [
      'yes',
      'y',
      'off',
      '"yes"',
      '0644',
      '2020-01-01',
      '1:30',
      '~',
      '0x1F',
      '.5',
      '1_000',
      '0b11',
    ].map((value) =>
      post(`${maps}?dryRun=All`, `metadata:\n  name: a\ndata:\n  k: ${value}\n`, {
        type: 'application/yaml',
      }),
    ),
  },
  {
    title: 'objects that are too large for etcd',
    requests: [
      post(definitions, definition),
      get(gadgets, { whileStatus: 404 }),
      ...[1_560_000, 1_580_000].map((length) =>
        post(gadgets, gadget(`g${length}`, { a: 'x'.repeat(length) })),
      ),
      patch('merge', `${gadgets}/g1560000`, {
        metadata: { annotations: { a: 'x'.repeat(20_000) } },
      }),
      post(deployments, deployment('x'.repeat(1_700_000))),
      remove(`${definitions}/gadgets.{{ns}}.example.com`),
    ],
  },
];
