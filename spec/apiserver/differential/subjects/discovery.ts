import { discoveryData } from '../../../../lib/apiserver/kinds/documents.js';
import { get, post, remove, representations } from '../scenario.js';
import type { Request, Scenario } from '../scenario.js';

const { core, groups } = discoveryData();
const aggregated = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

const versions = [...core, ...groups].flatMap(({ metadata: { name = '' }, versions: all }) =>
  all.map(({ version, resources = [] }) => ({
    group: name,
    path: name === '' ? `/api/${version}` : `/apis/${name}/${version}`,
    resources,
  })),
);

const plainPaths = [
  ...['/', '/api', '/apis', '/version', '/version/', '/healthz', '/livez', '/readyz', '/nothing'],
  ...[
    '/healthz/ping',
    '/livez/ping',
    '/readyz/ping',
    '/healthz/none',
    '/api/',
    '/apis/',
    '/api/v2',
  ],
  ...['/apis/none.example.com', '/apis/none.example.com/v1', '/apis/apps/v9', '/apis/apps/v1/'],
  ...['/apis/apps/v1/nothing', '/api/v1/nothing/x', '/api/v1/namespaces/{{ns}}/nothing'],
  ...['/api/v1/namespaces/{{ns}}/nodes', '/api/v1/pods/x', '/api/v1/namespaces/{{ns}}/pods/x/none'],
  ...['/openapi/v3/none', '/openapi/v4', '/api/v1/namespaces/{{ns}}/pods/x/log'],
];

/** Discovery, OpenAPI documents, and lists of all kinds as the server represents them. */
export const discovery: readonly Scenario[] = [
  {
    title: 'discovery',
    requests: [
      ...plainPaths.map((path) => get(path)),
      ...versions.map(({ path }) => get(path)),
      ...groups.map(({ metadata: { name = '' } }) => get(`/apis/${name}`)),
      get('/api', { accept: aggregated }),
      get('/api', { accept: `application/json,${aggregated}` }),
      ...['/apis', '/api', '/version', '/api/v1'].flatMap((path) => [
        post(path, {}),
        remove(path),
        get(path, { accept: 'text/html' }),
        get(path, { accept: 'application/yaml' }),
      ]),
    ],
  },
  {
    title: 'OpenAPI',
    requests: versions.map(({ path }) => get(`/openapi/v3${path}`)),
  },
  {
    title: 'empty lists',
    requests: versions.flatMap(({ path, resources }) =>
      resources
        .filter(({ verbs }) => verbs.includes('list'))
        .flatMap(({ resource, scope }) =>
          emptyLists(`${path}/${scope === 'Namespaced' ? 'namespaces/{{ns}}/' : ''}${resource}`),
        ),
    ),
  },
  {
    title: 'verbs that a kind lacks',
    requests: versions.flatMap(({ path, resources }) =>
      resources.flatMap(({ resource, scope }): Request[] => {
        const all = `${path}/${scope === 'Namespaced' ? 'namespaces/{{ns}}/' : ''}${resource}`;
        return [
          { method: 'PUT', path: all, body: {} },
          { method: 'POST', path: `${all}/none`, body: {} },
          { method: 'PATCH', path: all, body: {}, type: 'application/merge-patch+json' },
        ];
      }),
    ),
  },
];

function emptyLists(path: string): Request[] {
  const none = '?labelSelector=none%3D{{ns}}';
  return [
    get(path + none),
    get(path + none, { accept: representations.table }),
    get(path + none, { accept: representations.partialList }),
    get(`${path}/none-{{ns}}`),
  ];
}
