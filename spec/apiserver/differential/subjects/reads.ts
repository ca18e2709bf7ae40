import { get, patch, post, remove, representations, watch } from '../scenario.js';
import type { Request, Scenario } from '../scenario.js';

const all = '/api/v1/namespaces/{{ns}}/configmaps';
const pods = '/api/v1/namespaces/{{ns}}/pods';
const configMap = (name: string, labels: object = {}) => ({ metadata: { name, labels } });
const pod = (name: string, node?: string) => ({
  metadata: { name },
  spec: { nodeName: node, containers: [{ name: 'c', image: 'i' }] },
});
const names = ['a', 'b', 'c', 'd', 'e'];
const five = names.map((name, index) =>
  post(all, configMap(name, { even: String(index % 2 === 0), [name]: '' }), { as: name }),
);
const first = '{{a.metadata.resourceVersion}}';
const last = '{{e.metadata.resourceVersion}}';

const labelSelectors = [
  ...['a', '!a', 'even', 'even=true', 'even==false', 'even!=true', 'even in (true,x)'],
  ...[
    'even notin (true)',
    'a,even=true',
    'even in ()',
    'even>1',
    'even<1',
    'even > x',
    ',',
    '!',
    '=',
  ],
  ...['even=a b', 'even in (', 'x y', 'even=true,', 'a/b/c', '-a', 'x'.repeat(64), 'even=-'],
  ...['a in b', 'a in (b', 'a in (b=', 'a in (,=', 'a in (=', 'a in (,', 'a in (b,,c,)', 'a,,b'],
  ...['!,a', '!=b', 'a!b', 'a(b)', 'a>', 'a>1,a<x', 'a>-', '!a=b', 'a=b=c', 'a in (-b,-c)', 'in'],
  ...['-a in (-b,c)', 'a=é', 'in in (in)', 'a in(b)c', ')', 'a notin', 'a in (b) c', '!a!', ' '],
  ...['a in (b,,)', 'a in (,,)', 'a in (,,b)', 'a in (b,,,c)', 'a in ()', 'a>99999999999999999999'],
];

const fieldSelectors = [
  ...['metadata.name=a', 'metadata.name!=a', 'metadata.name==b', 'metadata.namespace={{ns}}'],
  ...['metadata.name=a,metadata.namespace=x', 'metadata.uid=1', 'data.a=b', 'metadata.name', 'a b'],
  ...['metadata.name=a\\,b', 'metadata.name=a\\x', '=', 'metadata.labels.a=x'],
  ...['metadata.name=a=b', 'metadata.name=\\', 'metadata.name=a,,', 'metadata.name=a,b', 'é', '!='],
  ...['metadata.name=\\=\\,\\\\', 'metadata.name=é\\é', '==', 'metadata.name!=a=', ','],
];

const podSelectors = [
  ...['spec.nodeName=n', 'spec.nodeName!=n', 'spec.nodeName=', 'status.phase=Pending'],
  ...[
    'spec.restartPolicy=Always',
    'spec.schedulerName=x',
    'spec.serviceAccountName=',
    'status.podIP=',
  ],
  ...['spec.hostNetwork=false', 'status.nominatedNodeName=', 'spec.image=x', 'metadata.name=p'],
];

/** Returns the token that continues the list of the version `rv` after the name `b`. */
function continueToken(rv: number): string {
  const token = { v: 'meta.k8s.io/v1', rv, start: 'b\u0000' };
  return Buffer.from(JSON.stringify(token)).toString('base64url');
}

const queries = [
  ...['limit=2', 'limit=0', 'limit=-1', 'limit=x', 'limit=99999999999999999999', 'continue=x'],
  ...['limit=1&resourceVersion=0', `limit=2&resourceVersion=${last}`, 'resourceVersion=abc'],
  ...[`limit=2&resourceVersion=${first}&resourceVersionMatch=Exact`, 'resourceVersionMatch=Exact'],
  ...[
    `resourceVersion=${first}&resourceVersionMatch=Exact`,
    'resourceVersion=0&resourceVersionMatch=Exact',
  ],
  ...[`resourceVersion=${first}&resourceVersionMatch=NotOlderThan`, 'resourceVersion=999999999999'],
  ...['resourceVersion=1&resourceVersionMatch=Other', 'resourceVersion=-1', 'timeoutSeconds=x'],
  ...[
    'sendInitialEvents=true',
    'watch=false',
    'allowWatchBookmarks=true',
    'pretty=true&limit=1',
    'unknown=1',
  ],
  `continue=${continueToken(1)}&resourceVersionMatch=Exact`,
  ...[1, 0, 999_999_999_999].map((rv) => `limit=1&continue=${continueToken(rv)}`),
];

const watchQueries = [
  ...[
    '',
    '&allowWatchBookmarks=true',
    '&labelSelector=even%3Dtrue',
    '&fieldSelector=metadata.name%3Db',
  ],
  ...['&sendInitialEvents=true', '&sendInitialEvents=true&allowWatchBookmarks=true'],
  '&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan',
  ...['&resourceVersionMatch=Exact', '&resourceVersionMatch=NotOlderThan', '&limit=1'],
  ...['&labelSelector=a%20b', '&fieldSelector=x%3Dy', '&sendInitialEvents=false'],
  '&continue=x',
];

const changes: readonly Request[] = [
  patch('merge', `${all}/a`, { data: { a: '1' } }),
  patch('merge', `${all}/a`, { data: { a: '1' } }),
  patch('merge', `${all}/a`, { metadata: { labels: { even: 'false' } } }),
  patch('merge', `${all}/b`, { metadata: { labels: { even: 'true' } } }),
  patch('merge', `${all}/c`, { metadata: { finalizers: ['example.com/f'] } }),
  remove(`${all}/c`),
  patch('merge', `${all}/c`, { metadata: { finalizers: [] } }),
  remove(`${all}/d`),
  post(all, configMap('d', { even: 'true' })),
  post(`${all}?dryRun=All`, configMap('x')),
  remove(`${all}?labelSelector=e`),
];

/** Lists, pages, selectors and watches. */
export const reads: readonly Scenario[] = [
  {
    title: 'queries of lists',
    requests: [
      ...five,
      ...queries.map((query) => get(`${all}?${query}`)),
      ...queries.map((query) => get(`${all}/a?${query}`)),
      ...labelSelectors.map((selector) =>
        get(`${all}?labelSelector=${encodeURIComponent(selector)}`),
      ),
      ...fieldSelectors.map((selector) => get(`${all}?fieldSelector=${encoded(selector)}`)),
      get('/api/v1/namespaces?fieldSelector=name%3Dx'),
    ],
  },
  {
    title: 'selectors of Pods',
    requests: [
      post(pods, pod('p')),
      post(pods, pod('q', 'n')),
      ...podSelectors.map((selector) => get(`${pods}?fieldSelector=${encoded(selector)}`)),
      ...podSelectors.map((selector) =>
        get(`${pods}?fieldSelector=${encoded(selector)}`, { accept: representations.table }),
      ),
    ],
  },
  {
    title: 'pages',
    requests: [
      ...five,
      get(`${all}?limit=2`, { as: 'one' }),
      post(all, configMap('bb')),
      remove(`${all}/d`),
      get(`${all}?limit=2&continue={{one.metadata.continue}}`, { as: 'two' }),
      get(`${all}?limit=2&continue={{two.metadata.continue}}`, { as: 'three' }),
      get(`${all}?limit=2&continue={{one.metadata.continue}}&resourceVersion=1`),
      get(`${all}?limit=2&continue={{one.metadata.continue}}&resourceVersion=0`),
      get(`${all}?limit=3`),
      get(`${all}?limit=1&labelSelector=even%3Dtrue`, { as: 'even' }),
      get(`${all}?limit=1&labelSelector=even%3Dtrue&continue={{even.metadata.continue}}`),
      get(`${all}?limit=1`, { accept: representations.table, as: 'table' }),
      get(`${all}?limit=9&continue={{table.metadata.continue}}`, { accept: representations.table }),
      get(`${all}?limit=1`, { accept: representations.partialList }),
    ],
  },
  {
    title: 'watches',
    requests: [
      ...five,
      ...changes,
      ...watchQueries.map((query) => watch(all, first, query)),
      ...watchQueries.slice(0, 7).map((query) => ({ ...watch(all, '', query) })),
      watch(all, first, '&labelSelector=even%3Dtrue&allowWatchBookmarks=true'),
      { ...watch(all, first), accept: representations.table },
      { ...watch(all, first, '&includeObject=Object'), accept: representations.table },
      { ...watch(all, first), accept: representations.partial },
      { ...watch(all, first), accept: 'application/yaml' },
      watch(all, '1'),
      watch(all, 'x'),
      watch(all, '999999999999'),
      watch(`${all}/a`, first),
      watch(`/api/v1/watch/namespaces/{{ns}}/configmaps`, first),
      watch(`/api/v1/watch/namespaces/{{ns}}/configmaps/a`, first),
    ],
  },
];

function encoded(selector: string): string {
  // `{{ns}}` stays: the run later replaces it with the namespace.
  return encodeURIComponent(selector).replace('%7B%7Bns%7D%7D', '{{ns}}');
}
