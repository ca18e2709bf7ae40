import { setTimeout as delay } from 'node:timers/promises';
import fc from 'fast-check';
import type { Arbitrary } from 'fast-check';
import { compare, firstDifference } from './comparison.js';
import type { Comparison, Servers } from './comparison.js';
import { apply, get, patch, post, put } from './scenario.js';
import type { Request } from './scenario.js';
import type { Server } from './servers.js';

/** Options of {@link compareRandomWrites}. */
export interface RandomWritesOptions {
  /** Number of writes, about: sequences have up to {@link longest} of them. */
  readonly steps: number;
  readonly seed: number;
}

/** Writes in a sequence. */
const longest = 20;

type Body = Readonly<Record<string, unknown>>;

/**
 * Sends random sequences of creates, applies, updates and patches by several managers to both servers.
 * Each answer must be equal, with its managedFields.
 * @returns the comparisons of the sequences; those of the shortest sequence found that differs, if any does
 */
export async function compareRandomWrites(
  servers: Servers,
  { steps, seed }: RandomWritesOptions,
): Promise<readonly Comparison[]> {
  await Promise.all([defineThings(servers.embedded), defineThings(servers.real)]);
  const agreed: Comparison[] = [];
  let last: readonly Comparison[] = [];
  const property = fc.asyncProperty(sequence, async (requests) => {
    const comparisons = await compare(servers, [{ title: 'random writes', requests }], 1);
    const differ = comparisons.filter(
      ({ embedded, real }) => firstDifference(embedded, real) !== undefined,
    );
    if (differ.length > 0) last = comparisons;
    else agreed.push(...comparisons);
    return differ.length === 0;
  });
  const numRuns = Math.ceil((2 * steps) / longest);
  const { failed } = await fc.check(property, { seed, numRuns, endOnFailure: false });
  return failed ? last : agreed;
}

const word = fc.constantFrom('x', 'y', 'z');
const manager = fc.constantFrom('a', 'b', 'c');

const metadata = fc.record(
  {
    labels: fc.dictionary(fc.constantFrom('l', 'm', 'n'), word, { maxKeys: 2 }),
    annotations: fc.dictionary(fc.constantFrom('o', 'p'), word, { maxKeys: 2 }),
    finalizers: fc.uniqueArray(fc.constantFrom('a/b', 'c/d', 'e/f'), { maxLength: 2 }),
  },
  { requiredKeys: [] },
);

const env = fc.uniqueArray(fc.record({ name: fc.constantFrom('A', 'B', 'C'), value: word }), {
  ...{ maxLength: 2, selector: ({ name }) => name },
});

const ports = fc.uniqueArray(
  fc.record({ containerPort: fc.constantFrom(80, 81), protocol: fc.constantFrom('TCP', 'UDP') }),
  { maxLength: 2, selector: ({ containerPort, protocol }) => `${containerPort}${protocol}` },
);

const containers = fc.uniqueArray(
  fc.record(
    {
      ...{ name: fc.constantFrom('c', 'd'), image: word },
      ...{ env, ports, args: fc.array(word, { maxLength: 2 }), tty: fc.boolean() },
      resources: fc.record({
        limits: fc.dictionary(fc.constant('cpu'), fc.constantFrom('1', '2')),
      }),
    },
    { requiredKeys: ['name', 'image'] },
  ),
  { minLength: 1, maxLength: 2, selector: ({ name }) => name },
);

const labels = { app: 'a' };

const podSpec = fc.record(
  {
    containers,
    nodeSelector: fc.dictionary(fc.constantFrom('n', 'm'), word, { maxKeys: 1 }),
    tolerations: fc.array(fc.record({ key: word, operator: fc.constant('Exists') }), {
      maxLength: 2,
    }),
    hostNetwork: fc.boolean(),
  },
  { requiredKeys: ['containers'] },
);

const deploymentSpec = fc.record(
  {
    selector: fc.constant({ matchLabels: labels }),
    template: podSpec.map((spec) => ({ metadata: { labels }, spec })),
    replicas: fc.integer({ min: 0, max: 2 }),
    minReadySeconds: fc.integer({ min: 0, max: 2 }),
    strategy: fc.constantFrom({ type: 'Recreate' }, { type: 'RollingUpdate' }, {}),
    paused: fc.boolean(),
  },
  { requiredKeys: ['selector', 'template'] },
);

/** A kind with an arbitrary content. */
interface RandomKind {
  readonly apiVersion: string;
  readonly kind: string;
  readonly path: string;
  readonly fields: Arbitrary<Body>;
  readonly strategic: boolean;
}

const strings = { type: 'array', items: { type: 'string' } };
const texts = { type: 'object', additionalProperties: { type: 'string' } };
const pairs = {
  type: 'array',
  items: {
    type: 'object',
    required: ['k'],
    properties: {
      k: { type: 'string' },
      v: { type: 'string' },
      w: { type: 'string', default: 'd' },
    },
  },
};
const thingSpec = {
  type: 'object',
  properties: {
    set: { ...strings, 'x-kubernetes-list-type': 'set' },
    list: strings,
    map: texts,
    atomic: { ...texts, 'x-kubernetes-map-type': 'atomic' },
    keyed: { ...pairs, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'] },
    any: { 'x-kubernetes-preserve-unknown-fields': true },
  },
};
const thingDefinition: Body = {
  metadata: { name: 'things.random.example.com' },
  spec: {
    ...{ group: 'random.example.com', scope: 'Namespaced' },
    names: { plural: 'things', kind: 'Thing' },
    versions: [
      {
        ...{ name: 'v1', served: true, storage: true },
        schema: { openAPIV3Schema: { type: 'object', properties: { spec: thingSpec } } },
      },
    ],
  },
};
const things = '/apis/random.example.com/v1/namespaces/{{ns}}/things';

/** Defines the custom resource, and waits until `server` serves it. */
async function defineThings(server: Server): Promise<void> {
  await server.send(
    post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', thingDefinition),
  );
  const path = things.replace('{{ns}}', 'default');
  const waiting: readonly number[] = [404, 429];
  while (waiting.includes((await server.send(get(path))).code)) await delay(50);
}

const small = fc.dictionary(fc.constantFrom('k', 'l'), word, { maxKeys: 2 });

const kinds: readonly RandomKind[] = [
  {
    ...{ apiVersion: 'apps/v1', kind: 'Deployment', strategic: true },
    path: '/apis/apps/v1/namespaces/{{ns}}/deployments',
    fields: deploymentSpec.map((spec) => ({ spec })),
  },
  {
    ...{ apiVersion: 'v1', kind: 'ConfigMap', strategic: true },
    path: '/api/v1/namespaces/{{ns}}/configmaps',
    fields: fc.record({ data: small }, { requiredKeys: [] }),
  },
  {
    ...{ apiVersion: 'random.example.com/v1', kind: 'Thing', path: things, strategic: false },
    fields: fc
      .record(
        {
          ...{
            set: fc.uniqueArray(word, { maxLength: 3 }),
            list: fc.array(word, { maxLength: 2 }),
          },
          ...{ map: small, atomic: small, any: fc.oneof(small, fc.array(word), word) },
          keyed: fc.uniqueArray(fc.record({ k: word, v: word }, { requiredKeys: ['k'] }), {
            ...{ maxLength: 2, selector: ({ k }) => k },
          }),
        },
        { requiredKeys: [] },
      )
      .map((spec) => ({ spec })),
  },
];

const sequence: Arbitrary<Request[]> = fc
  .constantFrom(...kinds)
  .chain((kind) =>
    fc
      .array(writeOf(kind), { minLength: 1, maxLength: longest, size: 'max' })
      .map((writes) => [...writes, get(`${kind.path}/one`)]),
  );

/** Returns an arbitrary write to the object `one` of a kind. */
function writeOf({ apiVersion, kind, path, fields, strategic }: RandomKind): Arbitrary<Request> {
  const one = `${path}/one`;
  const body = fc.tuple(metadata, fields).map(([meta, rest]) => ({
    ...{ apiVersion, kind, metadata: { ...meta, name: 'one' } },
    ...rest,
  }));
  const patchType = fc.constantFrom<'merge' | 'strategic'>(
    'merge',
    strategic ? 'strategic' : 'merge',
  );
  return fc.oneof(
    {
      weight: 5,
      arbitrary: fc
        .tuple(manager, body, fc.boolean())
        .map(([by, object, force]) => apply(by, one, object, force)),
    },
    {
      weight: 2,
      arbitrary: fc
        .tuple(manager, metadata, fc.boolean())
        .map(([by, meta, force]) =>
          apply(by, one, { apiVersion, kind, metadata: { ...meta, name: 'one' } }, force),
        ),
    },
    {
      weight: 2,
      arbitrary: fc
        .tuple(manager, body)
        .map(([by, object]) => put(`${one}?fieldManager=${by}`, object)),
    },
    {
      weight: 2,
      arbitrary: fc
        .tuple(manager, body, patchType)
        .map(([by, object, type]) => patch(type, `${one}?fieldManager=${by}`, object)),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(manager, word)
        .map(([by, value]) =>
          patch('json', `${one}?fieldManager=${by}`, [
            { op: 'add', path: '/metadata/labels', value: { l: value } },
          ]),
        ),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(manager, body)
        .map(([by, object]) => post(`${path}?fieldManager=${by}`, object)),
    },
  );
}
