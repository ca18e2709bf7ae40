import { configMap, deployment, podTemplate, service, serviceAccount } from './kinds.js';
import { create, strategic } from './scenario.js';
import type { Scenario } from './scenario.js';

type Fields = Readonly<Record<string, unknown>>;

const pod = (...containers: Fields[]) => ({ template: { spec: { containers } } });
const patch = (body: Fields) => strategic('ed', body);
const web: Fields = { name: 'web', image: 'web:1' };
const side: Fields = { name: 'side', image: 'side:1' };
const env = (...names: string[]) => names.map((name) => ({ name, value: name.toLowerCase() }));

/** Scenarios of strategic merge patches. */
export const strategicPatches: readonly Scenario[] = [
  {
    title: 'maps are merged, null removes',
    on: configMap,
    steps: [
      create('ed', { data: { a: '1', b: '2' }, metadata: { labels: { x: 'y' } } }),
      patch({ data: { b: null, c: '3', missing: null }, metadata: { labels: { z: 'w' } } }),
      patch({ data: { $patch: 'replace', d: '4' } }),
      patch({ data: { $patch: 'delete' } }),
      patch({ data: { e: '5' }, metadata: { labels: null } }),
      patch({ data: null, binaryData: { f: 'AA==' } }),
    ],
  },
  {
    title: 'lists of scalars: merged, deleted from, ordered',
    on: configMap,
    steps: [
      create('ed', { metadata: { finalizers: finalizers('a', 'b', 'c') } }),
      patch({ metadata: { finalizers: finalizers('d', 'a') } }),
      patch({ metadata: { '$deleteFromPrimitiveList/finalizers': finalizers('b', 'zzz') } }),
      patch({ metadata: { '$setElementOrder/finalizers': finalizers('c', 'a', 'd') } }),
      patch({
        metadata: {
          '$setElementOrder/finalizers': finalizers('e', 'a', 'c'),
          '$deleteFromPrimitiveList/finalizers': finalizers('d'),
          finalizers: finalizers('e'),
        },
      }),
      patch({ metadata: { $retainKeys: ['name', 'namespace', 'finalizers'] } }),
      patch({ metadata: { finalizers: null } }),
    ],
  },
  {
    title: 'entries are merged by their key, and keep their place',
    on: podTemplate,
    steps: [
      create('ed', pod({ ...web, env: env('A', 'B', 'C') }, side)),
      patch(pod({ name: 'side', tty: true }, { name: 'new', image: 'new:1' })),
      patch(pod({ name: 'web', env: [{ name: 'B', value: 'bb' }, { name: 'D' }] })),
      patch(pod({ name: 'web', env: [{ name: 'A', $patch: 'delete' }] })),
      patch(pod({ name: 'side', $patch: 'delete' }, { name: 'web', image: 'web:2' })),
      patch(pod({ name: 'web', env: [{ $patch: 'replace' }, { name: 'Z' }] })),
      patch(pod({ name: 'new', $patch: 'replace', image: 'only:1' })),
    ],
  },
  {
    title: 'the order of entries can be said',
    on: podTemplate,
    steps: [
      create('ed', pod({ ...web, env: env('A', 'B', 'C', 'D') })),
      patch(
        pod({
          name: 'web',
          '$setElementOrder/env': [{ name: 'C' }, { name: 'A' }],
        }),
      ),
      patch(
        pod({
          name: 'web',
          '$setElementOrder/env': [{ name: 'X' }, { name: 'D' }, { name: 'B' }],
          env: [{ name: 'X' }, { name: 'D', value: 'dd' }],
        }),
      ),
      patch(
        pod({
          name: 'web',
          '$setElementOrder/env': [{ name: 'B' }, { name: 'X' }],
          env: [{ name: 'D', $patch: 'delete' }],
        }),
      ),
      patch(
        pod({ name: 'web', env: [{ name: 'N1' }, { name: 'C' }, { name: 'N2' }, { name: 'B' }] }),
      ),
    ],
  },
  {
    title: 'volumes keep one source',
    on: podTemplate,
    steps: [
      create('ed', {
        template: { spec: { containers: [web], volumes: [{ name: 'v', emptyDir: {} }] } },
      }),
      patch({
        template: {
          spec: {
            volumes: [{ $retainKeys: ['name', 'configMap'], name: 'v', configMap: { name: 'c' } }],
          },
        },
      }),
      patch({
        template: {
          spec: {
            volumes: [
              { name: 'v', emptyDir: null },
              { name: 'w', emptyDir: {} },
            ],
          },
        },
      }),
      patch({ template: { spec: { volumes: null } } }),
    ],
  },
  {
    title: 'ports of a Service by number, of a container too',
    on: service,
    steps: [
      create('ed', {
        spec: {
          ports: [
            { port: 80, name: 'a' },
            { port: 81, name: 'b' },
          ],
        },
      }),
      patch({
        spec: {
          ports: [
            { port: 81, name: 'bb' },
            { port: 82, name: 'c' },
          ],
        },
      }),
      patch({ spec: { ports: [{ port: 80, $patch: 'delete' }], selector: { a: 'b' } } }),
    ],
  },
  {
    title: 'lists that are replaced, nulls and directives in what is new',
    on: podTemplate,
    steps: [
      create('ed', pod({ ...web, args: ['a', 'b'] })),
      patch(pod({ name: 'web', args: ['c'], command: ['x', 'y'] })),
      patch({
        template: { spec: { tolerations: [{ key: 'a', operator: 'Exists', value: null }] } },
      }),
      patch({ template: { spec: { tolerations: [] } } }),
      patch({
        template: {
          spec: { securityContext: { runAsUser: 1, runAsGroup: null, $patch: 'replace' } },
        },
      }),
      patch({
        template: {
          spec: { affinity: { nodeAffinity: { $patch: 'delete' }, podAffinity: null } },
        },
      }),
    ],
  },
  {
    title: 'a strategy of a Deployment',
    on: deployment,
    steps: [
      create('ed', {
        spec: {
          replicas: 0,
          paused: true,
          selector: { matchLabels: { a: 'b' } },
          template: { metadata: { labels: { a: 'b' } }, spec: { containers: [web] } },
        },
      }),
      patch({ spec: { strategy: { $retainKeys: ['type'], type: 'Recreate' } } }),
      patch({ spec: { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 2 } } } }),
    ],
  },
  {
    title: 'references by name',
    on: serviceAccount,
    steps: [
      create('ed', { secrets: [{ name: 'a' }], imagePullSecrets: [{ name: 'p' }] }),
      patch({ secrets: [{ name: 'b' }], imagePullSecrets: [{ name: 'p' }] }),
      patch({ secrets: [{ name: 'a', $patch: 'delete' }] }),
    ],
  },
  {
    title: 'malformed patches',
    on: podTemplate,
    steps: [
      create('ed', pod({ ...web, env: env('A', 'B'), args: ['a'] })),
      patch(pod({ image: 'nameless' })),
      patch(pod({ name: 'web', $patch: 'burn' })),
      patch({ template: { $patch: 'burn' } }),
      patch({ template: { $patch: 'merge' } }),
      patch(pod({ name: 'web', env: [{ $patch: 'merge' }] })),
      patch(pod({ name: 'web', env: [{ $patch: 'delete' }] })),
      patch(pod({ name: 'web', $retainKeys: 'name' })),
      patch(pod({ name: 'web', $retainKeys: ['name'], image: 'x' })),
      patch(pod({ name: 'web', '$setElementOrder/env': 'A' })),
      patch(pod({ name: 'web', '$setElementOrder/env': [{ name: 'A' }], env: [{ name: 'B' }] })),
      patch(pod({ name: 'web', '$setElementOrder/env': [{ value: 'A' }] })),
      patch(pod({ name: 'web', '$setElementOrder/env': [{ name: 'A' }], env: 'x' })),
      patch(pod({ name: 'web', $setElementOrder: [{ name: 'A' }] })),
      patch({ metadata: { $deleteFromPrimitiveList: ['a'] } }),
      patch({ template: { spec: { containers: ['web'] } } }),
      patch({ template: { spec: { containers: [['web']] } } }),
      patch({ template: { spec: { containers: [{ name: 'web', args: [['x']] }] } } }),
    ],
  },
];

function finalizers(...names: string[]): string[] {
  return names.map((name) => `example.com/${name}`);
}
