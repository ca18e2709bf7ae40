import type { UnstructuredObject } from '../../lib/object/index.js';

/** The objects of a site before and after a change, without namespaces. */
export interface Change {
  readonly before: readonly UnstructuredObject[];
  readonly after: readonly UnstructuredObject[];
  /** Merge patches of other people before the change, by kind and name. */
  readonly edits?: Readonly<Record<string, object>>;
}

function object(apiVersion: string, kind: string, name: string, rest: object): UnstructuredObject {
  const { metadata = {}, ...fields } = rest as { readonly metadata?: object };
  return { apiVersion, kind, metadata: { name, ...metadata }, ...fields };
}

const labels = { app: 'web' };

function container(image: string, more: object = {}) {
  return { name: 'web', image, ...more };
}

function template(image: string, more: object = {}, podSpec: object = {}) {
  return {
    metadata: { labels },
    spec: { containers: [container(image, more)], ...podSpec },
  };
}

const deployment = (image: string, rest: object = {}, more: object = {}): UnstructuredObject =>
  object('apps/v1', 'Deployment', 'web', {
    spec: { selector: { matchLabels: labels }, template: template(image, more), ...rest },
  });

const statefulSet = (image: string, rest: object = {}): UnstructuredObject =>
  object('apps/v1', 'StatefulSet', 'db', {
    spec: {
      ...{ serviceName: 'db', selector: { matchLabels: { app: 'db' } } },
      template: {
        metadata: { labels: { app: 'db' } },
        spec: { containers: [{ name: 'db', image }] },
      },
      ...rest,
    },
  });

const daemonSet = (image: string): UnstructuredObject =>
  object('apps/v1', 'DaemonSet', 'agent', {
    spec: {
      selector: { matchLabels: { app: 'agent' } },
      template: {
        metadata: { labels: { app: 'agent' } },
        spec: { containers: [{ name: 'agent', image }] },
      },
    },
  });

const service = (name: string, spec: object): UnstructuredObject =>
  object('v1', 'Service', name, { spec });

const configMap = (name: string, data: Readonly<Record<string, string>>): UnstructuredObject =>
  object('v1', 'ConfigMap', name, { data });

const secret = (name: string, data: Readonly<Record<string, string>>): UnstructuredObject =>
  object('v1', 'Secret', name, {
    data: Object.fromEntries(
      Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString('base64')]),
    ),
  });

const job = (name: string, image: string, rest: object = {}): UnstructuredObject =>
  object('batch/v1', 'Job', name, {
    spec: {
      template: {
        spec: { restartPolicy: 'Never', containers: [{ name: 'job', image }] },
      },
      ...rest,
    },
  });

const cronJob = (schedule: string): UnstructuredObject =>
  object('batch/v1', 'CronJob', 'backup', {
    spec: {
      schedule,
      jobTemplate: {
        spec: {
          template: {
            spec: { restartPolicy: 'Never', containers: [{ name: 'backup', image: 'backup:1' }] },
          },
        },
      },
    },
  });

const ingress = (...hosts: readonly string[]): UnstructuredObject =>
  object('networking.k8s.io/v1', 'Ingress', 'web', {
    spec: {
      rules: hosts.map((host) => ({
        host,
        http: {
          paths: [
            {
              ...{ path: '/', pathType: 'Prefix' },
              backend: { service: { name: 'web', port: { number: 80 } } },
            },
          ],
        },
      })),
    },
  });

const networkPolicy = (port: number): UnstructuredObject =>
  object('networking.k8s.io/v1', 'NetworkPolicy', 'web', {
    spec: { podSelector: { matchLabels: labels }, ingress: [{ ports: [{ port }] }] },
  });

const claim = (storage: string, rest: object = {}): UnstructuredObject =>
  object('v1', 'PersistentVolumeClaim', 'data', {
    spec: {
      ...{ accessModes: ['ReadWriteOnce'], storageClassName: 'growing' },
      resources: { requests: { storage } },
    },
    ...rest,
  });

const autoscaler = (maxReplicas: number): UnstructuredObject =>
  object('autoscaling/v2', 'HorizontalPodAutoscaler', 'web', {
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
      ...{ minReplicas: 1, maxReplicas },
      metrics: [
        {
          type: 'Resource',
          resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } },
        },
      ],
    },
  });

const budget = (spec: object): UnstructuredObject =>
  object('policy/v1', 'PodDisruptionBudget', 'web', {
    spec: { selector: { matchLabels: labels }, ...spec },
  });

const role = (...verbs: readonly string[]): UnstructuredObject =>
  object('rbac.authorization.k8s.io/v1', 'Role', 'web', {
    rules: [{ apiGroups: [''], resources: ['configmaps'], verbs }],
  });

const binding = (account: string): UnstructuredObject =>
  object('rbac.authorization.k8s.io/v1', 'RoleBinding', 'web', {
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'web' },
    subjects: [{ kind: 'ServiceAccount', name: account, namespace: 'default' }],
  });

const account = (name: string, rest: object = {}): UnstructuredObject =>
  object('v1', 'ServiceAccount', name, rest);

/** The kind of the custom resource among the objects. */
export const Part = { apiVersion: 'sites.example/v1', kind: 'Part' } as const;

const part = (spec: object): UnstructuredObject =>
  object(Part.apiVersion, Part.kind, 'door', { spec });

const env = (name: string) => ({ envFrom: [{ configMapRef: { name } }] });
const secretEnv = (name: string) => ({ envFrom: [{ secretRef: { name } }] });
const port = (number: number, more: object = {}) => ({ port: number, ...more });

/** Changes of realistic objects, by name. */
export const changes: Readonly<Record<string, Change>> = {
  'image-of-a-deployment': { before: [deployment('web:1')], after: [deployment('web:2')] },
  'replicas-and-resources': {
    before: [deployment('web:1', { replicas: 1 })],
    after: [
      deployment('web:1', { replicas: 3 }, { resources: { limits: { cpu: '1', memory: '1Gi' } } }),
    ],
  },
  'fields-removed-from-a-deployment': {
    before: [
      deployment(
        'web:1',
        { minReadySeconds: 5, strategy: { type: 'Recreate' } },
        { env: [{ name: 'A', value: '1' }], ports: [{ containerPort: 80 }] },
      ),
    ],
    after: [deployment('web:1')],
  },
  'data-of-a-config-map': {
    before: [configMap('env', { A: '1', B: '2' }), deployment('web:1', {}, env('env'))],
    after: [configMap('env', { A: '2' }), deployment('web:1', {}, env('env'))],
  },
  'data-of-a-secret': {
    before: [secret('keys', { A: '1' }), deployment('web:1', {}, secretEnv('keys'))],
    after: [secret('keys', { A: '2', B: '3' }), deployment('web:1', {}, secretEnv('keys'))],
  },
  'another-config-map': {
    before: [configMap('one', { A: '1' }), deployment('web:1', {}, env('one'))],
    after: [configMap('two', { A: '1' }), deployment('web:1', {}, env('two'))],
  },
  'image-of-a-stateful-set': {
    before: [statefulSet('db:1', { replicas: 2 })],
    after: [statefulSet('db:2', { replicas: 2 })],
  },
  'stateful-set-updated-on-delete': {
    before: [statefulSet('db:1', { updateStrategy: { type: 'OnDelete' } })],
    after: [statefulSet('db:2', { updateStrategy: { type: 'OnDelete' }, replicas: 2 })],
  },
  'image-of-a-daemon-set': { before: [daemonSet('agent:1')], after: [daemonSet('agent:2')] },
  'database-before-web': {
    before: [statefulSet('db:1'), deployment('web:1')],
    after: [statefulSet('db:2'), deployment('web:2', { replicas: 2 })],
  },
  'ports-of-a-service': {
    before: [
      service('web', { selector: labels, ports: [port(80), port(81, { name: 'b' })].slice(0, 1) }),
    ],
    after: [
      service('web', {
        selector: labels,
        ports: [port(80, { name: 'http', targetPort: 8080 }), port(443, { name: 'https' })],
      }),
    ],
  },
  'type-of-a-service': {
    before: [service('web', { selector: labels, ports: [port(80)] })],
    after: [service('web', { selector: labels, ports: [port(80)], type: 'NodePort' })],
  },
  'hosts-of-an-ingress': {
    before: [ingress('a.example', 'b.example')],
    after: [ingress('b.example', 'c.example')],
  },
  'ports-of-a-network-policy': { before: [networkPolicy(80)], after: [networkPolicy(443)] },
  'another-job': { before: [job('migrate-1', 'web:1')], after: [job('migrate-2', 'web:2')] },
  'suspension-of-a-job': {
    before: [job('migrate', 'web:1', { suspend: true })],
    after: [job('migrate', 'web:1', { suspend: false, backoffLimit: 3 })],
  },
  'schedule-of-a-cron-job': { before: [cronJob('0 1 * * *')], after: [cronJob('0 2 * * *')] },
  'size-of-a-claim': { before: [claim('1Gi')], after: [claim('2Gi')] },
  'removed-claim': { before: [claim('1Gi'), configMap('a', {})], after: [configMap('a', {})] },
  'limits-of-an-autoscaler': {
    before: [deployment('web:1'), autoscaler(2)],
    after: [deployment('web:1'), autoscaler(5)],
  },
  'new-autoscaler': {
    before: [deployment('web:1', { replicas: 2 })],
    after: [deployment('web:1'), autoscaler(5)],
  },
  'other-budget': {
    before: [budget({ maxUnavailable: 1 })],
    after: [budget({ minAvailable: '50%' })],
  },
  'rules-and-subjects': {
    before: [account('web'), role('get'), binding('web')],
    after: [account('other'), role('get', 'list'), binding('other')],
  },
  'labels-and-annotations': {
    before: [
      account('web', { metadata: { labels: { a: '1', b: '1' }, annotations: { note: 'x' } } }),
    ],
    after: [account('web', { metadata: { labels: { a: '2' }, annotations: { other: 'y' } } })],
  },
  'custom-resource': {
    before: [part({ color: 'red', size: 1 })],
    after: [part({ color: 'blue', hinges: ['a', 'b'] })],
  },
  'immutable-config-map': {
    before: [{ ...configMap('env', { A: '1' }), immutable: true }],
    after: [{ ...configMap('env', { A: '2' }), immutable: true }],
  },
  'everything-new': {
    before: [],
    after: [configMap('env', { A: '1' }), deployment('web:1', {}, env('env')), part({ size: 1 })],
  },
  'manual-edits': {
    before: [deployment('web:1', { replicas: 1 }), configMap('env', { A: '1' })],
    after: [deployment('web:2', { replicas: 1 }), configMap('env', { A: '2' })],
    edits: {
      'Deployment web': {
        spec: { replicas: 4, minReadySeconds: 3 },
        metadata: { labels: { x: 'y' } },
      },
      'ConfigMap env': { data: { A: '7', C: '3' } },
    },
  },
  'manual-edits-alone': {
    before: [deployment('web:1', { replicas: 1 }), service('web', { ports: [port(80)] })],
    after: [deployment('web:1', { replicas: 1 }), service('web', { ports: [port(80)] })],
    edits: {
      'Deployment web': {
        spec: { template: { spec: { containers: [container('web:9')] } }, replicas: 2 },
      },
      'Service web': { spec: { ports: [port(80, { targetPort: 99 })] } },
    },
  },
  'paused-deployment': {
    before: [deployment('web:1', { paused: true })],
    after: [deployment('web:2', { paused: true })],
  },
  'template-of-a-job': { before: [job('migrate', 'web:1')], after: [job('migrate', 'web:2')] },
  'selector-of-a-deployment': {
    before: [deployment('web:1')],
    after: [
      object('apps/v1', 'Deployment', 'web', {
        spec: {
          selector: { matchLabels: { app: 'other' } },
          template: { metadata: { labels: { app: 'other' } }, spec: template('web:1').spec },
        },
      }),
    ],
  },
  'service-of-a-stateful-set': {
    before: [statefulSet('db:1')],
    after: [statefulSet('db:1', { serviceName: 'other' })],
  },
  'headless-service': {
    before: [service('web', { selector: labels, ports: [port(80)] })],
    after: [service('web', { selector: labels, ports: [port(80)], clusterIP: 'None' })],
  },
  'smaller-claim': { before: [claim('2Gi')], after: [claim('1Gi')] },
  'growing-templates': {
    before: [
      statefulSet('db:1', {
        volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: claim('1Gi')['spec'] }],
      }),
    ],
    after: [
      statefulSet('db:2', {
        volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: claim('2Gi')['spec'] }],
      }),
    ],
  },
  'role-of-a-binding': {
    before: [role('get'), binding('web')],
    after: [
      role('get'),
      {
        ...binding('web'),
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'other' },
      },
    ],
  },
  'type-of-a-secret': {
    before: [secret('keys', { A: '1' })],
    after: [{ ...secret('keys', { A: '1' }), type: 'example.com/keys' }],
  },
  'invalid-deployment': {
    before: [deployment('web:1'), configMap('a', {})],
    after: [deployment('web:1', { replicas: -1 }), configMap('a', { A: '1' })],
  },
  'renamed-workload-behind-a-service': {
    before: [deployment('web:1'), service('web', { selector: labels, ports: [port(80)] })],
    after: [
      object('apps/v1', 'StatefulSet', 'web', {
        spec: { ...(deployment('web:1')['spec'] as object), serviceName: 'web' },
      }),
      service('web', { selector: labels, ports: [port(80)] }),
    ],
  },
  'several-removed': {
    before: [
      configMap('a', {}),
      configMap('b', {}),
      service('web', { ports: [port(80)] }),
      ingress('a.example'),
    ],
    after: [configMap('a', {})],
  },
  'six-of-seven-removed': {
    before: ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((name) => configMap(name, {})),
    after: [configMap('a', {})],
  },
  nothing: { before: [deployment('web:1')], after: [deployment('web:1')] },
};
