import { inspect } from 'node:util';
import { expect } from 'chai';
import { added, listed, object, pipelineOf, removed, updated } from './pipelines.js';
import type { Document } from '../../../lib/declarative/document.js';

/** Returns the result of a pipeline for documents added at once. */
function resultOf(stages: unknown, ...documents: readonly Document[]): Document[] {
  const pipeline = pipelineOf(stages);
  pipeline.push('Pod', added(...documents));
  return listed(pipeline.snapshot());
}

const a = object('default/a', { spec: { a: 1, b: { c: 2 } }, c: 'c' });
const b = object('default/b', { spec: { a: 2, b: { c: 3 } }, d: 'd' });

describe('a pipeline without stages', () => {
  for (const stages of [[], undefined, null]) {
    it(`returns its input unchanged if it is ${inspect(stages)}`, () => {
      expect(resultOf(stages, a, b)).to.deep.equal([a, b]);
    });
  }
});

describe('@select', () => {
  it('keeps documents unchanged where the condition holds', () => {
    const select = { '@select': { '@eq': ['$.metadata.name', 'a'] } };
    expect(resultOf(select, a, b)).to.deep.equal([a]);
  });

  it('drops documents without the compared field', () => {
    expect(resultOf({ '@select': { '@eq': ['$.spec.x', true] } }, a)).to.deep.equal([]);
  });

  it('turns an update into a delete when the condition stops holding, and into an add when it holds again', () => {
    const pipeline = pipelineOf([{ '@select': { '@eq': ['$.spec.b', 1] } }]);
    const [one, two, three] = [1, 2, 3].map((value) => object('ns/x', { spec: { b: value } }));
    if (!one || !two || !three) throw new Error('three');
    const weights = (from: Document, to: Document) =>
      pipeline.push('Pod', updated(from, to)).map(({ weight }) => weight);
    pipeline.push('Pod', added(one));
    expect(weights(one, two)).to.deep.equal([-1]);
    expect(weights(two, three)).to.deep.equal([]);
    expect(weights(three, one)).to.deep.equal([1]);
  });
});

describe('@project', () => {
  it('builds a new document', () => {
    const project = { '@project': { metadata: '$.metadata', old: '$.spec.a' } };
    expect(resultOf(project, a)).to.deep.equal([{ metadata: a['metadata'], old: 1 }]);
  });

  it('evaluates each map of a list on the input document and merges the results', () => {
    const project = {
      '@project': [
        { metadata: { name: 'name2' } },
        { '$.metadata.namespace': 'default2' },
        { '$.spec.a': '$.spec.b' },
      ],
    };
    expect(resultOf(project, a)).to.deep.equal([
      { metadata: { name: 'name2', namespace: 'default2' }, spec: { a: { c: 2 } } },
    ]);
  });

  it('returns equal results of two documents twice', () => {
    expect(resultOf({ '@project': { same: true } }, a, b)).to.have.length(2);
  });
});

for (const stage of ['@unwind', '@demux']) {
  describe(stage, () => {
    it('creates a document for each element, with its index in the name', () => {
      const document = object('default/name', { spec: { list: [1, 'a', true], more: 1 } });
      expect(resultOf([{ [stage]: '$.spec.list' }], document)).to.deep.equal([
        object('default/name-0', { spec: { list: 1, more: 1 } }),
        object('default/name-1', { spec: { list: 'a', more: 1 } }),
        object('default/name-2', { spec: { list: true, more: 1 } }),
      ]);
    });

    it('unwinds nested lists', () => {
      const document = object('default/name', {
        spec: {
          list: [
            [1, 2, 3],
            [5, 6],
          ],
        },
      });
      const nested = resultOf([{ [stage]: '$.spec.list' }, { [stage]: '$.spec.list' }], document);
      expect(nested).to.deep.equal([
        object('default/name-0-0', { spec: { list: 1 } }),
        object('default/name-0-1', { spec: { list: 2 } }),
        object('default/name-0-2', { spec: { list: 3 } }),
        object('default/name-1-0', { spec: { list: 5 } }),
        object('default/name-1-1', { spec: { list: 6 } }),
      ]);
    });

    for (const spec of [{}, { list: [] }, { list: null }]) {
      it(`creates no documents for ${JSON.stringify(spec)}`, () => {
        const pipeline = pipelineOf([{ [stage]: '$.spec.list' }]);
        expect(pipeline.push('Pod', added(object('default/name', { spec })))).to.deep.equal([]);
        expect([...pipeline.failures()]).to.deep.equal([]);
      });
    }

    it('leaves documents without a name unnamed', () => {
      for (const metadata of [undefined, null, 'text', {}, { name: 1 }]) {
        const results = resultOf([{ [stage]: '$.list' }], { metadata, list: ['a', null] });
        expect(results).to.have.deep.members([
          { metadata, list: 'a' },
          { metadata, list: null },
        ]);
      }
    });

    it('drops a document whose value is not a list, and reports a failure', () => {
      const pipeline = pipelineOf([{ [stage]: '$.spec.list' }]);
      pipeline.push('Pod', added(object('default/name', { spec: { list: 'text' } })));
      expect(pipeline.snapshot()).to.deep.equal([]);
      const [failure] = pipeline.failures();
      expect(failure).to.include({ stage, subject: 'default/name' });
      expect(failure?.error.message).to.equal(`${stage}: want a list, got "text"`);
    });

    it('changes only the results of changed elements', () => {
      const pipeline = pipelineOf([
        { [stage]: '$.spec.list' },
        { '@project': { metadata: { name: '$.spec.list' } } },
      ]);
      const [before, after] = [
        ['a', 'b', 'c'],
        ['c', 'd'],
      ].map((list) => object('default/name', { spec: { list } }));
      pipeline.push('Pod', added(before ?? {}));
      const changes = pipeline.push('Pod', updated(before ?? {}, after ?? {}));
      expect(changes.map(({ weight, document }) => [weight, document])).to.deep.equal([
        [-1, { metadata: { name: 'a' } }],
        [-1, { metadata: { name: 'b' } }],
        [1, { metadata: { name: 'd' } }],
      ]);
    });
  });
}

for (const stage of ['@gather', '@mux']) {
  describe(stage, () => {
    it('creates a document for each key, with the sorted values as a list', () => {
      const gather = [{ [stage]: ['$.metadata.namespace', '$.spec.a'] }];
      const other = object('other/c', { spec: { a: 3 } });
      expect(resultOf(gather, b, other, a)).to.deep.equal([
        { ...a, spec: { a: [1, 2], b: { c: 2 } } },
        { ...other, spec: { a: [3] } },
      ]);
    });

    it('copies the other fields of a result from the document with the lowest name, in whatever order documents arrive', () => {
      const gather = [{ [stage]: ['$.k', '$.v'] }];
      const documents = ['ns/b', 'ns/a', 'ns/a-1', 'ms/a'].map((key, v) =>
        object(key, { k: 1, v }),
      );
      const [result] = resultOf(gather, ...documents);
      expect(result).to.deep.equal(object('ms/a', { k: 1, v: [0, 1, 2, 3] }));
      expect(resultOf(gather, ...documents.reverse())).to.deep.equal([result]);
    });

    it('copies the other fields of a result from the document in the lowest namespace if names are equal', () => {
      const [low, high] = [object('a/x', { aa: 2, v: 1 }), object('b/x', { aa: 1, v: 1 })];
      expect(resultOf({ [stage]: ['$.v', '$.v'] }, high, low)).to.deep.equal([
        { ...low, v: [1, 1] },
      ]);
    });

    it('keeps a document that was added twice in its group until it is removed twice', () => {
      const pipeline = pipelineOf([{ [stage]: ['x', '$.spec.a'] }]);
      const gathered = (values: readonly number[], from: Document) => [
        { ...from, spec: { ...(from['spec'] as object), a: values } },
      ];
      pipeline.push('Pod', added(a, b));
      pipeline.push('Pod', added(a));
      expect(listed(pipeline.snapshot())).to.deep.equal(gathered([1, 1, 2], a));
      pipeline.push('Pod', removed(a));
      expect(listed(pipeline.snapshot())).to.deep.equal(gathered([1, 2], a));
      pipeline.push('Pod', removed(a));
      expect(listed(pipeline.snapshot())).to.deep.equal(gathered([2], b));
    });

    it('sorts values of all types', () => {
      const values = [10, 9, 'b', 'B', { z: 1 }, { a: 2 }, [2], true, false, -1];
      const documents = values.map((v, number) => object(`ns/n${number}`, { v }));
      const [result] = resultOf([{ [stage]: ['x', '$.v'] }], ...documents);
      const sorted = [false, true, -1, 9, 10, 'B', 'b', [2], { a: 2 }, { z: 1 }];
      expect(result?.['v']).to.deep.equal(sorted);
    });

    it('keeps equal values of several documents', () => {
      const documents = [{ v: 1 }, { v: 1 }].map((members, number) =>
        object(`ns/n${number}`, members),
      );
      const [result] = resultOf([{ [stage]: ['x', '$.v'] }], ...documents);
      expect(result).to.deep.equal(object('ns/n0', { v: [1, 1] }));
    });

    it('drops documents without a key or a value, and includes a document when it gets both', () => {
      const bare = [{}, { k: null }, { k: 'x', v: null }, { k: 'x' }, { v: 1 }, { k: null, v: 1 }];
      const documents = bare.map((members, number) => object(`ns/n${number}`, members));
      const gather = [{ [stage]: ['$.k', '$.v'] }];
      expect(resultOf(gather, ...documents)).to.deep.equal([]);
      const pipeline = pipelineOf(gather);
      const complete = object('ns/n3', { k: 'x', v: 7 });
      const missing = documents[3]!;
      pipeline.push('Pod', added(missing));
      pipeline.push('Pod', updated(missing, complete));
      expect(listed(pipeline.snapshot())).to.deep.equal([object('ns/n3', { k: 'x', v: [7] })]);
      pipeline.push('Pod', updated(complete, missing));
      expect(listed(pipeline.snapshot())).to.deep.equal([]);
    });

    it('can write the list of values into an item of a list', () => {
      const gather = [{ [stage]: ['x', '$.list[1]'] }];
      const documents = ['b', 'a'].map((v) => object(`ns/${v}`, { list: [0, v, 2] }));
      expect(resultOf(gather, ...documents)).to.deep.equal([
        object('ns/a', { list: [0, ['a', 'b'], 2] }),
      ]);
    });

    it('updates and removes a map with a null in a list of 70 values', () => {
      const pipeline = pipelineOf([{ [stage]: ['x', '$.v'] }]);
      const numbers = Array.from({ length: 70 }, (_, v) => object(`ns/n${v + 100}`, { v }));
      const odd = (value: unknown): Document => object('ns/odd', { v: { a: null, value } });
      const values = () => listed(pipeline.snapshot()).map(({ v }) => (v as unknown[]).slice(69));
      pipeline.push('Pod', added(...numbers));
      expect(values()).to.deep.equal([[69]]);
      pipeline.push('Pod', added(odd(1)));
      expect(values()).to.deep.equal([[69, { a: null, value: 1 }]]);
      pipeline.push('Pod', updated(odd(1), odd(2)));
      expect(values()).to.deep.equal([[69, { a: null, value: 2 }]]);
      pipeline.push('Pod', removed(odd(2)));
      expect(values()).to.deep.equal([[69]]);
      pipeline.push('Pod', updated(numbers[69]!, object('ns/n169', { v: 99 })));
      expect(values()).to.deep.equal([[99]]);
    });

    it('treats results as different that differ only in long lists of values', () => {
      const project = { '@project': { list: '$.spec.a' } };
      const pipeline = pipelineOf([{ [stage]: ['$.metadata.namespace', '$.spec.a'] }, project]);
      const valuesOf = (namespace: string, from: number) =>
        Array.from({ length: 70 }, (_, n) =>
          object(`${namespace}/${n}`, { spec: { a: from + n } }),
        );
      pipeline.push('Pod', added(...valuesOf('one', 100), ...valuesOf('two', 200)));
      const firsts = () =>
        listed(pipeline.snapshot()).map(({ list }) => (list as readonly number[])[0]);
      expect(firsts()).to.deep.equal([100, 200]);
      pipeline.push('Pod', removed(...valuesOf('two', 200)));
      pipeline.push('Pod', added(...valuesOf('two', 300)));
      expect(firsts()).to.deep.equal([100, 300]);
      // Both changes are in one push, so that the list is long before and after it.
      pipeline.push('Pod', [
        ...removed(...valuesOf('two', 300)),
        ...added(...valuesOf('two', 100)),
      ]);
      expect(pipeline.snapshot().map(({ weight }) => weight)).to.deep.equal([2]);
    });

    it('copies the other fields of a result from a document without a name, if there is one', () => {
      const gather = [{ [stage]: ['x', '$.v'] }];
      const unnamed = { metadata: { namespace: 'ns' }, v: 2 };
      expect(resultOf(gather, object('ns/a', { v: 1 }), unnamed)).to.deep.equal([
        { metadata: { namespace: 'ns' }, v: [1, 2] },
      ]);
      const bare = { v: 3 };
      expect(resultOf(gather, unnamed, bare, object('ns/a', { v: 1 }))).to.deep.equal([
        { v: [1, 2, 3] },
      ]);
    });

    it('updates and deletes a group as its members change', () => {
      const pipeline = pipelineOf([
        { [stage]: ['$.metadata.namespace', '$.spec.a'] },
        { '@project': { metadata: { name: 'gathered' }, list: '$.spec.a' } },
      ]);
      const changed = object('default/a', { spec: { a: 3 } });
      const steps = [added(a), added(b), updated(a, changed), removed(changed), removed(b)];
      const lists = steps.map((deltas) =>
        pipeline.push('Pod', deltas).map(({ weight, document }) => [weight, document['list']]),
      );
      expect(lists).to.deep.equal([
        [[1, [1]]],
        [
          [-1, [1]],
          [1, [1, 2]],
        ],
        [
          [-1, [1, 2]],
          [1, [2, 3]],
        ],
        [
          [-1, [2, 3]],
          [1, [2]],
        ],
        [[-1, [2]]],
      ]);
    });

    it('returns no change when only fields outside of its result change', () => {
      const pipeline = pipelineOf([{ [stage]: ['$.metadata.namespace', '$.spec.a'] }]);
      pipeline.push('Pod', added(a, b));
      expect(pipeline.push('Pod', updated(b, { ...b, d: 'e' }))).to.deep.equal([]);
    });

    it('drops a document that has no map at the path for the list, and reports a failure', () => {
      const pipeline = pipelineOf([{ [stage]: ['x', '$.spec.a'] }]);
      const misfit = object('default/_', { spec: 'text' });
      pipeline.push('Pod', added(misfit, a));
      expect(listed(pipeline.snapshot())).to.deep.equal([{ ...a, spec: { a: [1], b: { c: 2 } } }]);
      expect([...pipeline.failures()].map(({ subject }) => subject)).to.deep.equal(['default/_']);
      pipeline.push('Pod', removed(misfit));
      expect([...pipeline.failures()]).to.deep.equal([]);
    });
  });
}

describe('@unwind and @gather', () => {
  it('together yield the original list again, in a document whose name stays the same', () => {
    const pipeline = pipelineOf([
      { '@unwind': '$.spec.list' },
      { '@gather': ['$.spec.id', '$.spec.list'] },
    ]);
    const of = (list: readonly number[]) => object('default/name', { spec: { id: 7, list } });
    const results = [[1], [1, 2], [2, 3], [2], []].map((list, number, lists) => {
      const before = lists[number - 1];
      pipeline.push('Pod', [...(before ? removed(of(before)) : []), ...added(of(list))]);
      return listed(pipeline.snapshot());
    });
    const gathered = (list: readonly number[]) => [
      object('default/name-0', { spec: { id: 7, list } }),
    ];
    expect(results).to.deep.equal([[1], [1, 2], [2, 3], [2]].map(gathered).concat([[]]));
  });
});
