import { apply, get, patch, post, put } from '../scenario.js';
import type { Request, Scenario } from '../scenario.js';

const all = '/apis/apps/v1/namespaces/{{ns}}/deployments';
const services = '/api/v1/namespaces/{{ns}}/services';
const one = `${all}/one`;
const labels = { app: 'a' };
const base = {
  ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'one', labels } },
  spec: {
    selector: { matchLabels: labels },
    template: {
      metadata: { labels, annotations: { note: 'x' } },
      spec: {
        containers: [
          {
            ...{ name: 'c', image: 'i:1', args: ['a', 'b'] },
            env: [
              { name: 'A', value: '1' },
              { name: 'B', value: '2' },
            ],
            ports: [{ containerPort: 80, name: 'web' }],
            volumeMounts: [{ name: 'v', mountPath: '/v' }],
            resources: { limits: { cpu: '1' } },
          },
          { name: 'd', image: 'j' },
        ],
        volumes: [{ name: 'v', emptyDir: {} }],
        tolerations: [{ key: 'k', operator: 'Exists' }],
        imagePullSecrets: [{ name: 's' }],
        hostAliases: [{ ip: '10.0.0.1', hostnames: ['h'] }],
        topologySpreadConstraints: [
          { maxSkew: 1, topologyKey: 't', whenUnsatisfiable: 'DoNotSchedule' },
        ],
      },
    },
  },
};

const podPatches: readonly object[] = [
  ...[
    { containers: [{ name: 'c', image: 'i:2' }] },
    { containers: [{ name: 'e', image: 'k' }] },
    { containers: [{ name: 'd', $patch: 'delete' }] },
  ],
  ...[
    { containers: [{ image: 'x' }] },
    { containers: [{ name: 'z', $patch: 'delete' }] },
    { containers: [{ name: 'c', $patch: 'other' }] },
    { containers: ['x'] },
    { containers: { name: 'c' } },
  ],
  { $setElementOrder: 1 },
  {
    '$setElementOrder/containers': [{ name: 'e' }, { name: 'c' }],
    containers: [{ name: 'c', image: 'i:3' }],
  },
  { '$setElementOrder/containers': [{ name: 'c' }], containers: [{ name: 'e', image: 'k:2' }] },
  { '$setElementOrder/containers': [{ name: 'c' }, { name: 'e' }] },
  {
    containers: [
      {
        name: 'c',
        env: [
          { name: 'A', value: null },
          { name: 'C', value: '3' },
        ],
      },
    ],
  },
  { containers: [{ name: 'c', env: [{ name: 'B', $patch: 'delete' }] }] },
  { containers: [{ name: 'c', env: [{ $patch: 'replace' }, { name: 'D', value: '4' }] }] },
  { containers: [{ name: 'c', env: null }] },
  ...[
    { containers: [{ name: 'c', args: ['z'] }] },
    { containers: [{ name: 'c', args: null }] },
    { containers: [{ name: 'c', resources: { limits: { cpu: null, memory: '1Gi' } } }] },
  ],
  { containers: [{ name: 'c', ports: [{ containerPort: 80, protocol: 'UDP' }] }] },
  { containers: [{ name: 'c', ports: [{ containerPort: 80, $patch: 'delete' }] }] },
  ...[
    { containers: [{ name: 'c', ports: [{ name: 'x' }] }] },
    { containers: [{ name: 'c', volumeMounts: [{ mountPath: '/w', name: 'v' }] }] },
  ],
  ...[
    { volumes: [{ name: 'v', $retainKeys: ['name', 'hostPath'], hostPath: { path: '/x' } }] },
    { volumes: [{ name: 'v', emptyDir: {} }] },
  ],
  ...[
    { volumes: [{ name: 'v', hostPath: null, emptyDir: {}, $retainKeys: ['name', 'emptyDir'] }] },
    { volumes: [{ name: 'v', $retainKeys: ['name'], emptyDir: {} }] },
  ],
  ...[
    { tolerations: [{ key: 'l', operator: 'Exists' }] },
    { tolerations: null },
    { imagePullSecrets: [{ name: 't' }] },
    { imagePullSecrets: [{ name: 's', $patch: 'delete' }] },
  ],
  ...[
    { hostAliases: [{ ip: '10.0.0.1', hostnames: ['i'] }] },
    { hostAliases: [{ $patch: 'replace' }] },
    {
      topologySpreadConstraints: [
        { topologyKey: 't', whenUnsatisfiable: 'ScheduleAnyway', maxSkew: 2 },
      ],
    },
  ],
  ...[
    { nodeSelector: { a: 'b' } },
    { nodeSelector: { $patch: 'replace', c: 'd' } },
    { nodeSelector: { $patch: 'delete' } },
    { securityContext: { $patch: 'replace', runAsUser: 5 } },
    { securityContext: null },
  ],
  ...[
    { affinity: { nodeAffinity: {} } },
    { $patch: 'merge', hostname: 'h' },
    { $patch: 'replace', containers: [{ name: 'only', image: 'o' }] },
    { $patch: 'nothing' },
    { $retainKeys: ['containers'] },
  ],
];

const documentPatches: readonly object[] = [
  ...[
    { metadata: { finalizers: ['a/b', 'c/d'] } },
    { metadata: { finalizers: ['e/f'] } },
    { metadata: { '$deleteFromPrimitiveList/finalizers': ['a/b', 'x/y'] } },
  ],
  ...[
    { metadata: { '$setElementOrder/finalizers': ['e/f', 'c/d'] } },
    { metadata: { '$setElementOrder/finalizers': ['e/f', 'c/d', 'g/h'], finalizers: ['g/h'] } },
  ],
  ...[
    { metadata: { '$deleteFromPrimitiveList/finalizers': 'x' } },
    { metadata: { '$deleteFromPrimitiveList/finalizers': ['c/d', 'e/f', 'g/h'] } },
  ],
  ...[
    { metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'A', name: 'a', uid: 'u' }] } },
    { metadata: { ownerReferences: [{ uid: 'u', name: 'b' }] } },
    { metadata: { ownerReferences: [{ uid: 'u', $patch: 'delete' }] } },
  ],
  ...[
    { spec: { strategy: { type: 'Recreate' } } },
    { spec: { strategy: { $retainKeys: ['type'], type: 'Recreate' } } },
    { spec: { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1 } } } },
    { spec: { replicas: null } },
  ],
  ...[
    { $patch: 'delete' },
    { $patch: 'replace', ...base },
    { spec: null },
    { spec: [] },
    { metadata: { annotations: 'x' } },
  ],
];

type Body = Readonly<Record<string, unknown>>;

const cluster = (body: Body): Body => ({ apiVersion: 'apps/v1', kind: 'Deployment', ...body });
const podSpec = (spec: object): Body => cluster({ spec: { template: { spec } } });
const container = (fields: object): Body => podSpec({ containers: [{ name: 'c', ...fields }] });

/** Applies, in order, of several managers to one Deployment. */
const applies: readonly (readonly [string, Body, boolean?])[] = [
  ...([
    ['a', base],
    ['a', base],
    ['b', container({ image: 'i:2' })],
  ] as const),
  ...([
    ['b', container({ image: 'i:2' }), true],
    ['a', base],
    ['a', base, true],
  ] as const),
  ...([
    ['b', container({ env: [{ name: 'C', value: '3' }] })],
    ['b', container({ env: [] })],
  ] as const),
  ...([
    ['b', container({ env: [{ name: 'A', value: '9' }] })],
    ['b', container({ env: [{ name: 'A', value: '1' }] })],
  ] as const),
  ...([
    ['a', container({ image: 'i:1' }), true],
    ['b', cluster({})],
    ['c', container({ args: ['z'] })],
  ] as const),
  ...([
    ['c', container({ args: ['z'] }), true],
    ['c', container({ ports: [{ containerPort: 80 }] })],
  ] as const),
  ...([
    ['c', container({ ports: [{ containerPort: 80 }, { containerPort: 80, protocol: 'UDP' }] })],
  ] as const),
  ...([['c', container({ ports: [{ containerPort: 80 }, { containerPort: 80 }] })]] as const),
  ...([
    ['c', podSpec({ containers: [{ image: 'x' }] })],
    ['c', podSpec({ containers: 'x' })],
  ] as const),
  ...([
    ['c', podSpec({ tolerations: [{ key: 'z' }] }), true],
    ['d', podSpec({ tolerations: null })],
  ] as const),
  ...([['d', cluster({ metadata: { labels: { app: null, d: '1' } } })]] as const),
  ...([
    ['d', cluster({ metadata: { finalizers: ['a/b', 'c/d'] } })],
    ['e', cluster({ metadata: { finalizers: ['c/d', 'e/f'] } })],
  ] as const),
  ...([
    ['d', cluster({ metadata: { finalizers: ['c/d'] } })],
    ['d', cluster({})],
    ['e', cluster({})],
  ] as const),
  ...([
    ['f', cluster({ spec: { replicas: 3 } })],
    ['g', cluster({ spec: { replicas: 4 } })],
    ['g', cluster({ spec: { replicas: 4 } }), true],
  ] as const),
  ...([
    ['f', cluster({ spec: { replicas: 3 } })],
    ['g', cluster({ spec: {} })],
    ['h', cluster({ status: { replicas: 1 } })],
  ] as const),
  ...([
    [
      'h',
      cluster({
        metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'A', name: 'a', uid: 'u' }] },
      }),
    ],
  ] as const),
  ...([
    [
      'i',
      cluster({
        metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'A', name: 'b', uid: 'u' }] },
      }),
    ],
  ] as const),
  ...([
    ['i', cluster({ spec: { selector: { matchLabels: { b: 'c' } } } }), true],
    ['i', cluster({ spec: { unknown: 1 } })],
  ] as const),
];

const ports: readonly (readonly [string, readonly object[]])[] = [
  ['a', [{ port: 80, name: 'a' }]],
  ['b', [{ port: 81, name: 'b', protocol: 'UDP' }]],
  ['b', [{ port: 80, name: 'b' }]],
  ['b', [{ port: 80, name: 'a', targetPort: 8080 }]],
  ['a', [{ port: 80, name: 'a', targetPort: 'x' }]],
  ['a', [{ port: 82, name: 'c', nodePort: 5 }]],
  ['a', [{ port: 82, name: 'c', protocol: 'X' }]],
  ['a', [{ name: 'none' }]],
  ['a', []],
  ['b', []],
];

/** Strategic merge patches, and applies of several managers. */
export const merging: readonly Scenario[] = [
  {
    title: 'strategic merge patches of a pod template',
    requests: [
      post(all, base),
      ...podPatches.flatMap((spec) => [
        patch('strategic', `${one}?fieldManager=patcher`, { spec: { template: { spec } } }),
        get(one),
      ]),
    ],
  },
  {
    title: 'strategic merge patches of a Deployment',
    requests: [
      post(all, base),
      ...documentPatches.map((body) => patch('strategic', one, body)),
      get(one),
    ],
  },
  {
    title: 'merge patches of a pod template',
    requests: [
      post(all, base),
      ...podPatches.map((spec) => patch('merge', one, { spec: { template: { spec } } })),
      get(one),
    ],
  },
  {
    title: 'applies of several managers',
    requests: applies.flatMap(([manager, body, force]): Request[] => [
      apply(
        manager,
        one,
        { ...body, metadata: { name: 'one', ...(body['metadata'] as object) } },
        force,
      ),
      get(one),
    ]),
  },
  {
    title: 'applies between updates',
    requests: applies.flatMap(([manager, body, force], index): Request[] => [
      apply(manager, one, body, force),
      patch('merge', `${one}?fieldManager=m${index % 3}`, {
        metadata: { annotations: { [`k${index % 4}`]: String(index) } },
        spec: { replicas: index % 5 },
      }),
      patch('strategic', `${one}/status?fieldManager=s`, {
        status: { replicas: index % 3, observedGeneration: index },
      }),
      apply(
        's',
        `${one}/status`,
        cluster({ metadata: { name: 'one' }, status: { readyReplicas: index % 2 } }),
      ),
    ]),
  },
  {
    title: 'applies to the scale of a Deployment',
    requests: [
      apply('a', one, { ...base, spec: { ...base.spec, replicas: 1 } }),
      ...[2, -1, 'x', null, 5].flatMap((replicas) => [
        patch('merge', `${one}/scale?fieldManager=b`, { spec: { replicas } }),
        apply('c', `${one}/scale`, {
          apiVersion: 'autoscaling/v1',
          kind: 'Scale',
          metadata: { name: 'one' },
          spec: { replicas },
        }),
        apply(
          'c',
          `${one}/scale`,
          {
            apiVersion: 'autoscaling/v1',
            kind: 'Scale',
            metadata: { name: 'one' },
            spec: { replicas },
          },
          true,
        ),
        put(`${one}/scale`, { metadata: { name: 'one' }, spec: { replicas } }),
      ]),
      apply('a', one, { ...base, spec: { ...base.spec, replicas: 1 } }),
      apply('a', one, { ...base, spec: { ...base.spec, replicas: 1 } }, true),
      get(`${one}/scale`),
      get(one),
    ],
  },
  {
    title: 'applies of Service ports',
    requests: ports.flatMap(([manager, list]) => {
      const body = {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { name: 's' },
        spec: { ports: list },
      };
      return [
        apply(manager, `${services}/s`, body),
        apply(manager, `${services}/s`, body, true),
        put(`${services}/s?fieldManager=up`, { metadata: { name: 's' }, spec: { ports: list } }),
      ];
    }),
  },
];
