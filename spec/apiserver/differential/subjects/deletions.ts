import { get, patch, post, put, remove, watch } from '../scenario.js';
import type { Request, Scenario } from '../scenario.js';

const maps = '/api/v1/namespaces/{{ns}}/configmaps';
const jobs = '/apis/batch/v1/namespaces/{{ns}}/jobs';
const deployments = '/apis/apps/v1/namespaces/{{ns}}/deployments';
const labels = { app: 'a' };
const containers = [{ name: 'c', image: 'i' }];
const kinds = [
  { path: maps, more: {} },
  {
    path: deployments,
    more: {
      spec: {
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers } },
      },
    },
  },
  { path: jobs, more: { spec: { template: { spec: { containers, restartPolicy: 'Never' } } } } },
];

const options: readonly Readonly<Record<string, unknown>>[] = [
  ...['Background', 'Foreground', 'Orphan', 'Other'].map((propagationPolicy) => ({
    propagationPolicy,
  })),
  ...[{ orphanDependents: true }, { orphanDependents: false }],
  { orphanDependents: true, propagationPolicy: 'Orphan' },
  { preconditions: { uid: 'x' } },
  { preconditions: { resourceVersion: '1' } },
  { preconditions: { uid: '{{made.metadata.uid}}' } },
  { gracePeriodSeconds: 5, dryRun: ['All'] },
];

function propagations({ path, more }: (typeof kinds)[number]): Request[] {
  return options.flatMap((body, index) => {
    const name = `o${index}`;
    return [
      post(path, { metadata: { name }, ...more }, { as: 'made' }),
      remove(`${path}/${name}`, body),
      get(`${path}/${name}`),
      remove(`${path}/${name}`),
      patch('json', `${path}/${name}`, [{ op: 'remove', path: '/metadata/finalizers' }]),
      get(`${path}/${name}`),
    ];
  });
}

function held(name: string, finalizers: readonly string[]) {
  return { metadata: { name, finalizers } };
}

const finalizing: readonly Request[] = [
  post(maps, held('a', ['example.com/one', 'example.com/two']), { as: 'a' }),
  remove(`${maps}/a`),
  remove(`${maps}/a`, { propagationPolicy: 'Foreground' }),
  patch('merge', `${maps}/a`, { metadata: { finalizers: ['example.com/three'] } }),
  patch('merge', `${maps}/a`, {
    metadata: { finalizers: ['example.com/one', 'example.com/two', 'foregroundDeletion'] },
  }),
  patch('merge', `${maps}/a`, { data: { a: '1' }, metadata: { labels: { a: 'b' } } }),
  patch('apply', `${maps}/a?fieldManager=m`, {
    ...{ apiVersion: 'v1', kind: 'ConfigMap' },
    metadata: { finalizers: ['example.com/four'] },
  }),
  put(`${maps}/a`, { metadata: { name: 'a', finalizers: ['example.com/two'] } }),
  post(maps, held('a', [])),
  patch('merge', `${maps}/a?dryRun=All`, { metadata: { finalizers: null } }),
  patch('merge', `${maps}/a`, { metadata: { finalizers: null } }),
  get(`${maps}/a`),
  post(maps, held('b', ['short'])),
  post(maps, held('b', ['example.com/a b'])),
  post(maps, held('b', ['orphan', 'foregroundDeletion'])),
  post(maps, held('c', ['example.com/one', 'example.com/one'])),
  watch(maps, '{{a.metadata.resourceVersion}}'),
];

const collections: readonly Request[] = [
  ...['a', 'b', 'c'].map((name) =>
    post(
      maps,
      { metadata: { name, labels: { [name]: '' }, finalizers: ['example.com/f'] } },
      { as: name },
    ),
  ),
  remove(`${maps}?labelSelector=a`, { propagationPolicy: 'Foreground' }),
  remove(`${maps}?dryRun=All`),
  remove(`${maps}?limit=1`),
  remove(`${maps}?labelSelector=a%20b`),
  remove(maps, { propagationPolicy: 'Other' }),
  remove(maps, { preconditions: { uid: 'x' } }),
  remove(maps),
  get(maps),
  watch(maps, '{{a.metadata.resourceVersion}}'),
];

const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: '{{owner.metadata.uid}}' };
const ownership: readonly Request[] = [
  post(maps, { metadata: { name: 'owner' } }, { as: 'owner' }),
  ...[
    [owner],
    [owner, owner],
    [
      { ...owner, controller: true },
      { ...owner, controller: true },
    ],
    [
      { ...owner, controller: true },
      { ...owner, uid: 'other', controller: true },
    ],
    [{ ...owner, blockOwnerDeletion: true }],
    ...[[{ ...owner, uid: '' }], [{ ...owner, name: '' }], [{ ...owner, kind: '' }]],
    ...[[{ ...owner, apiVersion: '' }], [{ ...owner, apiVersion: 'a/b/c' }], [{}]],
    [{ ...owner, kind: 'Event' }],
  ].flatMap((ownerReferences, index) => [
    post(maps, { metadata: { name: `d${index}`, ownerReferences } }),
    patch('strategic', `${maps}/d0`, { metadata: { ownerReferences } }),
    patch('merge', `${maps}/d0`, { metadata: { ownerReferences } }),
  ]),
];

/** Finalizers, propagation policies and owners. */
export const deletions: readonly Scenario[] = [
  ...kinds.map((kind) => ({ title: `propagation of ${kind.path}`, requests: propagations(kind) })),
  { title: 'finalizers', requests: finalizing },
  {
    title: 'phases of a Namespace',
    requests: ['Terminating', 'Active', null].map((phase) =>
      patch('merge', '/api/v1/namespaces/{{ns}}/status', { status: { phase } }),
    ),
  },
  { title: 'deletions of collections', requests: collections },
  { title: 'owner references', requests: ownership },
];
