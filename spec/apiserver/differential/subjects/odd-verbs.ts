import { patch, post, put, remove, get } from '../scenario.js';
import type { Request, Scenario } from '../scenario.js';
import { gadgets as gadgetsOf, whole } from './definitions.js';

const configMaps = '/api/v1/namespaces/{{ns}}/configmaps';
const deployments = '/apis/apps/v1/namespaces/{{ns}}/deployments';
const pods = '/api/v1/namespaces/{{ns}}/pods';
const gadgets = '/apis/{{ns}}.example.com/v1/namespaces/{{ns}}/gadgets';

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

const size = { size: { type: 'integer' } };
const definition = gadgetsOf(whole({ spec: whole(size), status: whole(size) }), {
  subresources: {
    status: {},
    scale: { specReplicasPath: '.spec.size', statusReplicasPath: '.status.size' },
  },
});

const gadget = {
  ...{ apiVersion: '{{ns}}.example.com/v1', kind: 'Gadget' },
  ...{ metadata: { name: 'one' }, spec: { size: 1 } },
};

/** Each method, and each type of a patch, at a path that lacks some of them. */
function all(path: string, body: object): Request[] {
  const types = ['json', 'merge', 'strategic', 'apply'] as const;
  return [
    ...methods.map((method) => ({
      ...{ method, path },
      ...(method !== 'GET' && method !== 'DELETE' && { body }),
    })),
    ...types.map((type) => patch(type, path, type === 'json' ? [] : body)),
    ...types.map((type) =>
      patch(type, `${path}?fieldManager=m&force=true`, type === 'json' ? [] : body),
    ),
    patch('apply', path, 'x: ['),
    patch('apply', path, ''),
    ...[post, put].map((send) => send(path, 'x')),
    { method: 'PATCH', path, body, type: 'text/plain' } as const,
  ];
}

/** Requests with methods that a path does not support. */
export const oddVerbs: readonly Scenario[] = [
  {
    title: 'odd verbs of custom resources',
    requests: [
      post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition),
      get(gadgets, { whileStatus: 404 }),
      ...all(gadgets, gadget),
      ...all('/apis/{{ns}}.example.com/v1/gadgets', gadget),
      ...all(`${gadgets}/one`, gadget),
      post(gadgets, gadget),
      ...all(`${gadgets}/one/status`, gadget),
      ...all(`${gadgets}/one/scale`, gadget),
      ...all(`${gadgets}/one/none`, gadget),
      ...all(`${gadgets}/one/status/more`, gadget),
      ...all('/apis/{{ns}}.example.com/v1/namespaces/{{ns}}/none', gadget),
      remove('/apis/apiextensions.k8s.io/v1/customresourcedefinitions/gadgets.{{ns}}.example.com'),
    ],
  },
  ...[
    {
      path: configMaps,
      object: { apiVersion: 'v1', kind: 'ConfigMap' },
      parts: ['status', 'none'],
    },
    {
      path: deployments,
      object: { apiVersion: 'apps/v1', kind: 'Deployment' },
      parts: ['status', 'scale', 'rollback', 'status/more'],
    },
    {
      path: pods,
      object: { apiVersion: 'v1', kind: 'Pod' },
      parts: ['status', 'log', 'binding', 'eviction', 'ephemeralcontainers', 'resize'],
    },
  ].map(({ path, object, parts }) => ({
    title: `odd verbs of ${path}`,
    requests: [
      ...all(path, { ...object, metadata: { name: 'one' } }),
      // A GET is left out, because this list contains objects of other scenarios.
      ...all(path.replace('/namespaces/{{ns}}', ''), {
        ...{ ...object, metadata: { name: 'one' } },
      }).filter(({ method }) => method !== 'GET'),
      ...all(`${path}/one`, object),
      ...parts.flatMap((part) => all(`${path}/one/${part}`, object)),
    ],
  })),
  {
    title: 'odd verbs of reviews and components',
    requests: [
      ...all('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', {
        ...{ apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview', spec: {} },
      }),
      ...all('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews/one', {}),
      ...all('/api/v1/namespaces', {
        ...{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: '{{ns}}' } },
      }).filter(({ method }) => method !== 'GET'),
      ...all('/api/v1/namespaces/{{ns}}/finalize', { apiVersion: 'v1', kind: 'Namespace' }),
      ...all('/api/v1/namespaces/{{ns}}/serviceaccounts/one/token', {
        ...{ apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} },
      }),
    ],
  },
];
