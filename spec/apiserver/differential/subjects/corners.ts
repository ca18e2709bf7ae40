import { apply, get, patch, post, put, remove } from '../scenario.js';
import type { Request, Scenario } from '../scenario.js';

type Body = Readonly<Record<string, unknown>>;

const pods = '/api/v1/namespaces/{{ns}}/pods';
const services = '/api/v1/namespaces/{{ns}}/services';
const jobs = '/apis/batch/v1/namespaces/{{ns}}/jobs';
const autoscalers = (version: string): string =>
  `/apis/autoscaling/${version}/namespaces/{{ns}}/horizontalpodautoscalers`;

const configMaps = '/api/v1/namespaces/{{ns}}/configmaps';
const secrets = '/api/v1/namespaces/{{ns}}/secrets';
const budgets = '/apis/policy/v1/namespaces/{{ns}}/poddisruptionbudgets';

const containers = [{ name: 'c', image: 'x' }];
const podTemplate = { spec: { restartPolicy: 'Never', containers } };
const sets = '/apis/apps/v1/namespaces/{{ns}}/statefulsets';
const deployments = '/apis/apps/v1/namespaces/{{ns}}/deployments';
const quotas = '/api/v1/namespaces/{{ns}}/resourcequotas';
const policies = '/apis/networking.k8s.io/v1/namespaces/{{ns}}/networkpolicies';
const controllers = '/api/v1/namespaces/{{ns}}/replicationcontrollers';
const setLabels = { app: 'a' };
const setSpec = {
  ...{ selector: { matchLabels: setLabels }, serviceName: 's', minReadySeconds: 1 },
  template: { metadata: { labels: setLabels }, spec: { containers } },
};
const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' };

const statusPatch =
  (path: string, type: 'merge' | 'strategic' = 'merge') =>
  (status: Body): Request =>
    patch(type, `${path}/one/status`, { status });

const serviceOf = (metadata: Body, ...ports: readonly number[]): Body => ({
  ...{ apiVersion: 'v1', kind: 'Service', metadata },
  spec: { ports: ports.map((port) => ({ port })) },
});

const autoscalerOf = (version: string, spec: Body): Body => ({
  ...{ apiVersion: `autoscaling/${version}`, kind: 'HorizontalPodAutoscaler' },
  metadata: { name: 'one' },
  spec,
});

/** Creates an autoscaler in v1 with an annotation, reads it in both versions, and deletes it. */
const annotatedAutoscaler = (name: string, text: string): Request[] => [
  post(autoscalers('v1'), {
    ...autoscalerOf('v1', { scaleTargetRef, maxReplicas: 3 }),
    metadata: { name: 'one', annotations: { [`autoscaling.alpha.kubernetes.io/${name}`]: text } },
  }),
  get(`${autoscalers('v2')}/one`),
  get(`${autoscalers('v1')}/one`),
  remove(`${autoscalers('v1')}/one`),
];

/** Values of wrong types for the annotation of an autoscaler. */
const oddAnnotations = [
  ...['[{"__proto__":{"a":1}}]', '[{"constructor":{"a":1}}]', '[[1]]', '[1]', '[null]', '[{}]'],
  ...['{"a":1}', '[{"type":1}]', '[{"type":"Pods","pods":null}]', '[{"type":"Pods","pods":1}]'],
  ...['[{"type":"Pods","pods":[]}]', '[{"type":"Pods","pods":{"metricName":1}}]'],
  '[{"type":"Resource","resource":{"name":"cpu","targetAverageUtilization":"x"}}]',
];

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const blobPath = '/apis/{{ns}}.example.com/v1/namespaces/{{ns}}/blobs';
const blob = { apiVersion: '{{ns}}.example.com/v1', kind: 'Blob', metadata: {} };
const blobs = {
  metadata: { name: 'blobs.{{ns}}.example.com' },
  spec: {
    ...{ group: '{{ns}}.example.com', scope: 'Namespaced' },
    names: { plural: 'blobs', kind: 'Blob' },
    versions: [
      {
        ...{ name: 'v1', served: true, storage: true },
        schema: { openAPIV3Schema: { type: 'object' } },
      },
    ],
  },
};

/** A metric of each type, with each type of target. */
const metrics = [
  {
    type: 'Resource',
    resource: { name: 'memory', target: { type: 'AverageValue', averageValue: '1Gi' } },
  },
  {
    type: 'Resource',
    resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 60 } },
  },
  {
    type: 'ContainerResource',
    containerResource: {
      name: 'cpu',
      container: 'c',
      target: { type: 'Utilization', averageUtilization: 70 },
    },
  },
  {
    type: 'Pods',
    pods: {
      metric: { name: 'p', selector: { matchLabels: { a: 'b' } } },
      target: { type: 'AverageValue', averageValue: '5' },
    },
  },
  {
    type: 'Object',
    object: {
      describedObject: scaleTargetRef,
      metric: { name: 'o' },
      target: { type: 'Value', value: '10' },
    },
  },
  {
    type: 'Object',
    object: {
      describedObject: scaleTargetRef,
      metric: { name: 'o' },
      target: { type: 'AverageValue', averageValue: '10' },
    },
  },
  {
    type: 'External',
    external: {
      metric: { name: 'e', selector: { matchLabels: { a: 'b' } } },
      target: { type: 'Value', value: '10' },
    },
  },
  {
    type: 'External',
    external: { metric: { name: 'e' }, target: { type: 'AverageValue', averageValue: '10' } },
  },
];

const autoscalerStatus = {
  ...{ currentReplicas: 1, desiredReplicas: 2, lastScaleTime: '2026-01-01T00:00:00Z' },
  conditions: [
    {
      type: 'AbleToScale',
      status: 'True',
      reason: 'R',
      message: 'm',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    },
  ],
  currentMetrics: [
    {
      type: 'Resource',
      resource: { name: 'cpu', current: { averageUtilization: 40, averageValue: '1' } },
    },
    { type: 'Resource', resource: { name: 'memory', current: { averageValue: '1Gi' } } },
    {
      type: 'ContainerResource',
      containerResource: {
        name: 'cpu',
        container: 'c',
        current: { averageUtilization: 41, averageValue: '2' },
      },
    },
    { type: 'Pods', pods: { metric: { name: 'p' }, current: { averageValue: '5' } } },
    {
      type: 'Object',
      object: { describedObject: scaleTargetRef, metric: { name: 'o' }, current: { value: '10' } },
    },
    {
      type: 'External',
      external: { metric: { name: 'e' }, current: { value: '10', averageValue: '4' } },
    },
  ],
};

/** Returns a Deployment with this policy for the SELinux labels of volumes. */
const deploymentWith = (seLinuxChangePolicy: string): Body => ({
  metadata: { name: 'one' },
  spec: {
    selector: { matchLabels: setLabels },
    template: {
      metadata: { labels: setLabels },
      spec: { containers, securityContext: { seLinuxChangePolicy } },
    },
  },
});

const controllerSpec = (more: Body): Body => ({
  selector: setLabels,
  template: { metadata: { labels: setLabels }, spec: { containers, ...more } },
});

const dependent: Body = {
  ...{ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' },
  metadata: { name: 'dependents.corners.example.com' },
  spec: {
    ...{ group: 'corners.example.com', scope: 'Namespaced' },
    names: { kind: 'Dependent', plural: 'dependents' },
    versions: [
      {
        ...{ name: 'v1', served: true, storage: true },
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: { spec: { type: 'object', dependencies: {} } },
          },
        },
      },
    ],
  },
};

const emptyTemplate: Body = {
  metadata: { name: 'a', finalizers: [], ownerReferences: [], managedFields: [] },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
};

/** Requests that the servers once answered differently: the random writes found them. */
export const corners: readonly Scenario[] = [
  {
    // The server stores null bytes and reads them as empty bytes, so the next write changes the object in any case.
    title: 'null bytes',
    requests: [
      ...[
        { path: secrets, member: 'data' },
        { path: configMaps, member: 'binaryData' },
      ].flatMap(({ path, member }) => [
        post(path, { metadata: { name: 'one' }, [member]: { k: null, l: '' } }),
        put(`${path}/one`, { metadata: { name: 'one' }, [member]: { k: null, l: '' } }),
        patch('json', `${path}/one`, []),
        patch('json', `${path}/one`, []),
        put(`${path}/one`, { metadata: { name: 'one' }, [member]: { k: null, l: '' } }),
      ]),
      post(secrets, { metadata: { name: 'two' }, data: { k: null }, stringData: { l: '' } }),
      patch('json', `${secrets}/two`, []),
      patch('json', `${secrets}/two`, []),
      put(`${secrets}/two`, {
        metadata: { name: 'two' },
        data: { k: null },
        stringData: { k: '' },
      }),
    ],
  },
  {
    title: 'the status of a pod',
    requests: [
      post(pods, { metadata: { name: 'one' }, spec: { containers } }),
      ...[
        { podIPs: [{ ip: '10.1.0.1' }, { ip: '10.1.0.2' }] },
        { podIPs: [{ ip: '10.1.0.1' }, { ip: '' }] },
        { conditions: [{ type: '', status: 'True' }] },
      ].map(statusPatch(pods, 'strategic')),
      ...[
        { podIPs: [{ ip: '10.1.0.1' }, { ip: '2001:db8::1' }] },
        { qosClass: 'Guaranteed' },
        { hostIPs: [{ ip: '10.1.0.1' }] },
      ].map(statusPatch(pods)),
    ],
  },
  {
    title: 'a port of the host without a container port',
    requests: [
      post(pods, {
        metadata: { name: 'one' },
        spec: { hostNetwork: true, containers: [{ name: 'c', image: 'x', ports: [{}] }] },
      }),
    ],
  },
  {
    title: 'the status of a Job',
    requests: [
      post(jobs, { metadata: { name: 'one' }, spec: { template: podTemplate } }),
      ...[
        { failed: 2, succeeded: 2, startTime: '2026-01-02T00:00:00Z' },
        { failed: 1, succeeded: 1, active: -1, ready: 3, startTime: '2026-01-03T00:00:00Z' },
        {
          ...{ active: 2, completionTime: '2026-01-01T00:00:00Z' },
          conditions: [
            { type: 'Complete', status: 'True' },
            { type: 'Failed', status: 'True' },
          ],
        },
        {
          completionTime: '2026-01-03T00:00:00Z',
          conditions: [
            { type: 'SuccessCriteriaMet', status: 'True' },
            { type: 'Complete', status: 'True' },
          ],
        },
        { completionTime: null, conditions: [{ type: 'FailureTarget', status: 'True' }] },
      ].map(statusPatch(jobs)),
    ],
  },
  {
    title: 'repeated finalizers of an object that is being deleted',
    requests: [
      post(services, serviceOf({ name: 'one', finalizers: ['x/y'] }, 80)),
      remove(`${services}/one`),
      patch('merge', `${services}/one`, { metadata: { finalizers: ['a/b', 'x/y', 'a/b'] } }),
    ],
  },
  {
    title: 'a create with a version',
    requests: [
      post(services, serviceOf({ name: 'one', resourceVersion: '5' })),
      post(services, serviceOf({ name: 'one', resourceVersion: '5' }, 80)),
      put(`${services}/one`, serviceOf({ name: 'one', resourceVersion: '5' })),
      put(`${services}/one?dryRun=All`, serviceOf({ name: 'one', resourceVersion: '5' }, 80)),
      put(`${services}/one`, serviceOf({ name: 'one', resourceVersion: '5' }, 80)),
    ],
  },
  {
    title: 'applies to both versions of an autoscaler',
    requests: [
      apply(
        'a',
        `${autoscalers('v2')}/one`,
        autoscalerOf('v2', { scaleTargetRef, maxReplicas: 3 }),
      ),
      post(
        `${autoscalers('v2')}?fieldManager=a`,
        autoscalerOf('v2', { scaleTargetRef, maxReplicas: 3 }),
      ),
      ...[
        { minReplicas: 2, targetCPUUtilizationPercentage: null },
        { targetCPUUtilizationPercentage: 2 },
      ].map((spec) => apply('b', `${autoscalers('v1')}/one`, autoscalerOf('v1', spec))),
    ],
  },
  {
    title: 'an applied metric without its target',
    requests: [
      post(autoscalers('v2'), autoscalerOf('v2', { scaleTargetRef, maxReplicas: 3 })),
      apply(
        'b',
        `${autoscalers('v2')}/one`,
        autoscalerOf('v2', { metrics: [{ resource: { name: 'cpu' } }] }),
        true,
      ),
    ],
  },
  {
    // The server stores an empty list or map but does not read it, so the next write changes the object in any case.
    title: 'deletions of an object with empty members',
    requests: [
      post(definitions, blobs),
      get(blobPath, { whileStatus: 404 }),
      apply('a', `${blobPath}/one`, blob),
      ...['Orphan', 'Orphan'].map((propagationPolicy) =>
        remove(`${blobPath}/one`, { propagationPolicy }),
      ),
      apply('b', `${blobPath}/one`, { ...blob, metadata: { annotations: {}, labels: { l: 'x' } } }),
      ...['Orphan', 'Orphan', 'Background'].map((propagationPolicy) =>
        remove(`${blobPath}/one`, { propagationPolicy }),
      ),
    ],
  },
  {
    title: 'an applied behavior without rules',
    requests: [
      apply(
        'a',
        `${autoscalers('v1')}/one`,
        autoscalerOf('v1', { scaleTargetRef, maxReplicas: 3 }),
      ),
      apply(
        'a',
        `${autoscalers('v2')}/one`,
        autoscalerOf('v2', { scaleTargetRef, maxReplicas: 4, behavior: {} }),
        true,
      ),
    ],
  },
  {
    title: 'annotations of an autoscaler in its old version',
    requests: ['{}', '{"ScaleUp":null}', '{"scaleup":{}}', '[]', 'x', 'null', ''].flatMap((text) =>
      ['behavior', 'metrics'].flatMap((name) => annotatedAutoscaler(name, text)),
    ),
  },
  {
    title: 'annotations of an autoscaler with values of other types',
    requests: ['metrics', 'current-metrics', 'conditions', 'behavior'].flatMap((name) =>
      oddAnnotations.flatMap((text) => annotatedAutoscaler(name, text)),
    ),
  },
  {
    title: 'names that are members of objects in JavaScript',
    requests: ['constructor', '__proto__'].flatMap((name) => {
      const resources = { requests: { [name]: '1' } };
      return [
        post(pods, {
          metadata: { name: 'one' },
          spec: { resources, containers: [{ name: 'c', image: 'x', resources }] },
        }),
        post(secrets, { metadata: { name: 'one' }, stringData: { [name]: 'x' }, type: name }),
        remove(`${secrets}/one`),
      ];
    }),
  },
  {
    title: 'an autoscaler of a newer version read in an older one',
    requests: [
      post(autoscalers('v2'), autoscalerOf('v2', { scaleTargetRef, maxReplicas: 3, metrics })),
      patch('merge', `${autoscalers('v2')}/one/status`, { status: autoscalerStatus }),
      get(`${autoscalers('v1')}/one`),
      patch('merge', `${autoscalers('v1')}/one`, { spec: { maxReplicas: 4 } }),
      patch('merge', `${autoscalers('v1')}/one/status`, { status: { currentReplicas: 3 } }),
      get(`${autoscalers('v2')}/one`),
    ],
  },
  {
    title: 'values of types that decode themselves',
    requests: [
      ...[{ targetPort: {} }, { targetPort: true }].map((port) =>
        put(`${services}/one`, { apiVersion: 'v1', kind: 'Service', spec: { ports: [port] } }),
      ),
      ...[{}, true, 'x'].map((creationTimestamp) =>
        put(`${services}/one`, serviceOf({ creationTimestamp }, 80)),
      ),
      post(services, serviceOf({ name: 'one' }, 80)),
      patch('merge', `${services}/one`, { spec: { ports: [{ targetPort: {} }] } }),
      patch('strategic', `${services}/one`, { spec: { ports: [{ port: 80, targetPort: {} }] } }),
      ...(['merge', 'strategic'] as const).map((type) =>
        patch(type, `${services}/one`, { metadata: { creationTimestamp: {} } }),
      ),
      ...['u2', '1K', 'x', '', 'Mi', '.', '1e', '+', '1.5.2', '1 Gi', ' 1', '1e2', 1e21, '٣'].map(
        (cpu) =>
          post(pods, {
            metadata: { generateName: 'q' },
            spec: { containers: [{ name: 'c', image: 'x', resources: { limits: { cpu } } }] },
          }),
      ),
      post(budgets, { metadata: { name: 'one' }, spec: {} }),
      ...[{}, 1.5, true].map((maxUnavailable) =>
        patch('strategic', `${budgets}/one`, { spec: { maxUnavailable } }),
      ),
    ],
  },
  {
    title: 'bytes and maps of a wrong type in patches',
    requests: [
      post(configMaps, { metadata: { name: 'one' } }),
      ...[['b'], [], [1], 3, {}, '%'].map((k) =>
        patch('strategic', `${configMaps}/one`, { binaryData: { k } }),
      ),
      patch('merge', `${configMaps}/one`, { binaryData: { k: ['b'] } }),
      post(pods, { metadata: { name: 'one' }, spec: { containers } }),
      patch('strategic', `${pods}/one`, {
        spec: { containers: [{ name: 'c', resources: { limits: 'x' } }] },
      }),
    ],
  },
  {
    title: 'several problems of a patch',
    requests: [
      post(pods, { metadata: { name: 'one', labels: { l: 'x' } }, spec: { containers } }),
      ...(['Strict', 'Warn'] as const).flatMap((mode) =>
        (['strategic', 'merge'] as const).map((type) =>
          patch(type, `${pods}/one?fieldValidation=${mode}`, {
            ...{ b: 1, a: 2, metadata: { q: 2 } },
            spec: { z: 1, containers: [{ name: 'c', image: 'x', y: 2 }] },
          }),
        ),
      ),
      patch('json', `${pods}/one?fieldValidation=Warn`, [
        ...['/spec/z', '/spec/b', '/a', '/metadata/z'].map((path) => ({
          op: 'add',
          path,
          value: 1,
        })),
      ]),
      patch('json', `${pods}/one`, [
        ...['/metadata/finalizers', '/metadata/labels'].map((path) => ({
          ...{ op: 'copy', path, from: '/metadata/labels/l' },
        })),
      ]),
    ],
  },
  {
    title: 'an object sent as its scale',
    requests: [
      post(sets, { metadata: { name: 'one' }, spec: setSpec }),
      put(`${sets}/one/scale?fieldValidation=Warn`, {
        ...{ apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'one' } },
        spec: setSpec,
      }),
    ],
  },
  {
    title: 'an applied null in the annotations of a client-side apply',
    requests: [
      post(configMaps, {
        metadata: {
          name: 'one',
          annotations: { 'kubectl.kubernetes.io/last-applied-configuration': '{}' },
        },
      }),
      apply('kubectl', `${configMaps}/one`, {
        ...{ apiVersion: 'v1', kind: 'ConfigMap' },
        metadata: { annotations: { p: null } },
      }),
    ],
  },
  {
    title: 'updates of the policy for SELinux labels',
    requests: [
      post(deployments, deploymentWith('Recursive')),
      put(`${deployments}/one`, deploymentWith('MountOption')),
      put(`${deployments}/one`, deploymentWith('x')),
      patch('merge', `${deployments}/one`, {
        spec: { template: { spec: { securityContext: null } } },
      }),
      put(`${deployments}/one`, deploymentWith('MountOption')),
    ],
  },
  {
    title: 'an update to no scopes',
    requests: [
      post(quotas, { metadata: { name: 'one' }, spec: { scopes: ['BestEffort'] } }),
      patch('merge', `${quotas}/one`, { spec: { scopes: [] } }),
      patch('merge', `${quotas}/one`, { spec: { scopes: null } }),
    ],
  },
  {
    title: 'a definition with empty dependencies',
    requests: [post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', dependent)],
  },
  {
    title: 'empty lists in the metadata of templates of claims',
    requests: [
      post(sets, {
        metadata: { name: 'one' },
        spec: { ...setSpec, volumeClaimTemplates: [emptyTemplate] },
      }),
      put(`${sets}/one`, {
        metadata: { name: 'one' },
        spec: { ...setSpec, volumeClaimTemplates: [{ ...emptyTemplate, metadata: { name: 'a' } }] },
      }),
      apply('other', `${sets}/one`, {
        ...{ apiVersion: 'apps/v1', kind: 'StatefulSet' },
        spec: { ...setSpec, volumeClaimTemplates: [emptyTemplate] },
      }),
    ],
  },
  {
    title: 'a negative limit of revisions',
    requests: [
      post(sets, { metadata: { name: 'one' }, spec: { ...setSpec, revisionHistoryLimit: -1 } }),
      patch('merge', `${sets}/one`, { metadata: { labels: { a: 'b' } } }),
      patch('merge', `${sets}/one`, { spec: { revisionHistoryLimit: -2 } }),
      patch('merge', `${sets}/one`, { spec: { revisionHistoryLimit: 0 } }),
    ],
  },
  {
    title: 'empty lists of a NetworkPolicy',
    requests: [
      post(policies, { metadata: { name: 'one' }, spec: { podSelector: {} } }),
      put(`${policies}/one`, { metadata: { name: 'one' }, spec: { podSelector: {}, egress: [] } }),
      put(`${policies}/one`, { metadata: { name: 'one' }, spec: { podSelector: {}, egress: [] } }),
      put(`${policies}/one`, { metadata: { name: 'one' }, spec: { podSelector: {} } }),
      put(`${policies}/one`, {
        metadata: { name: 'one' },
        spec: { podSelector: {}, policyTypes: [] },
      }),
      patch('merge', `${policies}/one`, { metadata: { labels: { a: 'b' } } }),
    ],
  },
  {
    title: 'empty lists in the metadata of the claim of a volume',
    requests: ['ownerReferences', 'finalizers', 'managedFields'].map((name) =>
      post(pods, {
        metadata: { name: 'one' },
        spec: {
          containers,
          volumes: [{ ephemeral: { volumeClaimTemplate: { metadata: { [name]: [] } } } }],
        },
      }),
    ),
  },
  {
    title: 'a field of a feature that is off, in a ReplicationController',
    requests: [
      post(controllers, { metadata: { name: 'one' }, spec: controllerSpec({}) }),
      put(`${controllers}/one`, {
        metadata: { name: 'one' },
        spec: controllerSpec({ schedulingGroup: { podGroupName: 'g' } }),
      }),
    ],
  },
];
