import { get, patch, patchTypes, post, put, remove } from '../scenario.js';
import type { Request, Scenario } from '../scenario.js';

const all = '/api/v1/namespaces/{{ns}}/configmaps';
const leases = '/apis/coordination.k8s.io/v1/namespaces/{{ns}}/leases';
const types = [
  'application/json',
  'application/yaml',
  'text/plain',
  'application/xml',
  '',
  'application/cbor',
  'application/merge-patch+json',
];
const metadatas: readonly unknown[] = [
  ...[
    { name: 'a'.repeat(254) },
    { name: 'A' },
    { name: '' },
    { name: 'a..b' },
    { name: '.' },
    { name: 'a/b' },
    { name: 'a%b' },
  ],
  ...[
    { generateName: 'x-' },
    { generateName: 'X_' },
    { generateName: 'a'.repeat(300) },
    { name: 'gen', generateName: 'x-' },
  ],
  ...[
    { name: 'n1', labels: { 'a/b/c': 'x' } },
    { name: 'n1', labels: { a: 'x'.repeat(64) } },
    { name: 'n1', labels: { '': '' } },
  ],
  ...[
    { name: 'n2', labels: { a: 1 } },
    { name: 'n2', labels: null },
    { name: 'n3', labels: [] },
    { name: 'n4', labels: { a: null } },
  ],
  ...[
    { name: 'n5', annotations: { 'Upper/x': 'y' } },
    { name: 'n5', annotations: { a: 'x'.repeat(262_200) } },
  ],
  ...[
    { name: 'n6', finalizers: ['x'] },
    { name: 'n6', finalizers: ['a/b'] },
    { name: 'n7', finalizers: ['a b'] },
    { name: 'n7', finalizers: 'x' },
  ],
  ...[
    { name: 'n8', finalizers: ['orphan', 'foregroundDeletion'] },
    { name: 'n8b', finalizers: ['orphan'] },
    { name: 'n8c', finalizers: ['a/b', 'a/b'] },
  ],
  ...[
    { name: 'n9', ownerReferences: [{}] },
    { name: 'n9', ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u' }] },
  ],
  {
    name: 'n10',
    ownerReferences: ['a', 'b'].map((name) => ({
      apiVersion: 'v1',
      kind: 'Pod',
      name,
      uid: name,
      controller: true,
    })),
  },
  { name: 'n11', ownerReferences: [{ apiVersion: 'v1', kind: 'Event', name: 'p', uid: 'u' }] },
  {
    name: 'n12',
    ownerReferences: [
      { apiVersion: 'a/b/c', kind: 'K', name: 'p', uid: 'u', blockOwnerDeletion: 'x' },
    ],
  },
  ...[
    { name: 'n13', uid: 'mine' },
    { name: 'n14', resourceVersion: '5' },
    { name: 'n15', generation: 7 },
    { name: 'n16', selfLink: '/x' },
  ],
  ...[
    { name: 'n17', creationTimestamp: 'x' },
    { name: 'n18', creationTimestamp: '2020-01-01T00:00:00Z' },
    { name: 'n19', deletionTimestamp: '2020-01-01T00:00:00Z' },
  ],
  ...[
    { name: 'n20', deletionGracePeriodSeconds: 5 },
    { name: 'n21', managedFields: [{ manager: 'x' }] },
    { name: 'n22', unknown: 1 },
    'x',
    null,
    [],
    5,
  ],
];
const bodies: readonly unknown[] = [
  ...[
    '',
    'x',
    '{',
    '[]',
    'null',
    '5',
    '"x"',
    '{"metadata":{"name":"a"},"metadata":{"name":"b"}}',
    '{"data":{"a":"1","a":"2"},"metadata":{"name":"dup"}}',
  ],
  ...[
    '{"metadata":{"name":"t"}} trailing',
    '{"metadata":{"name":"t2"},}',
    '\u{feff}{}',
    '{"metadata":{"name":"\\ud800"}}',
    '{"METADATA":{"name":"c"}}',
  ],
  ...[
    { data: 5 },
    { data: { a: 5 } },
    { data: { a: null } },
    { data: [] },
    { data: { 'a b': 'x' } },
    { data: { '..': 'x' } },
    { data: { '': 'x' } },
  ],
  ...[
    { binaryData: { a: '###' } },
    { binaryData: { a: 'eA==' }, data: { a: 'x' } },
    { immutable: 'x' },
    { immutable: true },
    { Data: { a: 'x' } },
  ],
  ...[
    { __proto__: 1, constructor: 2 },
    { kind: 5 },
    { apiVersion: 5 },
    { kind: 'Secret' },
    { apiVersion: 'v2' },
    { kind: '', apiVersion: '' },
  ],
];

const operations: readonly unknown[] = [
  ...[
    [],
    {},
    [{}],
    [{ op: 'add' }],
    [{ op: 'none', path: '/data' }],
    [{ op: 'add', path: 'data', value: {} }],
    'x',
    null,
    5,
  ],
  [{ op: 'add', path: '/data/c', value: '3' }],
  [{ op: 'add', path: '/data/none/x', value: '3' }],
  [{ op: 'add', path: '/data', value: null }],
  [{ op: 'replace', path: '/data/a', value: 5 }],
  [{ op: 'replace', path: '/data/none', value: 'x' }],
  [{ op: 'remove', path: '/data/a' }],
  [{ op: 'remove', path: '' }],
  [{ op: 'replace', path: '', value: { metadata: { name: 'one' } } }],
  [{ op: 'move', from: '/data/b', path: '/data/moved' }],
  [{ op: 'move', from: '/data/none', path: '/data/x' }],
  [{ op: 'copy', from: '/data/c', path: '/data/copied' }],
  [{ op: 'copy', from: '/data/none', path: '/data/nothing' }],
  [{ op: 'copy', from: '/none/none', path: '/data/nothing' }],
  [{ op: 'test', path: '/data/c', value: 'other' }],
  [{ op: 'test', path: '/data/c', value: '3' }],
  [{ op: 'test', path: '/data/none', value: null }],
  [
    { op: 'test', path: '/metadata/name', value: 'one' },
    { op: 'remove', path: '/data/copied' },
  ],
  [{ op: 'add', path: '/metadata/labels/a~1b', value: 'x' }],
  [{ op: 'add', path: '/metadata/labels', value: { 'a/b': 'x' } }],
  [{ op: 'replace', path: '/metadata/labels/a~1b', value: 'y' }],
  [
    { op: 'add', path: '/metadata/finalizers', value: ['a/b'] },
    { op: 'add', path: '/metadata/finalizers/0', value: 'c/d' },
  ],
  [{ op: 'add', path: '/metadata/finalizers/-', value: 'e/f' }],
  [{ op: 'add', path: '/metadata/finalizers/9', value: 'g/h' }],
  [{ op: 'remove', path: '/metadata/finalizers/-1' }],
  [{ op: 'remove', path: '/metadata/finalizers' }],
];

/** Metadata, bodies, dry run, field validation, preconditions and deletion. */
export const writes: readonly Scenario[] = [
  {
    title: 'metadata of new objects',
    requests: [
      ...metadatas.map((metadata) => post(all, { metadata })),
      ...metadatas.map((metadata) =>
        post(`${all}?dryRun=All&fieldValidation=Strict`, { metadata }),
      ),
    ],
  },
  {
    title: 'metadata in updates',
    requests: [
      post(all, { metadata: { name: 'one' } }, { as: 'one' }),
      ...metadatas.map((metadata) =>
        put(`${all}/one`, {
          metadata:
            typeof metadata === 'object' && metadata !== null && !Array.isArray(metadata)
              ? { ...metadata, name: 'one' }
              : metadata,
        }),
      ),
      ...metadatas.map((metadata) =>
        patch('merge', `${all}/one`, {
          metadata:
            typeof metadata === 'object' && metadata !== null && !Array.isArray(metadata)
              ? { ...metadata, name: 'one' }
              : metadata,
        }),
      ),
      get(`${all}/one`),
    ],
  },
  {
    title: 'bodies',
    requests: ['Ignore', 'Warn', 'Strict', 'Other'].flatMap((mode) =>
      bodies.map((body, index) => {
        const named =
          typeof body === 'object' ? { metadata: { name: `b${index}` }, ...body } : body;
        return post(`${all}?dryRun=All&fieldValidation=${mode}`, named);
      }),
    ),
  },
  {
    title: 'content types',
    requests: types.flatMap((type) => [
      post(`${all}?dryRun=All`, '{"metadata":{"name":"a"}}', { type }),
      post(`${all}?dryRun=All`, 'metadata:\n  name: a\ndata:\n  x: 1\n', { type }),
      ...[
        ...types,
        'application/*',
        '*/*;q=0.5',
        'text/html,application/json',
        'application/vnd.kubernetes.protobuf,application/json',
      ].map((accept) => get(`${all}/none`, { accept, type })),
      { method: 'PATCH', path: `${all}/none`, body: '{}', type },
      { method: 'PUT', path: `${all}/none`, body: '{}', type },
      { method: 'DELETE', path: `${all}/none`, body: '{}', type },
    ]),
  },
  { title: 'patches', requests: patchesOf() },
  { title: 'preconditions and deletion', requests: deletions() },
  {
    title: 'updates that create',
    requests: ['', '?dryRun=All'].flatMap((query) =>
      [{}, { uid: 'u' }, { resourceVersion: '5' }, { uid: 'u', resourceVersion: '5' }].map(
        (metadata) => put(`${leases}/one${query}`, { metadata: { ...metadata, name: 'one' } }),
      ),
    ),
  },
];

function patchesOf(): Request[] {
  const one = `${all}/one`;
  const mergePatches: readonly unknown[] = [
    ...[
      {},
      [],
      'x',
      null,
      5,
      '{',
      { data: null },
      { data: { a: '1' } },
      { data: { a: null, b: 'x' } },
      { data: 'x' },
      { data: { x: 5 } },
    ],
    ...[
      { unknown: 1 },
      { metadata: null },
      { metadata: { labels: { a: null } } },
      { kind: 'Secret' },
      { apiVersion: 'v2' },
    ],
  ];
  return [
    post(all, { metadata: { name: 'one' }, data: { a: '1', b: '2' } }),
    ...operations.map((body) => patch('json', one, body)),
    ...mergePatches.flatMap((body) => [
      patch('merge', one, body),
      patch('strategic', one, body),
      patch('merge', `${one}?fieldValidation=Strict`, body),
    ]),
    ...Object.values(patchTypes).map((type): Request => ({
      method: 'PATCH',
      path: `${all}/absent`,
      body: type.includes('json-patch') ? [] : {},
      type,
    })),
    patch(
      'json',
      one,
      Array.from({ length: 10_001 }, () => ({ op: 'test', path: '/kind', value: 'ConfigMap' })),
    ),
    patch('merge', `${one}?dryRun=All`, { data: { dry: 'run' } }),
    patch('merge', `${one}?dryRun=None`, { data: { dry: 'run' } }),
    patch('merge', `${one}?dryRun=All&dryRun=All`, { data: { dry: 'run' } }),
    patch('merge', `${one}?force=true`, {}),
    patch('merge', `${one}?fieldManager=${'x'.repeat(129)}`, {}),
    patch('merge', `${one}?fieldManager=%07`, {}),
    get(one),
  ];
}

function deletions(): Request[] {
  const options: readonly (Readonly<Record<string, unknown>> | undefined)[] = [
    ...[
      undefined,
      {},
      { propagationPolicy: 'Foreground' },
      { propagationPolicy: 'Background' },
      { propagationPolicy: 'Orphan' },
    ],
    ...[
      { propagationPolicy: 'None' },
      { orphanDependents: true },
      { orphanDependents: false },
      { orphanDependents: true, propagationPolicy: 'Orphan' },
    ],
    ...[
      { gracePeriodSeconds: 0 },
      { gracePeriodSeconds: -1 },
      { gracePeriodSeconds: 'x' },
      { dryRun: ['All'] },
      { dryRun: ['Some'] },
      { unknown: 1 },
    ],
    ...[
      { kind: 'Other' },
      { apiVersion: 'v2', kind: 'DeleteOptions' },
      { apiVersion: 'v1', kind: 'DeleteOptions' },
      { preconditions: {} },
      { preconditions: { uid: '' } },
    ],
    { preconditions: { uid: '{{made.metadata.uid}}' } },
    { preconditions: { resourceVersion: '{{made.metadata.resourceVersion}}' } },
    { preconditions: { uid: '{{made.metadata.uid}}', resourceVersion: '1' } },
    ...[{ ignoreStoreReadErrorWithClusterBreakingPotential: true }, { propagationPolicy: '' }],
  ];
  return options.flatMap((body, index) => {
    const name = `d${index}`;
    const one = `${all}/${name}`;
    return [
      post(
        all,
        { metadata: { name, finalizers: index % 2 === 0 ? [] : ['a/b'], labels: { index: name } } },
        { as: 'made' },
      ),
      remove(one, body),
      get(one),
      remove(`${all}?labelSelector=index%3D${name}`, body),
      get(one),
      patch('merge', one, { metadata: { finalizers: null } }),
      get(one),
    ];
  });
}
