import { apply, get, patch, post, put, watch } from '../scenario.js';
import type { Request, Scenario } from '../scenario.js';

const labels = { app: 'a' };
const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } };
const spec = { selector: { matchLabels: labels }, template };
const widgets = '/apis/{{ns}}.example.com/v1/namespaces/{{ns}}/widgets';

const scalable = [
  { path: '/apis/apps/v1/namespaces/{{ns}}/deployments', spec },
  { path: '/apis/apps/v1/namespaces/{{ns}}/replicasets', spec },
  { path: '/apis/apps/v1/namespaces/{{ns}}/statefulsets', spec: { ...spec, serviceName: 's' } },
  {
    path: '/api/v1/namespaces/{{ns}}/replicationcontrollers',
    spec: { selector: labels, template },
  },
];

function scaleWrites(path: string): Request[] {
  const scale = `${path}/one/scale`;
  const named = { metadata: { name: 'one' } };
  return [
    get(scale, { as: 'scale' }),
    put(`${scale}?fieldManager=a`, { ...named, spec: { replicas: 3 } }),
    put(scale, { metadata: { name: 'other' }, spec: { replicas: 3 } }),
    put(scale, { ...named, spec: { replicas: -1 } }),
    put(scale, { ...named, spec: {} }),
    put(scale, {
      metadata: { name: 'one', resourceVersion: '{{scale.metadata.resourceVersion}}' },
      spec: { replicas: 5 },
    }),
    patch('merge', `${scale}?fieldManager=b`, { spec: { replicas: 2 } }),
    patch('merge', scale, { spec: { replicas: null } }),
    patch('merge', scale, { spec: { replicas: '2' } }),
    patch('merge', scale, { metadata: { labels: { a: 'b' } }, status: { replicas: 9 } }),
    patch('json', scale, [{ op: 'replace', path: '/spec/replicas', value: 4 }]),
    patch('strategic', scale, { spec: { replicas: 6 } }),
    patch('merge', `${scale}?dryRun=All`, { spec: { replicas: 7 } }),
    apply('c', scale, { apiVersion: 'autoscaling/v1', kind: 'Scale', spec: { replicas: 8 } }),
    apply('c', scale, { apiVersion: 'autoscaling/v1', kind: 'Scale', spec: { replicas: 8 } }, true),
    apply('d', scale, { apiVersion: 'autoscaling/v1', kind: 'Scale', spec: { replicas: 8 } }),
    apply('d', scale, { apiVersion: 'apps/v1', kind: 'Scale', spec: { replicas: 8 } }),
    get(`${path}/one`),
    get(`${path}/none/scale`),
    put(`${path}/none/scale`, { metadata: { name: 'none' }, spec: { replicas: 3 } }),
    put(`${path}/none/scale`, { spec: { replicas: 3 } }),
  ];
}

function statusWrites(path: string, status: object): Request[] {
  const one = `${path}/one/status`;
  return [
    get(one, { as: 'before' }),
    patch('merge', `${one}?fieldManager=s`, { status }),
    patch('merge', `${one}?fieldManager=s`, { status }),
    patch('merge', `${one}?fieldManager=t`, {
      ...{ status: {}, spec: { replicas: 9 } },
      metadata: { labels: { l: 'm' }, annotations: { n: 'o' }, finalizers: ['example.com/f'] },
    }),
    patch('merge', `${path}/one?fieldManager=u`, { status: null }),
    put(one, { metadata: { name: 'one' } }),
    put(one, { metadata: { name: 'one', resourceVersion: '1' }, status }),
    patch('merge', `${one}?fieldManager=s`, { status: { unknown: 1 } }),
    patch('merge', `${one}?fieldManager=s&fieldValidation=Strict`, { status: { unknown: 1 } }),
    patch('merge', one, { status: 'text' }),
    patch('merge', `${one}?dryRun=All`, { status: null }),
    get(`${path}/one`),
  ];
}

const withStatus = [
  {
    ...(scalable[0] ?? { path: '', spec }),
    kind: 'Deployment',
    apiVersion: 'apps/v1',
    status: {
      ...{ observedGeneration: 1, replicas: 2 },
      conditions: [{ type: 'Available', status: 'True', reason: 'R', message: 'm' }],
    },
  },
  {
    path: '/api/v1/namespaces/{{ns}}/services',
    ...{ kind: 'Service', apiVersion: 'v1' },
    spec: { ports: [{ port: 80 }], type: 'LoadBalancer' },
    status: { loadBalancer: { ingress: [{ ip: '1.2.3.4' }] } },
  },
  {
    path: '/api/v1/namespaces/{{ns}}/pods',
    ...{ kind: 'Pod', apiVersion: 'v1' },
    spec: template.spec,
    status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
  },
];

/** Statuses of kinds that the server checks. */
const checkedStatuses = [
  {
    path: '/apis/apps/v1/namespaces/{{ns}}/statefulsets',
    spec: { ...spec, serviceName: 's' },
    statuses: [
      { replicas: 1, readyReplicas: 2, currentReplicas: 3 },
      { replicas: 1, readyReplicas: -1, availableReplicas: 1 },
      { replicas: 2, readyReplicas: 1, availableReplicas: 2 },
    ],
  },
  {
    path: '/apis/apps/v1/namespaces/{{ns}}/daemonsets',
    spec,
    statuses: [{ numberReady: -1, currentNumberScheduled: -1 }],
  },
  {
    path: '/apis/policy/v1/namespaces/{{ns}}/poddisruptionbudgets',
    spec: { selector: { matchLabels: labels } },
    statuses: [
      { currentHealthy: -1, disruptionsAllowed: 1 },
      { conditions: [{ type: 'Ready' }] },
      { conditions: [{ type: 'a b', status: 'Maybe', reason: '0', lastTransitionTime: null }] },
    ],
  },
  {
    path: '/apis/batch/v1/namespaces/{{ns}}/jobs',
    spec: { template: { spec: { ...template.spec, restartPolicy: 'Never' } } },
    statuses: [{}, { active: 1 }],
  },
  {
    path: '/api/v1/namespaces/{{ns}}/pods',
    spec: template.spec,
    statuses: [{ podIPs: [{ ip: '10.1.0.1' }] }, { podIP: '10.1.0.2' }],
  },
];

const definition = {
  metadata: { name: 'widgets.{{ns}}.example.com' },
  spec: {
    ...{ group: '{{ns}}.example.com', scope: 'Namespaced' },
    names: { plural: 'widgets', kind: 'Widget' },
    versions: [
      {
        ...{ name: 'v1', served: true, storage: true },
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: { type: 'object', properties: { size: { type: 'integer', default: 1 } } },
              status: {
                type: 'object',
                properties: {
                  size: { type: 'integer' },
                  selector: { type: 'string' },
                  phase: { type: 'string', enum: ['Good', 'Bad'] },
                },
              },
            },
          },
        },
        subresources: {
          status: {},
          scale: {
            ...{ specReplicasPath: '.spec.size', statusReplicasPath: '.status.size' },
            labelSelectorPath: '.status.selector',
          },
        },
      },
    ],
  },
};

const widget = { apiVersion: '{{ns}}.example.com/v1', kind: 'Widget', metadata: { name: 'one' } };

/** The subresources `scale` and `status`. */
export const scaling: readonly Scenario[] = [
  ...scalable.map(({ path, spec: own }) => ({
    title: `scale of ${path}`,
    requests: [
      post(path, { metadata: { name: 'one' }, spec: own }, { as: 'made' }),
      // The warnings are in the order in which the server writes the members of the object.
      put(`${path}/one/scale`, '{{made}}'),
      ...scaleWrites(path),
    ],
  })),
  ...withStatus.map(({ path, spec: own, status, apiVersion, kind }) => ({
    title: `status of ${path}`,
    requests: [
      post(path, { metadata: { name: 'one' }, spec: own }, { as: 'made' }),
      ...statusWrites(path, status),
      apply('v', `${path}/one/status`, {
        ...{ apiVersion, kind, metadata: { labels: { a: 'b' } } },
        ...{ spec: {}, status },
      }),
      watch(path, '{{made.metadata.resourceVersion}}'),
    ],
  })),
  ...checkedStatuses.map(({ path, spec: own, statuses }) => ({
    title: `values of the status of ${path}`,
    requests: [
      post(path, { metadata: { name: 'one' }, spec: own }),
      ...statuses.flatMap((status) => [
        put(`${path}/one/status?fieldManager=s`, { metadata: { name: 'one' }, status }),
        patch('merge', `${path}/one/status?fieldManager=t`, { status }),
        get(`${path}/one`),
      ]),
    ],
  })),
  {
    title: 'scale and status of a custom resource',
    requests: [
      post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition),
      get(widgets, { whileStatus: 404 }),
      post(widgets, { ...widget, spec: {}, status: { size: 9 } }),
      ...scaleWrites(widgets),
      ...statusWrites(widgets, { size: 2, selector: 'app=a', phase: 'Good' }),
      get(`${widgets}/one/scale`),
      patch('merge', `${widgets}/one/status`, { status: { phase: 'Other' } }),
      apply('v', `${widgets}/one/status`, { ...widget, spec: { size: 4 }, status: { size: 3 } }),
      apply('w', `${widgets}/one`, { ...widget, spec: { size: 4 }, status: { size: 5 } }, true),
      patch('merge', `${widgets}/one`, { spec: { size: null } }),
      get(`${widgets}/one/scale`),
    ],
  },
];
