import fc from 'fast-check';
import type { UnstructuredObject } from '../../../lib/object/kubernetes-object.js';
import type { Schema } from '../../../lib/object/schema.js';

const text: Schema = { type: 'string' };
const leaves: Schema = { type: 'object', properties: { a: text, b: text } };
const entry: Schema = {
  type: 'object',
  properties: {
    name: text,
    protocol: { type: 'string', default: 'TCP' },
    value: text,
    sub: leaves,
  },
};

/** Schema of the kind Thing, with every type of list and map that structured merge distinguishes. */
export const thingSchema: Schema = {
  type: 'object',
  properties: {
    apiVersion: text,
    kind: text,
    metadata: {
      type: 'object',
      properties: {
        name: text,
        uid: text,
        resourceVersion: text,
        labels: { type: 'object', additionalProperties: text },
      },
    },
    spec: {
      type: 'object',
      properties: {
        text,
        nested: { type: 'object', properties: { deep: leaves } },
        entries: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['name', 'protocol'],
          items: entry,
        },
        tags: { type: 'array', 'x-kubernetes-list-type': 'set', items: text },
        list: { type: 'array', items: leaves },
        atomic: { ...leaves, 'x-kubernetes-map-type': 'atomic' },
        map: { type: 'object', additionalProperties: text },
        free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
      },
    },
  },
};

const word = fc.constantFrom('x', 'y', 'z');
const some = <T>(fields: { [K in keyof T]: fc.Arbitrary<T[K]> }) =>
  fc
    .record(fields, { requiredKeys: [] })
    .filter((value) => Object.keys(value as object).length > 0);
const few = <T>(item: fc.Arbitrary<T>, key: (item: T) => unknown = (each) => each) =>
  fc.uniqueArray(item, { minLength: 1, maxLength: 3, selector: key });
const pair = some({ a: word, b: word });
const words = fc.dictionary(fc.constantFrom('k', 'l', 'm'), word, { minKeys: 1 });

const spec = some({
  text: word,
  nested: fc.record({ deep: pair }),
  entries: few(
    fc.record(
      { name: word, protocol: fc.constantFrom('TCP', 'UDP'), value: word, sub: pair },
      { requiredKeys: ['name'] },
    ),
    ({ name, protocol = 'TCP' }) => `${name} ${protocol}`,
  ),
  tags: few(word),
  list: few(pair),
  atomic: pair,
  map: words,
  free: some({ p: word, q: words, r: few(word) }),
});

/**
 * Arbitrary objects of the kind Thing. They contain no null, empty map or empty list, so that an object owns every
 * field in its text. Keys and values are few, so that two objects often overlap.
 */
export const thing: fc.Arbitrary<UnstructuredObject> = fc
  .record({ spec, labels: words }, { requiredKeys: ['spec'] })
  .map(({ labels, ...rest }) => ({
    apiVersion: 'example.com/v1',
    kind: 'Thing',
    metadata: { name: 'thing', ...(labels === undefined ? {} : { labels }) },
    ...rest,
  }));
