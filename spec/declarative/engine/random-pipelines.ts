import fc from 'fast-check';
import type { Document } from '../../../lib/declarative/document.js';
import type { Delta } from '../../../lib/declarative/engine/z-set.js';

/** Changes of one source. */
export interface Batch {
  readonly source: string;
  readonly deltas: readonly Delta[];
}

/** A pipeline over sources, with batches of changes. */
export interface Scenario {
  readonly kinds: readonly string[];
  readonly stages: readonly unknown[];
  readonly batches: readonly Batch[];
}

const small = fc.nat(1);

// There are few values, so that documents match. Some are missing or of another type, so that expressions fail.
export const randomSpec = fc.record(
  {
    x: fc.oneof(
      { weight: 6, arbitrary: small },
      fc.constantFrom<unknown>(null, 'text', '1', { ['__proto__']: 1 }, { é: [1] }),
    ),
    y: small,
    list: fc.oneof(
      { weight: 5, arbitrary: fc.array(small, { maxLength: 3 }) },
      fc.array(fc.array(small, { maxLength: 2 }), { maxLength: 2 }),
      fc.constantFrom<unknown>('no list', [null, '0', { ['__proto__']: 0 }]),
    ),
  },
  { requiredKeys: ['y'] },
);

const object: fc.Arbitrary<Document> = fc.record({
  metadata: fc.record({
    namespace: fc.constantFrom('n', 'n', 'n', 'm'),
    name: fc.constantFrom('a', 'b'),
  }),
  spec: randomSpec,
});

function valueOf(root: string): fc.Arbitrary<unknown> {
  const fields = ['metadata.name', 'metadata.namespace', 'spec.x', 'spec.y'];
  const paths = fields.map((field) => `${root}.${field}`);
  return fc.oneof(
    { weight: 5, arbitrary: fc.constantFrom(...paths) },
    // This expression fails if x is missing or not a number.
    fc.constant({ '@add': [`${root}.spec.x`, 1] }),
    fc.constant({ '@concat': [`${root}.metadata.namespace`, `${root}.spec.x`] }),
  );
}

/** A condition over two values, possibly of the same object. */
function conditionOf(roots: readonly string[]): fc.Arbitrary<unknown> {
  const root = fc.constantFrom(...roots);
  const value = root.chain(valueOf);
  const pair = fc.tuple(value, value);
  return fc.oneof(
    { weight: 6, arbitrary: pair.map((operands) => ({ '@eq': operands })) },
    {
      weight: 2,
      arbitrary: fc.tuple(value, root).map(([v, r]) => ({ '@in': [v, `${r}.spec.list`] })),
    },
    pair.map((operands) => ({ '@or': [{ '@eq': operands }, { '@lt': operands }] })),
    pair.map((operands) => ({ '@not': { '@eq': operands } })),
    // `@now` stands still here, but the engine keeps the result, because `@now` may differ in each evaluation.
    pair.map((operands) => ({ '@or': [{ '@eq': operands }, { '@eq': ['@now', ''] }] })),
    root.map((r) => ({ '@exists': `${r}.spec.x` })),
    root.map((r) => ({ '@gt': [`${r}.spec.x`, 0] })),
    fc.constant(true),
  );
}

/** Returns a join that compares each source with an earlier one. Further conditions may exclude everything. */
function joinOf(kinds: readonly string[]): fc.Arbitrary<unknown> {
  const roots = kinds.map((kind) => `$.${kind}`);
  const ties = roots
    .slice(1)
    .map((root, number) =>
      fc
        .tuple(fc.constantFrom(...roots.slice(0, number + 1)), fc.boolean(), tie)
        .map(([other, turned, tied]) => (turned ? tied(root, other) : tied(other, root))),
    );
  const extra = conditionOf(roots);
  const nested = fc
    .array(extra, { minLength: 1, maxLength: 2 })
    .map((parts) => ({ '@and': parts }));
  const extras = fc.array(fc.oneof({ weight: 3, arbitrary: extra }, nested), { maxLength: 2 });
  return fc.tuple(fc.tuple(...ties), fc.oneof(fc.constant([]), extras)).chain(([all, others]) => {
    const [only = true, ...more] = [...all, ...others];
    if (more.length === 0) return fc.constant({ '@join': only });
    return fc.shuffledSubarray([only, ...more], { minLength: more.length + 1 }).map((parts) => ({
      '@join': { '@and': parts },
    }));
  });
}

const tie: fc.Arbitrary<(one: string, other: string) => unknown> = fc.constantFrom(
  (one: string, other: string) => ({
    '@eq': [`${one}.metadata.namespace`, `${other}.metadata.namespace`],
  }),
  (one: string, other: string) => ({ '@eq': [`${one}.spec.y`, `${other}.spec.y`] }),
  (one: string, other: string) => ({ '@in': [`${one}.spec.y`, `${other}.spec.list`] }),
  (one: string, other: string) => ({ '@lte': [`${one}.spec.y`, `${other}.spec.y`] }),
  (one: string, other: string) => ({
    '@and': [
      { '@eq': [`${one}.metadata.name`, `${other}.metadata.name`] },
      { '@eq': [`${other}.metadata.namespace`, `${one}.metadata.namespace`] },
    ],
  }),
);

/** Returns a stage that projects the result of a join to an object. */
function flattened(kinds: readonly string[]): unknown {
  const [first = '', last = first] = [kinds[0], kinds.at(-1)];
  const names = kinds.map((kind) => `$.${kind}.metadata.name`);
  return {
    '@project': {
      metadata: { name: { '@concat': names }, namespace: `$.${first}.metadata.namespace` },
      spec: {
        x: `$.${first}.spec.x`,
        y: `$.${last}.spec.y`,
        list: `$.${last}.spec.list`,
      },
    },
  };
}

const stage: fc.Arbitrary<unknown> = fc.oneof(
  conditionOf(['$']).map((condition) => ({ '@select': condition })),
  fc.constantFrom<unknown>(
    { '@project': { metadata: '$.metadata', spec: { x: '$.spec.y', y: 1, list: '$.spec.list' } } },
    { '@project': [{ '$.': '$.' }, { '$.spec.x': { '@add': ['$.spec.x', '$.spec.y'] } }] },
    { '@project': { metadata: { name: '$.spec.y' }, spec: '$.spec' } },
    { '@project': { metadata: '$.metadata', at: '@now', spec: { y: { '@rnd': [0, 1] } } } },
    { '@project': [{ '$.': '$.' }, { spec: { list: ['$.spec.x'] } }] },
    { '@project': { '@merge': { "$['spec']['__proto__']": '$.spec.x' } } },
    { '@gather': [{ '@concat': ['@now', '$.spec.y'] }, '$.spec.list'] },
    { '@unwind': '$.spec.list' },
    { '@demux': '$.spec.list' },
    { '@unwind': '$.spec.x' },
  ),
  fc
    .tuple(
      valueOf('$'),
      fc.constantFrom('$.spec.x', '$.spec.list', '$.gathered.all', '$.spec.x.in'),
    )
    .map((operands) => ({ '@gather': operands })),
);

const deltas = fc.array(fc.record({ document: object, weight: fc.constantFrom(1, 1, 1, 2, -1) }), {
  minLength: 1,
  maxLength: 4,
});

/** Batches that tend to undo earlier ones. */
function batchesOf(kinds: readonly string[]): fc.Arbitrary<Batch[]> {
  const batch = fc.record({ source: fc.constantFrom(...kinds), deltas });
  const batches = fc.array(fc.record({ batch, undo: fc.boolean() }), { maxLength: 7 });
  const first = fc.tuple(...kinds.map(() => fc.array(object, { minLength: 1, maxLength: 4 })));
  return fc.tuple(first, batches).map(([firsts, all]) => {
    const result: Batch[] = kinds.map((source, number) => ({
      source,
      deltas: (firsts[number] ?? []).map((document) => ({ document, weight: 1 })),
    }));
    result.push(...all.map((each) => each.batch));
    for (const [number, { batch: done, undo }] of all.entries()) {
      if (!undo || number % 2 === 0) continue;
      const back = done.deltas.map(({ document, weight }) => ({ document, weight: -weight }));
      result.push({ source: done.source, deltas: back });
    }
    return result;
  });
}

/** A random pipeline over this number of sources, with random changes of them. */
export function scenario(sources: number): fc.Arbitrary<Scenario> {
  const kinds = ['A', 'B', 'C', 'D'].slice(0, sources);
  const more = fc.array(stage, { maxLength: 3 });
  const joined = fc
    .tuple(joinOf(kinds), more)
    .map(([join, stages]) => [join, flattened(kinds), ...stages]);
  // A pipeline over one source sometimes has no join, and sometimes only a join.
  const stages = sources === 1 ? fc.oneof(more, joined) : joined;
  return fc.record({ kinds: fc.constant(kinds), stages, batches: batchesOf(kinds) });
}
