import { deployment, podTemplate, service } from './kinds.js';
import { apply, create, force, strategic, update } from './scenario.js';
import type { Scenario } from './scenario.js';

type Fields = Readonly<Record<string, unknown>>;

const template = (...containers: Fields[]) => ({ template: { spec: { containers } } });
const web = (more: Fields = {}): Fields => ({ name: 'web', image: 'web:1', ...more });
const ports = (...list: Fields[]) => ({ spec: { ports: list } });

/** Scenarios of nested structs, list-maps with defaulted keys, and pruning. */
export const structures: readonly Scenario[] = [
  {
    title: 'ports with a protocol by default',
    on: service,
    steps: [
      apply('op', ports({ port: 80, name: 'a' }, { port: 443, name: 'b', targetPort: 8443 })),
      apply('op', ports({ port: 443, name: 'b' }, { port: 80, protocol: 'TCP', name: 'a' })),
      apply('op', ports({ port: 443, name: 'b' }, { port: 80, protocol: 'UDP', name: 'c' })),
      apply('other', ports({ port: 443, name: 'renamed' })),
      apply('other', ports({ port: 9, name: 'nine' })),
      apply('op', ports({ port: 443, name: 'b' })),
      apply('op', ports({ port: 443, name: 'b' }, { port: 443, protocol: 'TCP', name: 'z' })),
    ],
  },
  {
    title: 'fields of a service that was created',
    on: service,
    steps: [
      create('ed', { spec: { ports: [{ port: 80 }], selector: { a: 'b' } } }),
      apply('op', { spec: { ports: [{ port: 80, targetPort: 81 }], selector: { a: 'b' } } }),
      force('op', { spec: { ports: [{ port: 80, targetPort: 81 }], selector: { a: 'c' } } }),
      update('ed', { spec: { type: 'NodePort' } }),
      apply('op', { spec: { selector: { a: 'c' } } }),
    ],
  },
  {
    title: 'env variables by name, in order',
    on: podTemplate,
    steps: [
      apply(
        'op',
        template(
          web({
            env: [
              { name: 'A', value: '1' },
              { name: 'B', value: '2' },
            ],
          }),
        ),
      ),
      update('ed', {
        template: {
          spec: {
            containers: [
              web({ env: [{ name: 'X' }, { name: 'A', value: '1' }, { name: 'B', value: '2' }] }),
            ],
          },
        },
      }),
      apply(
        'op',
        template(
          web({ env: [{ name: 'B', value: '2' }, { name: 'C' }, { name: 'A', value: '1' }] }),
        ),
      ),
      apply('op', template(web({ env: [{ name: 'C', value: '' }] }))),
      apply('op', template(web())),
    ],
  },
  {
    title: 'a reference in place of a value',
    on: podTemplate,
    steps: [
      apply('op', template(web({ env: [{ name: 'A', value: '1' }] }))),
      apply(
        'op',
        template(
          web({ env: [{ name: 'A', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } }] }),
        ),
      ),
      apply(
        'op',
        template(
          web({ env: [{ name: 'A', valueFrom: { configMapKeyRef: { name: 'c', key: 'k' } } }] }),
        ),
      ),
    ],
  },
  {
    title: 'a dropped container goes with all fields that no manager set',
    on: podTemplate,
    steps: [
      apply(
        'op',
        template(web({ ports: [{ containerPort: 80 }] }), { name: 'side', image: 'side:1' }),
      ),
      apply('injector', template({ name: 'proxy', image: 'proxy:1' })),
      apply('op', template(web())),
      strategic('ed', { template: { spec: { containers: [{ name: 'proxy', tty: true }] } } }),
      apply('injector', {}),
    ],
  },
  {
    title: 'an entry that another manager set a field of stays',
    on: podTemplate,
    steps: [
      apply('op', template(web(), { name: 'side', image: 'side:1', command: ['x'] })),
      apply('other', template({ name: 'side', workingDir: '/tmp' })),
      apply('op', template(web())),
    ],
  },
  {
    title: 'structs inside structs lose their last field',
    on: podTemplate,
    steps: [
      apply(
        'op',
        template(
          web({
            resources: { limits: { cpu: '1', memory: '1Gi' } },
            securityContext: { runAsUser: 1 },
          }),
        ),
      ),
      apply('op', template(web({ resources: { limits: { memory: '1Gi' } } }))),
      apply('op', template(web({ resources: { requests: { cpu: '1000m' } } }))),
      apply('op', template(web())),
      apply('op', template(web({ resources: {} }))),
      apply('op', template(web({ livenessProbe: { httpGet: { path: '/', port: 80 } } }))),
      apply('op', template(web({ livenessProbe: { tcpSocket: { port: 'http' } } }))),
    ],
  },
  {
    title: 'volumes change their source',
    on: podTemplate,
    steps: [
      apply('op', {
        template: { spec: { containers: [web()], volumes: [{ name: 'v', emptyDir: {} }] } },
      }),
      apply('op', {
        template: {
          spec: { containers: [web()], volumes: [{ name: 'v', configMap: { name: 'c' } }] },
        },
      }),
      apply('op', { template: { spec: { containers: [web()] } } }),
    ],
  },
  {
    title: 'lists that are atomic, and list-maps with two keys',
    on: podTemplate,
    steps: [
      apply(
        'op',
        template(web({ args: ['a', 'b'], volumeMounts: [{ name: 'v', mountPath: '/a' }] })),
      ),
      apply('op', template(web({ args: ['b'], volumeMounts: [{ name: 'v', mountPath: '/b' }] }))),
      apply('op', {
        template: {
          spec: {
            containers: [web()],
            topologySpreadConstraints: [
              { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule' },
              { maxSkew: 2, topologyKey: 'zone', whenUnsatisfiable: 'ScheduleAnyway' },
            ],
            tolerations: [{ key: 'a', operator: 'Exists' }],
            hostAliases: [{ ip: '127.0.0.1', hostnames: ['a'] }],
          },
        },
      }),
    ],
  },
  {
    title: 'entries of one key that an update let in',
    on: podTemplate,
    steps: [
      create(
        'ed',
        template(
          web({
            env: [
              { name: 'A', value: '1' },
              { name: 'A', value: '2' },
            ],
          }),
        ),
      ),
      apply('op', template(web({ env: [{ name: 'B', value: '3' }] }))),
      force('op', template(web({ env: [{ name: 'A', value: '3' }] }))),
      update(
        'ed',
        template(
          web({
            env: [
              { name: 'A', value: '1' },
              { name: 'A', value: '2' },
            ],
          }),
        ),
      ),
      update(
        'ed',
        template(
          web({
            env: [
              { name: 'A', value: '1' },
              { name: 'A', value: '9' },
            ],
          }),
        ),
      ),
      apply(
        'op',
        template(
          web({
            env: [
              { name: 'A', value: '3' },
              { name: 'A', value: '4' },
            ],
          }),
        ),
      ),
      apply('op', template(web())),
    ],
  },
  {
    title: 'replicas through the scale subresource',
    on: deployment,
    steps: [
      apply('op', paused({ replicas: 0 })),
      update('autoscaler', { spec: { replicas: 1 } }, { subresource: 'scale' }),
      apply('op', paused({ replicas: 0 })),
      apply('op', paused({})),
      update('autoscaler', { spec: { replicas: 0 } }, { subresource: 'scale' }),
      update('other', { spec: { replicas: 1 } }, { subresource: 'scale' }),
      force('op', paused({ replicas: 0 })),
    ],
  },
  {
    title: 'replicas that an updater set, then scaled by another client',
    on: deployment,
    steps: [
      create('ed', paused({ replicas: 0 })),
      update('autoscaler', { spec: { replicas: 1 } }, { subresource: 'scale' }),
      update('ed', { spec: { replicas: 0 } }),
      update('ed', { spec: { replicas: 1 } }, { subresource: 'scale' }),
      update('ed', { metadata: { labels: { a: 'b' } } }),
    ],
  },
  {
    title: 'a deployment drops replicas, strategy and labels',
    on: deployment,
    steps: [
      apply('op', paused({ replicas: 0, strategy: { type: 'Recreate' }, minReadySeconds: 5 })),
      apply('op', paused({ replicas: 0 })),
      apply('op', paused({ replicas: 0, strategy: { rollingUpdate: { maxSurge: 1 } } })),
    ],
  },
];

function paused(more: Fields): Fields {
  const labels = { app: 'x' };
  return {
    spec: {
      paused: true,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [web()] } },
      ...more,
    },
  };
}
