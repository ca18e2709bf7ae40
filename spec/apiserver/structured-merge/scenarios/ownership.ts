import { configMap, networkPolicy, role, serviceAccount } from './kinds.js';
import { apply, create, force, jsonPatch, update } from './scenario.js';
import type { Scenario } from './scenario.js';

const label = (labels: Record<string, string | null>) => ({ metadata: { labels } });
const annotate = (annotations: Record<string, string | null>) => ({ metadata: { annotations } });
const data = (entries: Record<string, string | null>) => ({ data: entries });

/** Scenarios of ownership in simple objects: maps, finalizers, atomic lists. */
export const ownership: readonly Scenario[] = [
  {
    title: 'an apply creates, adds, changes and drops keys of a ConfigMap',
    on: configMap,
    steps: [
      apply('op', data({ a: '1', b: '2' })),
      apply('op', data({ a: '1', b: '3', c: '4' })),
      apply('op', data({ c: '4' })),
      apply('op', {}),
    ],
  },
  {
    title: 'an apply that changes nothing changes nothing',
    on: configMap,
    steps: [
      apply('op', { ...data({ a: '1' }), ...label({ x: 'y' }) }),
      apply('op', { ...data({ a: '1' }), ...label({ x: 'y' }) }),
      apply('op', {
        ...data({ a: '1' }),
        metadata: { labels: { x: 'y' }, creationTimestamp: null },
      }),
    ],
  },
  {
    title: 'two appliers share what they agree on',
    on: configMap,
    steps: [
      apply('one', data({ shared: 's', a: '1' })),
      apply('two', data({ shared: 's', b: '2' })),
      apply('one', data({ a: '1' })),
      apply('two', data({ b: '2' })),
    ],
  },
  {
    title: 'a second applier of the very same fields changes no object',
    on: configMap,
    steps: [
      apply('one', data({ a: '1' })),
      apply('two', data({ a: '1' })),
      apply('two', data({ a: '1' })),
      apply('three', {}),
    ],
  },
  {
    title: 'an applier conflicts with another, and may force',
    on: configMap,
    steps: [
      apply('one', data({ a: '1', b: '1', c: '1' })),
      apply('two', data({ a: '2' })),
      apply('two', data({ a: '2', b: '2' })),
      force('two', data({ a: '2', b: '2' })),
      apply('one', data({ a: '1', b: '1', c: '1' })),
      apply('one', data({ c: '1' })),
    ],
  },
  {
    title: 'conflicts with several managers are sorted',
    on: configMap,
    steps: [
      apply('zed', data({ z: '1' })),
      apply('alpha', data({ a: '1', b: '1' })),
      update('mid', data({ m: '1' })),
      apply('op', data({ z: '2', a: '2', b: '2', m: '2' })),
    ],
  },
  {
    title: 'an update takes fields from an applier, by changing or removing them',
    on: configMap,
    steps: [
      apply('op', { ...data({ a: '1', b: '2', c: '3' }), ...label({ x: 'y', z: 'w' }) }),
      update('kubectl-edit', data({ a: '9' })),
      update('kubectl-edit', { data: { b: null }, metadata: { labels: { x: null } } }),
      apply('op', { ...data({ a: '1', b: '2', c: '3' }), ...label({ x: 'y', z: 'w' }) }),
      force('op', { ...data({ a: '1', b: '2', c: '3' }), ...label({ x: 'y', z: 'w' }) }),
    ],
  },
  {
    title: 'updates of one manager come together, of several stay apart',
    on: configMap,
    steps: [
      create('first', data({ a: '1', b: '2' })),
      update('second', data({ c: '3' })),
      update('second', data({ d: '4' })),
      update('first', data({ c: '5' })),
      update('first', data({ a: '1' })),
      update('third', { data: null }),
    ],
  },
  {
    title: 'annotations and labels are owned key by key',
    on: configMap,
    steps: [
      apply('op', annotate({ 'example.com/a': '1', 'example.com/b': '2' })),
      apply('mesh', annotate({ 'mesh.example.com/c': '3' })),
      apply('op', annotate({ 'example.com/b': '2' })),
      apply('op', {}),
    ],
  },
  {
    title: 'keys with signs that JSON and Go write in their own ways',
    on: configMap,
    steps: [
      apply('op', annotate({ 'example.com/a-b_c.d': '<&>"\u2028' })),
      apply('op', { metadata: { finalizers: ['example.com/x'] } }),
      update('ed', data({ 'a.b-c_d': 'x' })),
    ],
  },
  {
    title: 'finalizers are a set: each is owned',
    on: configMap,
    steps: [
      apply('one', { metadata: { finalizers: ['example.com/a'] } }),
      apply('two', { metadata: { finalizers: ['example.com/b', 'example.com/c'] } }),
      apply('two', { metadata: { finalizers: ['example.com/c'] } }),
      apply('one', { metadata: { finalizers: ['example.com/c', 'example.com/a'] } }),
      update('ed', { metadata: { finalizers: ['example.com/d', 'example.com/a'] } }),
      apply('one', {}),
      update('ed', { metadata: { finalizers: null } }),
    ],
  },
  {
    title: 'owner references are a list-map by uid',
    on: configMap,
    steps: [
      apply('one', { metadata: { ownerReferences: [owner('u1')] } }),
      apply('two', { metadata: { ownerReferences: [owner('u2')] } }),
      apply('one', { metadata: { ownerReferences: [{ ...owner('u1'), controller: true }] } }),
      apply('two', {}),
    ],
  },
  {
    title: 'an object that was created is taken over by force, and the rest stays',
    on: configMap,
    steps: [
      create('manager', { ...data({ a: '1', old: '2' }), ...label({ app: 'x' }) }),
      apply('op', data({ a: '1' })),
      apply('op', data({ a: '2' })),
      force('op', data({ a: '2' })),
      apply('op', {}),
    ],
  },
  {
    title: 'managedFields that were cleared stay so until the first apply',
    on: configMap,
    steps: [
      apply('op', data({ a: '1' })),
      jsonPatch('ed', [{ op: 'replace', path: '/metadata/managedFields', value: [{}] }]),
      update('ed', data({ b: '2' })),
      apply('op', data({ a: '2' })),
      apply('op', data({ a: '1', c: '3' })),
    ],
  },
  {
    title: 'managedFields may be edited, and nonsense is ignored',
    on: configMap,
    steps: [
      apply('op', data({ a: '1' })),
      jsonPatch('ed', [
        { op: 'replace', path: '/metadata/managedFields/0/manager', value: 'renamed' },
        { op: 'add', path: '/data/b', value: '2' },
      ]),
      jsonPatch('ed', [
        { op: 'replace', path: '/metadata/managedFields/0/fieldsType', value: 'FieldsV9' },
        { op: 'add', path: '/data/c', value: '3' },
      ]),
      jsonPatch('ed', [{ op: 'remove', path: '/metadata/managedFields' }]),
      jsonPatch('ed', [{ op: 'replace', path: '/metadata/managedFields', value: [] }]),
    ],
  },
  {
    title: 'fields of managedFields in another order or with unknown elements are put right',
    on: configMap,
    steps: [
      apply('op', data({ a: '1', b: '2' })),
      jsonPatch('ed', [
        {
          op: 'replace',
          path: '/metadata/managedFields/0/fieldsV1',
          value: {
            'f:data': { 'f:b': {}, '.': {}, 'x:new': {}, 'f:a': { '.': {} } },
            'f:binaryData': {},
          },
        },
        { op: 'add', path: '/data/c', value: '3' },
      ]),
      apply('op', {}),
    ],
  },
  {
    title: 'more than ten updaters are put together',
    on: configMap,
    steps: [
      create('u0', data({ k0: 'x' })),
      ...Array.from({ length: 13 }, (_, n) => update(`u${n + 1}`, data({ [`k${n + 1}`]: 'x' }))),
    ],
  },
  {
    title: 'atomic lists have one owner',
    on: networkPolicy,
    steps: [
      apply('one', {
        spec: { podSelector: { matchLabels: { a: 'b' } }, ingress: [{ ports: [{ port: 80 }] }] },
      }),
      apply('two', { spec: { podSelector: { matchLabels: { a: 'b' } } } }),
      apply('two', { spec: { podSelector: { matchLabels: { a: 'c' } } } }),
      apply('two', {
        spec: { podSelector: { matchLabels: { a: 'b' } }, ingress: [{ ports: [{ port: 81 }] }] },
      }),
      update('ed', { spec: { ingress: [{ ports: [{ port: 81 }] }, {}] } }),
      apply('one', { spec: { podSelector: { matchLabels: { a: 'b' } } } }),
    ],
  },
  {
    title: 'an empty field that Go always writes has no manager',
    on: role,
    steps: [
      create('ed', {}),
      apply('op', { rules: [] }),
      apply('op', { rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }] }),
      update('ed', { rules: null }),
      apply('op', {}),
    ],
  },
  {
    title: 'a list-map of references',
    on: serviceAccount,
    steps: [
      apply('one', { secrets: [{ name: 'a' }], imagePullSecrets: [{ name: 'p' }] }),
      apply('two', { secrets: [{ name: 'b' }] }),
      update('ed', { secrets: [{ name: 'b' }, { name: 'c' }, { name: 'a' }] }),
      apply('two', { secrets: [{ name: 'c' }, { name: 'b' }] }),
      apply('one', {}),
      apply('two', { secrets: [{ name: 'x' }, { name: 'x' }] }),
    ],
  },
  {
    title: 'kubectl takes over what its client-side apply set',
    on: configMap,
    steps: [
      create('kubectl-client-side-apply', {
        ...data({ a: '1', b: '2' }),
        ...annotate({
          'kubectl.kubernetes.io/last-applied-configuration':
            '{"apiVersion":"v1","kind":"ConfigMap","data":{"a":"1","b":"2"},"metadata":{"annotations":{},"name":"x"}}\n',
        }),
      }),
      apply('kubectl', data({ a: '1', b: '3' })),
      update('ed', data({ a: '9' })),
      apply('kubectl', data({ a: '5', b: '4' })),
      apply('kubectl', data({ b: '4', c: '<x>' })),
    ],
  },
  {
    title: 'bodies that fit no schema',
    on: configMap,
    steps: [
      apply('op', { data: { a: '1' }, nonsense: 1 }),
      apply('op', { data: { a: 1 } }),
      apply('op', { data: ['a'] }),
      apply('op', { data: { a: { b: 1 } }, immutable: 'yes' }),
      apply('op', { data: { a: '1' }, metadata: { managedFields: [] } }),
      apply('op', { data: { a: '1' }, metadata: { finalizers: [{ a: 1 }] } }),
      apply('op', { data: { a: '1' }, metadata: { ownerReferences: [{ name: 'a' }] } }),
      apply('op', { data: { a: '1' }, metadata: { finalizers: [null] } }),
      apply('op', { data: { a: '1' }, metadata: { labels: 'x', generation: '1' } }),
    ],
  },
];

function owner(uid: string): Record<string, unknown> {
  // A kind that does not exist, so that the garbage collector does not delete the object.
  return { apiVersion: 'ghosts.example.com/v1', kind: 'Ghost', name: uid, uid };
}
