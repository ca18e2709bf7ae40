import { get, patch, post, put, remove, representations, watch } from '../scenario.js';
import type { Request, Scenario } from '../scenario.js';

const pods = '/api/v1/namespaces/{{ns}}/pods';
const maps = '/api/v1/namespaces/{{ns}}/configmaps';
const widgets = '/apis/{{ns}}.example.com/v1/namespaces/{{ns}}/widgets';
const start = '{{first.metadata.resourceVersion}}';
const initial =
  '&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';

const pod = (name: string, more: object = {}) => ({
  metadata: { name, labels: { app: name } },
  spec: { containers: [{ name: 'c', image: 'i' }], ...more },
});
const phase = (name: string, value: string): Request =>
  patch('merge', `${pods}/${name}/status`, { status: { phase: value } });

const podChanges: readonly Request[] = [
  post(pods, pod('a'), { as: 'first' }),
  post(pods, pod('b', { nodeName: 'n' })),
  phase('a', 'Running'),
  phase('b', 'Running'),
  patch('merge', `${pods}/a`, { metadata: { labels: { app: 'b' } } }),
  phase('a', 'Succeeded'),
  post(`${pods}/c/binding`, { target: { name: 'n' } }),
  post(pods, pod('c')),
  post(`${pods}/c/binding`, { metadata: { name: 'c' }, target: { name: 'n' } }),
  patch('merge', `${pods}/b`, { metadata: { finalizers: ['example.com/f'] } }),
  remove(`${pods}/b`, { gracePeriodSeconds: 7 }),
  remove(`${pods}/b`, { gracePeriodSeconds: 0 }),
  patch('merge', `${pods}/b`, { metadata: { finalizers: null } }),
  remove(pods, { gracePeriodSeconds: 0 }),
  post(pods, pod('a')),
];

const podSelectors = [
  ...['', '&fieldSelector=status.phase%3DRunning', '&fieldSelector=status.phase%21%3DRunning'],
  ...['&fieldSelector=spec.nodeName%3Dn', '&labelSelector=app%3Db', '&labelSelector=app%21%3Db'],
  '&labelSelector=app&fieldSelector=spec.nodeName%3D',
];

const definition = {
  metadata: { name: 'widgets.{{ns}}.example.com' },
  spec: {
    ...{ group: '{{ns}}.example.com', scope: 'Namespaced' },
    names: { plural: 'widgets', kind: 'Widget' },
    versions: ['v1', 'v2'].map((name) => ({
      ...{ name, served: true, storage: name === 'v1' },
      schema: {
        openAPIV3Schema: {
          type: 'object',
          properties: {
            spec: { type: 'object', properties: { color: { type: 'string' } } },
            status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
          },
        },
      },
      subresources: { status: {} },
      selectableFields: [{ jsonPath: '.spec.color' }],
      additionalPrinterColumns: [{ name: 'Color', type: 'string', jsonPath: '.spec.color' }],
    })),
  },
};
const widget = (name: string, color: string) => ({
  ...{ apiVersion: '{{ns}}.example.com/v1', kind: 'Widget' },
  ...{ metadata: { name }, spec: { color } },
});

const widgetChanges: readonly Request[] = [
  post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition),
  get(widgets, { whileStatus: 404 }),
  get(widgets.replace('/v1/', '/v2/'), { whileStatus: 404 }),
  post(widgets, widget('a', 'red'), { as: 'first' }),
  post(widgets, widget('b', 'blue')),
  patch('merge', `${widgets}/a`, { spec: { color: 'blue' } }),
  patch('merge', `${widgets}/b`, { spec: { color: 'red' } }),
  patch('merge', `${widgets}/a/status`, { status: { seen: true } }),
  patch('merge', `${widgets}/a/status`, { status: { seen: true } }),
  patch('merge', `${widgets.replace('/v1/', '/v2/')}/a`, { spec: { color: 'red' } }),
  remove(`${widgets}/b`),
];

const widgetQueries = [
  ...['', '&fieldSelector=spec.color%3Dred', '&fieldSelector=spec.color%21%3Dred'],
  '&fieldSelector=spec.other%3Dred',
];

const token = (version: number) =>
  Buffer.from(JSON.stringify({ v: 'meta.k8s.io/v1', rv: version, start: 'b\u0000' })).toString(
    'base64url',
  );

const expired: readonly Request[] = [
  ...['a', 'b', 'c', 'd'].map((name) => post(maps, { metadata: { name } })),
  get(`${maps}?limit=1&continue=${token(1)}`, { as: 'expired' }),
  get(`${maps}?limit=1&continue={{expired.metadata.continue}}`, { as: 'rest' }),
  get(`${maps}?limit=1&continue={{rest.metadata.continue}}`),
  get(`${maps}?limit=2&continue=${token(-1)}`),
  get(`${maps}?continue=${token(-1)}&labelSelector=x`),
  get(`${maps}?continue=${token(-2)}`),
  get(`${maps}?resourceVersion=1&resourceVersionMatch=Exact`),
  get(`${maps}?resourceVersion=1&resourceVersionMatch=NotOlderThan`),
  get(`${maps}?resourceVersion=1&limit=1`),
  get(`${maps}?resourceVersion=1`),
  watch(maps, '1'),
  watch(maps, '1', initial),
  watch(maps, '1', '&sendInitialEvents=false&resourceVersionMatch=NotOlderThan'),
  watch(maps, '0'),
  watch(maps, '0', initial),
];

/** Watches of changing objects, and versions that are too old. */
export const watches: readonly Scenario[] = [
  {
    title: 'selectors that Pods enter and leave',
    requests: [
      ...podChanges,
      ...podSelectors.map((query) => watch(pods, start, query)),
      ...podSelectors.map((query) => watch(pods, '', `${query}${initial}`)),
      { ...watch(pods, start), accept: representations.table },
      watch('/api/v1/pods', start, '&fieldSelector=metadata.namespace%3D{{ns}}'),
    ],
  },
  {
    title: 'watches of custom resources',
    requests: [
      ...widgetChanges,
      ...widgetQueries.map((query) => watch(widgets, start, query)),
      ...widgetQueries.map((query) => watch(widgets, '', `${query}${initial}`)),
      watch(widgets.replace('/v1/', '/v2/'), start),
      { ...watch(widgets, start), accept: representations.table },
      { ...watch(widgets, start), accept: representations.partial },
      { ...watch(widgets, '', initial), accept: representations.partial },
      remove('/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.{{ns}}.example.com'),
      get(widgets, { whileStatus: 200 }),
    ],
  },
  { title: 'expired versions', requests: expired },
  {
    title: 'writes that change nothing',
    requests: [
      post(maps, { metadata: { name: 'a' }, data: { a: '1' } }, { as: 'first' }),
      put(`${maps}/a`, { metadata: { name: 'a' }, data: { a: '1' } }),
      patch('merge', `${maps}/a`, { data: { a: '1' } }),
      patch('apply', `${maps}/a?fieldManager=m`, { apiVersion: 'v1', kind: 'ConfigMap' }),
      patch('merge', `${maps}/a?dryRun=All`, { data: { a: '2' } }),
      patch('merge', `${maps}/a`, { data: { a: '3' } }),
      watch(maps, start),
    ],
  },
];
