import { defineResource, s } from '../../../lib/crd/index.js';
import type { TypedSchema } from '../../../lib/crd/index.js';
import { formatTexts } from './format-texts.js';

/** An object to write, and the previously stored one. */
export interface FeatureCase {
  readonly spec: unknown;
  /** Previous spec; undefined for a create. */
  readonly old?: unknown;
  readonly status?: unknown;
}

/** A feature of schemas, with valid and invalid objects. */
export interface Feature {
  readonly title: string;
  readonly spec: TypedSchema<unknown>;
  readonly cases: readonly FeatureCase[];
}

const short = s.string({ maxLength: 20 });
const of = (...specs: readonly unknown[]): FeatureCase[] => specs.map((spec) => ({ spec }));

const named = s.object({ name: short, value: s.optional(s.integer()) });
const listMap = s.array(named, { listType: 'map', listMapKeys: ['name'], maxItems: 5 });

/** Names that rules escape. */
const reservedNames = [
  ...['true', 'false', 'null', 'in', 'as', 'break', 'const', 'continue', 'else', 'for', 'function'],
  ...['if', 'import', 'let', 'loop', 'package', 'namespace', 'return', 'var', 'void', 'while'],
];

/** Features for which servers and the client-side validator must return the same causes. */
export const features: readonly Feature[] = [
  {
    title: 'texts',
    spec: s.object({
      plain: s.optional(s.string()),
      bounded: s.optional(s.string({ minLength: 2, maxLength: 4 })),
      pattern: s.optional(s.string({ pattern: '^[a-z]+(-[0-9]+)?$' })),
      choice: s.optional(s.string({ enum: ['One', 'Two'] })),
    }),
    cases: of(
      { plain: 'x', bounded: 'abc', pattern: 'ab-1', choice: 'One' },
      { plain: 1 },
      { plain: null },
      { bounded: 'a' },
      { bounded: 'abcde' },
      { bounded: '😀😀😀😀' },
      { pattern: 'A' },
      { choice: 'Three' },
      { choice: 1 },
      { plain: 1, bounded: 'a', pattern: '?', choice: '' },
      {},
      'text',
      [],
      null,
    ),
  },
  {
    title: 'numbers',
    spec: s.object({
      bounded: s.optional(s.integer({ minimum: 1, maximum: 9 })),
      exclusive: s.optional(
        s.number({ minimum: 0, maximum: 1, exclusiveMinimum: true, exclusiveMaximum: true }),
      ),
      multiple: s.optional(s.integer({ multipleOf: 5 })),
      choice: s.optional(s.integer({ enum: [1, 2] })),
      small: s.optional(s.integer({ format: 'int32' })),
    }),
    cases: of(
      { bounded: 1, exclusive: 0.5, multiple: 10, choice: 2, small: 1 },
      { bounded: 0 },
      { bounded: 10 },
      { bounded: 1.5 },
      { bounded: '1' },
      { exclusive: 0 },
      { exclusive: 1 },
      { exclusive: true },
      { multiple: 7 },
      { choice: 3 },
      { small: 2147483648 },
    ),
  },
  {
    title: 'formats',
    spec: s.map(s.string(), { maxProperties: 3 }),
    cases: of({ a: 'x' }, { a: 1 }, { a: 'x', b: 'y', c: 'z', d: 'w' }),
  },
  ...formatTexts.map(([format, texts]): Feature => ({
    title: `format ${format}`,
    spec: s.object({ text: s.string({ format }) }),
    cases: of(...texts.map((text) => ({ text }))),
  })),
  {
    title: 'objects and maps',
    spec: s.object(
      {
        needed: s.object({ inner: s.string() }),
        map: s.optional(s.map(s.integer(), { minProperties: 1, maxProperties: 2 })),
        free: s.optional(s.unknownObject()),
        any: s.optional(s.unknown()),
      },
      { maxProperties: 3 },
    ),
    cases: of(
      { needed: { inner: 'x' }, map: { a: 1 }, free: { a: [1, 'x'] } },
      {},
      { needed: {} },
      { needed: { inner: 'x', unknown: 1 }, unknown: { deep: 1 } },
      { needed: 'x' },
      { needed: { inner: 'x' }, map: {} },
      { needed: { inner: 'x' }, map: { a: 1, b: 2, c: 3 } },
      { needed: { inner: 'x' }, map: { a: 'x', 'b.c': 'y' } },
      { needed: { inner: 'x' }, free: 'x', any: 1 },
      { needed: { inner: 'x' }, map: { a: 1 }, free: {}, any: [] },
    ),
  },
  {
    title: 'lists',
    spec: s.object({
      atomic: s.optional(s.array(s.integer(), { minItems: 1, maxItems: 3 })),
      set: s.optional(s.array(s.string(), { listType: 'set' })),
      map: s.optional(listMap),
      ports: s.optional(
        s.array(s.object({ port: s.integer(), protocol: s.defaulted(s.string(), 'TCP') }), {
          listType: 'map',
          listMapKeys: ['port', 'protocol'],
        }),
      ),
    }),
    cases: of(
      { atomic: [1, 2], set: ['a', 'b'], map: [{ name: 'a' }, { name: 'b' }] },
      { atomic: [] },
      { atomic: [1, 2, 3, 4] },
      { atomic: [1, 'x', null] },
      { atomic: 'x' },
      { set: ['a', 'a', 'b', 'a'] },
      { map: [{ name: 'a' }, { name: 'a', value: 1 }] },
      { map: [{ value: 1 }] },
      { map: ['x'] },
      { ports: [{ port: 80 }, { port: 80, protocol: 'UDP' }] },
      { ports: [{ port: 80 }, { port: 80, protocol: 'TCP' }] },
    ),
  },
  {
    title: 'nulls and defaults',
    spec: s.object({
      nullable: s.optional(s.nullable(s.string())),
      plain: s.optional(s.string()),
      count: s.defaulted(s.integer({ minimum: 1 }), 3),
      nested: s.defaulted(s.object({ deep: s.defaulted(s.string(), 'd') }), {}),
      needed: s.nullable(s.string()),
    }),
    cases: of(
      { needed: null },
      { needed: 'x', nullable: null, plain: null, count: null },
      { count: 0, needed: 'x' },
      { nested: { deep: null }, needed: 'x' },
      { nested: null, needed: 'x' },
      {},
    ),
  },
  {
    title: 'unions',
    spec: s.object({
      percent: s.optional(s.intOrString({ pattern: '^[0-9]+%$' })),
      amount: s.optional(s.quantity()),
      one: s.optional(
        s.object(
          { a: s.optional(s.string()), b: s.optional(s.string()) },
          { oneOf: [{ required: ['a'] }, { required: ['b'] }] },
        ),
      ),
      some: s.optional(
        s.object(
          { a: s.optional(s.string()), b: s.optional(s.string()) },
          { anyOf: [{ required: ['a'] }, { required: ['b'] }] },
        ),
      ),
      not: s.optional(s.string({ not: { enum: ['no'] } })),
      both: s.optional(s.string({ allOf: [{ minLength: 2 }, { maxLength: 3 }] })),
    }),
    cases: of(
      { percent: 5, amount: '1Gi', one: { a: 'x' }, some: { b: 'y' }, not: 'yes', both: 'ab' },
      { percent: '5%' },
      { percent: '5' },
      { percent: true },
      { amount: 'x' },
      { amount: 1 },
      { one: {} },
      { one: { a: 'x', b: 'y' } },
      { some: {} },
      { not: 'no' },
      { both: 'a' },
      { both: 'abcd' },
    ),
  },
  {
    title: 'embedded resources',
    spec: s.object({ template: s.embeddedResource() }),
    cases: of(
      {
        template: {
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: { name: 'x' },
          data: { a: 'b' },
        },
      },
      { template: { kind: 'ConfigMap' } },
      { template: { apiVersion: '', kind: '' } },
      { template: 'x' },
      { template: { apiVersion: 'a/b/c', kind: 'Config_Map' } },
      { template: { apiVersion: 'apps/v1', kind: '1a' } },
      { template: { apiVersion: 'v1', kind: 'A', metadata: { name: 'a/b', namespace: 'A_b' } } },
      {
        template: {
          apiVersion: 'v1',
          kind: 'A',
          metadata: { name: 'Any name', generateName: 'a%' },
        },
      },
      { template: { apiVersion: 'v1', kind: 'A', metadata: { name: '..', namespace: 'a' } } },
      {
        template: {
          apiVersion: 'v1',
          kind: 'A',
          metadata: { labels: { 'bad key': 'bad value', 'a/b/c': '-', ok: 'x' }, name: '' },
        },
      },
      {
        template: {
          apiVersion: 'v1',
          kind: 'A',
          metadata: { annotations: { 'bad key': 'any text', Ok: '' } },
        },
      },
    ),
  },
  {
    title: 'built-in types',
    spec: s.object({
      template: s.optional(s.builtIn('PodTemplateSpec')),
      resources: s.optional(s.builtIn('ResourceRequirements')),
      env: s.optional(s.array(s.builtIn('EnvVar'), { listType: 'map', listMapKeys: ['name'] })),
      service: s.optional(s.builtIn('ServiceSpec')),
    }),
    cases: of(
      {
        template: {
          metadata: { labels: { app: 'x' } },
          spec: { containers: [{ name: 'a', ports: [{ containerPort: 80 }] }] },
        },
        resources: { requests: { cpu: 1, memory: '1Gi' } },
        env: [{ name: 'A', value: 'b' }],
        service: { ports: [{ port: 80, targetPort: 'http' }] },
      },
      { template: { spec: {} } },
      { template: { spec: { containers: [{}] } } },
      { template: { spec: { containers: [{ name: 'a' }, { name: 'a' }] } } },
      { resources: { requests: { cpu: 'much' } } },
      { env: [{ name: 'A' }, { name: 'A' }] },
      { service: { ports: [{ port: 80 }, { port: 80, protocol: 'TCP' }] } },
      { service: { ports: [{ port: 80 }, { port: 80, protocol: 'UDP' }] } },
    ),
  },
  {
    title: 'rules',
    spec: s.object(
      {
        min: s.integer(),
        max: s.integer(),
        name: s.optional(
          s.string({ maxLength: 20, rules: [{ rule: 'self != "no"', message: 'say yes' }] }),
        ),
        list: s.optional(
          s.array(s.integer({ rules: ['self > 0'] }), { maxItems: 4, rules: ['self.sum() < 10'] }),
        ),
        map: s.optional(
          s.map(s.integer({ rules: ['self < 5'] }), {
            maxProperties: 4,
            rules: ['self.all(k, k.size() < 3)'],
          }),
        ),
      },
      {
        rules: [
          'self.min <= self.max',
          {
            rule: 'self.max < 100',
            messageExpression: 'self.max > 150 ? "far too much" : "too much"',
            reason: 'FieldValueForbidden',
            fieldPath: '.max',
          },
          { rule: 'self.max != 50', message: 'not 50', reason: 'FieldValueRequired' },
          { rule: 'self.max != 51', message: 'not 51', reason: 'FieldValueDuplicate' },
          { rule: 'self.max / self.min < 50', message: 'ratio' },
          {
            rule: '!has(self.map) || !("bad" in self.map)',
            fieldPath: ".map['bad']",
            message: 'bad key',
          },
          { rule: 'self.max != 60', messageExpression: 'self.name', message: 'fallback' },
        ],
      },
    ),
    cases: of(
      { min: 1, max: 2, name: 'x', list: [1, 2], map: { a: 1 } },
      { min: 3, max: 2 },
      { min: 1, max: 200 },
      { min: 2, max: 50 },
      { min: 2, max: 51 },
      { min: 0, max: 51 },
      { min: 2, max: 60 },
      { min: 2, max: 60, name: 'from the name' },
      { min: 1, max: 2, name: 'no' },
      { min: 1, max: 2, list: [1, 0, -1] },
      { min: 1, max: 2, list: [9, 9] },
      { min: 1, max: 2, map: { a: 9, abc: 1 } },
      { min: 1, max: 2, map: { bad: 1 } },
      { min: 'x', max: 2 },
      { min: 5 },
      { min: 5, max: 2, name: 7 },
    ),
  },
  {
    title: 'reserved names in rules',
    spec: s.object(
      Object.fromEntries(reservedNames.map((name) => [name, s.string({ maxLength: 20 })])),
      { rules: reservedNames.map((name) => `self.__${name}__ == "${name}"`) },
    ),
    cases: of(
      Object.fromEntries(reservedNames.map((name) => [name, name])),
      Object.fromEntries(reservedNames.map((name) => [name, 'x'])),
    ),
  },
  {
    title: 'transition rules',
    spec: s.object(
      {
        kind: s.string({ maxLength: 20, rules: [{ rule: 'self == oldSelf', message: 'fixed' }] }),
        count: s.integer({
          rules: [
            {
              rule: '!oldSelf.hasValue() || self >= oldSelf.value()',
              message: 'only grows',
              optionalOldSelf: true,
            },
          ],
        }),
        list: s.optional(
          s.array(
            s.object({
              name: short,
              value: s.optional(
                s.integer({ rules: [{ rule: 'self >= oldSelf', message: 'entry only grows' }] }),
              ),
            }),
            { listType: 'map', listMapKeys: ['name'], maxItems: 5 },
          ),
        ),
        odd: s.optional(s.integer({ rules: [{ rule: 'self % 2 == 1', message: 'odd' }] })),
        inner: s.optional(
          s.object(
            { a: s.optional(s.integer()), b: s.optional(s.integer({ minimum: 5 })) },
            { rules: [{ rule: '!has(self.a) || self.a < 5', message: 'a is small' }] },
          ),
        ),
      },
      { rules: [{ rule: '!has(oldSelf.list) || has(self.list)', message: 'list stays' }] },
    ),
    cases: [
      { spec: { kind: 'a', count: 1 } },
      { spec: { kind: 'a', count: 1 }, old: { kind: 'a', count: 1 } },
      { spec: { kind: 'b', count: 0 }, old: { kind: 'a', count: 1 } },
      {
        spec: {
          kind: 'a',
          count: 1,
          list: [
            { name: 'y', value: 1 },
            { name: 'x', value: 1 },
          ],
        },
        old: { kind: 'a', count: 1, list: [{ name: 'x', value: 2 }] },
      },
      { spec: { kind: 'a', count: 1 }, old: { kind: 'a', count: 1, list: [{ name: 'x' }] } },
      { spec: { kind: 'a', count: 1, odd: 2 }, old: { kind: 'a', count: 1, odd: 1 } },
      { spec: { kind: 'a', count: 1, odd: 2 } },
    ],
  },
];

/** Defines the resource of a feature. */
export function featureResource({ spec, title }: Feature, group: string) {
  const kind = `F${title.replaceAll(/[^a-z0-9]/g, '')}`;
  const plural = `${kind.toLowerCase()}s`;
  return defineResource({
    ...{ group, kind, plural },
    versions: [{ name: 'v1', schema: s.object({ spec }), status: s.unknownObject() }],
  });
}
