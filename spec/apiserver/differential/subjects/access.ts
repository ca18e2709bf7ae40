import { get, patch, post, put, remove, watch } from '../scenario.js';
import type { Request, Scenario } from '../scenario.js';

const maps = '/api/v1/namespaces/{{ns}}/configmaps';
const deployments = '/apis/apps/v1/namespaces/{{ns}}/deployments';
const rbac = '/apis/rbac.authorization.k8s.io/v1';
const roles = `${rbac}/namespaces/{{ns}}/roles`;
const bindings = `${rbac}/namespaces/{{ns}}/rolebindings`;
const reviews = '/apis/authorization.k8s.io/v1';
const reader = { apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list', 'watch'] };
const jane = { kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'jane' };

/** Sends `request` as another user. */
function as(user: string, request: Request, headers: Readonly<Record<string, string>> = {}) {
  return { ...request, headers: { 'impersonate-user': user, ...headers } };
}

/** Creates a Role, and binds it to `subject`. */
function granted(name: string, rules: readonly object[], subject: object = jane): Request[] {
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name };
  return [
    post(roles, { metadata: { name }, rules }),
    post(bindings, { metadata: { name }, roleRef, subjects: [subject] }),
  ];
}

const everyVerb: readonly Request[] = [
  get(`${maps}/a`),
  get(maps),
  watch(maps, '{{a.metadata.resourceVersion}}'),
  post(maps, { metadata: { name: 'b' } }),
  post(maps, { metadata: { generateName: 'b-' } }),
  put(`${maps}/a`, { metadata: { name: 'a' } }),
  patch('merge', `${maps}/a`, { data: { a: '1' } }),
  patch('apply', `${maps}/new?fieldManager=m`, { apiVersion: 'v1', kind: 'ConfigMap' }),
  remove(`${maps}/a`),
  remove(maps),
  get('/api/v1/configmaps'),
  get('/api/v1/nodes'),
  get('/api/v1/nodes/n'),
  get('/api/v1/namespaces/{{ns}}'),
  get(`${deployments}/a/scale`),
  patch('merge', `${deployments}/a/status`, {}),
  get('/apis/example.com/v1/namespaces/{{ns}}/unknowns'),
  get('/version'),
  get('/api'),
  get('/metrics'),
  get('/logs'),
];

function reviewed(user: string, attributes: object, headers = {}): Request {
  const body = { spec: { resourceAttributes: attributes } };
  return as(user, post(`${reviews}/selfsubjectaccessreviews`, body), headers);
}

function subjectReviews(): Request[] {
  const resourceAttributes = {
    ...{ namespace: '{{ns}}', verb: 'get', resource: 'configmaps' },
  };
  const specs = [
    ...[
      { user: 'jane', resourceAttributes },
      { user: 'joe', resourceAttributes },
    ],
    ...[{ groups: ['system:masters'], resourceAttributes }, { resourceAttributes }],
    { user: 'jane', nonResourceAttributes: { path: '/version', verb: 'get' } },
    { user: 'jane', nonResourceAttributes: { path: '/metrics', verb: 'get' } },
    { user: 'jane' },
    { user: 'jane', resourceAttributes, nonResourceAttributes: { path: '/', verb: 'get' } },
  ];
  return [
    ...specs.map((spec) => post(`${reviews}/subjectaccessreviews`, { spec })),
    ...specs.map((spec) =>
      post(`${reviews}/namespaces/{{ns}}/localsubjectaccessreviews`, { spec }),
    ),
    post(`${reviews}/namespaces/{{ns}}/localsubjectaccessreviews`, {
      spec: { user: 'jane', resourceAttributes: { ...resourceAttributes, namespace: 'other' } },
    }),
  ];
}

/** Roles, impersonation and access reviews. */
export const access: readonly Scenario[] = [
  {
    title: 'users without a role',
    requests: [
      post(maps, { metadata: { name: 'a' } }, { as: 'a' }),
      ...everyVerb.map((request) => as('jane', request)),
      get(maps, { headers: { authorization: 'Bearer wrong' } }),
      get('/version', { headers: { authorization: 'Bearer wrong' } }),
    ],
  },
  {
    title: 'users with a role',
    requests: [
      post(maps, { metadata: { name: 'a' } }, { as: 'a' }),
      ...granted('reader', [reader]),
      as('jane', get(maps, { whileStatus: 403 })),
      ...everyVerb.map((request) => as('jane', request)),
      as('joe', get(maps)),
      remove(`${bindings}/reader`),
    ],
  },
  {
    title: 'names and subresources in roles',
    requests: [
      post(maps, { metadata: { name: 'a' } }),
      ...granted('names', [
        { ...reader, resourceNames: ['a'], verbs: ['*'] },
        { apiGroups: ['apps'], resources: ['deployments/scale', '*/status'], verbs: ['*'] },
      ]),
      as('jane', get(`${maps}/a`, { whileStatus: 403 })),
      ...[get(`${maps}/b`), get(maps), get(`${maps}?fieldSelector=metadata.name%3Da`)].map(
        (request) => as('jane', request),
      ),
      as('jane', post(maps, { metadata: { name: 'a' } })),
      as('jane', get(`${deployments}/a/scale`)),
      as('jane', get(`${deployments}/a/status`)),
      as('jane', get(`${deployments}/a`)),
      as('jane', remove(`${maps}/a`)),
    ],
  },
  {
    title: 'groups and ServiceAccounts in bindings',
    requests: [
      ...granted('group', [reader], { ...jane, kind: 'Group', name: 'team' }),
      as('joe', get(maps, { whileStatus: 403 }), { 'impersonate-group': 'team' }),
      as('joe', get(maps)),
      ...granted('account', [reader], { kind: 'ServiceAccount', name: 'bot', namespace: '{{ns}}' }),
      as('system:serviceaccount:{{ns}}:bot', get(maps)),
      as('system:serviceaccount:other:bot', get(maps)),
      as('', get(maps), { 'impersonate-group': 'team' }),
      as('joe', post('/apis/authentication.k8s.io/v1/selfsubjectreviews', {})),
      as('joe', post('/apis/authentication.k8s.io/v1/selfsubjectreviews', {}), {
        ...{ 'impersonate-group': 'team', 'impersonate-uid': '7' },
        'impersonate-extra-scopes': 'one',
      }),
    ],
  },
  {
    title: 'grants of more than the own permissions',
    requests: [
      ...granted('admin', [
        { apiGroups: ['rbac.authorization.k8s.io'], resources: ['*'], verbs: ['create', 'update'] },
        reader,
      ]),
      as('jane', post(roles, { metadata: { name: 'own' }, rules: [reader] }, { whileStatus: 403 })),
      as('jane', post(roles, { metadata: { name: 'more' }, rules: [{ ...reader, verbs: ['*'] }] })),
      as(
        'jane',
        post(roles, {
          metadata: { name: 'more' },
          rules: [
            reader,
            { apiGroups: ['apps'], resources: ['deployments', 'daemonsets'], verbs: ['get'] },
          ],
        }),
      ),
      post(roles, { metadata: { name: 'foreign' }, rules: [{ ...reader, verbs: ['delete'] }] }),
      ...['own', 'foreign', 'missing'].map((name) =>
        as(
          'jane',
          post(bindings, {
            metadata: { name },
            roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
            subjects: [jane],
          }),
        ),
      ),
    ],
  },
  {
    title: 'access reviews',
    requests: [
      ...granted('reader', [reader]),
      as('jane', get(maps, { whileStatus: 403 })),
      ...['get', 'delete', '*', ''].map((verb) =>
        reviewed('jane', { namespace: '{{ns}}', verb, resource: 'configmaps' }),
      ),
      reviewed('jane', { namespace: 'other', verb: 'get', resource: 'configmaps' }),
      reviewed('jane', { namespace: '{{ns}}', verb: 'get', resource: 'pods', subresource: 'log' }),
      reviewed('jane', { verb: 'get', resource: 'configmaps' }),
      reviewed('jane', { verb: 'get' }, { 'impersonate-group': 'system:masters' }),
      as('jane', post(`${reviews}/selfsubjectaccessreviews`, { spec: {} })),
      ...subjectReviews(),
    ],
  },
];
