import { setTimeout as delay } from 'node:timers/promises';
import fc from 'fast-check';
import type { Arbitrary } from 'fast-check';
import { get, post } from '../scenario.js';
import type { Server } from '../servers.js';
import { conditions, few, keyed, map, members, of, small, word } from './arbitraries.js';
import type { Body } from './arbitraries.js';
import type { RandomKind } from './random-kind.js';

const group = 'random.example.com';
const text = { type: 'string' };
const integer = { type: 'integer' };
const texts = { type: 'object', additionalProperties: text };
const list = (items: Body, type: string, keys?: readonly string[]): Body => ({
  ...{ type: 'array', items, 'x-kubernetes-list-type': type },
  ...(keys && { 'x-kubernetes-list-map-keys': keys }),
});
const pair = {
  ...{ type: 'object', required: ['k'] },
  properties: { k: text, v: text, w: { ...text, default: 'd' }, n: texts },
};
const port = {
  ...{ type: 'object', required: ['port'] },
  properties: { port: integer, protocol: { ...text, default: 'TCP' }, set: list(text, 'set') },
};
const anything = { 'x-kubernetes-preserve-unknown-fields': true };

/** The spec of a Thing. Its versions have the same fields, with other list and map types. */
const thingSpec = (v2: boolean): Body => ({
  type: 'object',
  properties: {
    replicas: integer,
    set: list(text, 'set'),
    numbers: list(integer, v2 ? 'atomic' : 'set'),
    list: v2 ? list(text, 'set') : { type: 'array', items: text },
    map: { ...texts, 'x-kubernetes-map-type': v2 ? 'atomic' : 'granular' },
    atomic: { ...texts, 'x-kubernetes-map-type': 'atomic' },
    keyed: list(pair, 'map', ['k']),
    ports: list(port, 'map', ['port', 'protocol']),
    maps: { type: 'object', additionalProperties: { ...texts, nullable: true } },
    any: anything,
    loose: {
      type: 'object',
      ...anything,
      properties: { a: text, keyed: list(pair, 'map', ['k']) },
    },
    nested: {
      ...{ type: 'object', default: {} },
      properties: {
        a: { ...text, default: 'x' },
        b: { type: 'object', properties: { c: { ...integer, nullable: true } } },
      },
    },
    either: { 'x-kubernetes-int-or-string': true },
    nullable: { ...text, nullable: true },
    embedded: { type: 'object', 'x-kubernetes-embedded-resource': true, ...anything },
    ...(v2 && { added: { ...text, default: 'new' } }),
  },
});

const condition = {
  ...{ type: 'object', required: ['type'] },
  properties: {
    type: text,
    status: text,
    message: text,
    lastTransitionTime: { ...text, nullable: true },
  },
};
const thingStatus = {
  type: 'object',
  properties: {
    replicas: integer,
    selector: text,
    conditions: list(condition, 'map', ['type']),
  },
};

const thingVersion = (name: string): Body => ({
  ...{ name, served: true, storage: name === 'v1' },
  schema: {
    openAPIV3Schema: {
      type: 'object',
      properties: { spec: thingSpec(name === 'v2'), status: thingStatus },
    },
  },
  subresources: {
    status: {},
    scale: {
      specReplicasPath: '.spec.replicas',
      statusReplicasPath: '.status.replicas',
      labelSelectorPath: '.status.selector',
    },
  },
});

/** A Thing has two versions and all subresources. A Blob has none, and no schema. */
const definitions: readonly Body[] = [
  {
    metadata: { name: `things.${group}` },
    spec: {
      ...{ group, scope: 'Namespaced', names: { plural: 'things', kind: 'Thing' } },
      versions: ['v1', 'v2'].map(thingVersion),
    },
  },
  {
    metadata: { name: `blobs.${group}` },
    spec: {
      ...{ group, scope: 'Cluster', names: { plural: 'blobs', kind: 'Blob' } },
      versions: [
        {
          ...{ name: 'v1', served: true, storage: true },
          schema: { openAPIV3Schema: { type: 'object', ...anything } },
        },
      ],
    },
  },
];

/** Defines the custom resources, and waits until `server` serves them. */
export async function defineThings(server: Server): Promise<void> {
  for (const definition of definitions) {
    await server.send(post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition));
  }
  const waiting: readonly number[] = [404, 429];
  for (const plural of ['v1/things', 'v2/things', 'v1/blobs']) {
    while (waiting.includes((await server.send(get(`/apis/${group}/${plural}`))).code)) {
      await delay(50);
    }
  }
}

const simple = map(['k', 'l'], word);
const pairs = keyed(members({ k: word }, { v: word, w: word, n: simple }), ['k']);
const free = fc.oneof(simple, few(word), word, small, of(null), few(simple));

const specOf = (version: string): Arbitrary<Body> =>
  members(
    {},
    {
      ...(version === 'v2' && { added: word }),
      ...{ set: fc.uniqueArray(word, { maxLength: 3 }), list: few(word), map: simple },
      ...{ numbers: fc.uniqueArray(small, { maxLength: 2 }), atomic: simple, any: free },
      ...{ replicas: small, keyed: pairs, maps: map(['k', 'l'], simple) },
      ports: keyed(members({ port: of(80, 81) }, { protocol: of('TCP', 'UDP'), set: few(word) }), [
        'port',
        'protocol',
      ]),
      loose: members({}, { a: word, keyed: pairs, other: free }),
      nested: members({}, { a: word, b: members({}, { c: of(1, 2, null) }) }),
      either: of<number | string>(1, '1', '50%'),
      nullable: of('x', null),
      embedded: members(
        { apiVersion: of('v1'), kind: of('ConfigMap') },
        { metadata: members({}, { name: word, labels: simple }), data: simple },
      ),
    },
  );

const status = members({}, { replicas: small, selector: of('a=b'), conditions: conditions() });

/** The kinds of the custom resources. */
export const customKinds: readonly RandomKind[] = [
  {
    ...{ kind: 'Thing', plural: 'things', hasScale: true, strategic: false },
    versions: ['v1', 'v2'].map((version) => ({
      ...{ apiVersion: `${group}/${version}`, status },
      fields: specOf(version).map((value) => ({ spec: value })),
    })),
  },
  {
    ...{ kind: 'Blob', plural: 'blobs', namespaced: false, strategic: false },
    versions: [
      {
        apiVersion: `${group}/v1`,
        fields: members({}, { spec: specOf('v2'), any: free, list: few(simple), status: simple }),
      },
    ],
  },
];
