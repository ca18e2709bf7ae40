import { expect } from 'chai';
import type { UnstructuredObject } from '../../lib/object/kubernetes-object.js';
import { StrategicMergePatchError } from '../../lib/object/strategic-merge-errors.js';
import { applyStrategicMergePatch } from '../../lib/object/strategic-merge-patch.js';
import { recordings } from '../apiserver/structured-merge/scenarios/recording.js';
import type { RecordedStep, Recording } from '../apiserver/structured-merge/scenarios/recording.js';
import { expectSameObject } from '../apiserver/structured-merge/scenarios/same-object.js';
import { typeOf } from '../apiserver/structured-merge/scenarios/scenario-types.js';

type Fields = Record<string, unknown>;

describe('applyStrategicMergePatch on recorded responses of a real server', () => {
  for (const recording of recordings('strategic')) {
    it(recording.title, () => {
      let live: UnstructuredObject | undefined;
      for (const [index, step] of recording.steps.entries()) {
        live = step.before ?? live;
        if (live !== undefined) replay(recording, step, { live, where: `step ${index}` });
        if (step.after !== undefined && step.after !== 'same') live = step.after;
      }
    });
  }
});

function replay(
  { on }: Recording,
  { body, error, after }: RecordedStep,
  { live, where }: { live: UnstructuredObject; where: string },
): void {
  const { schema, decode } = typeOf(on);
  const before = JSON.stringify(live);
  const patch = () => applyStrategicMergePatch(live, body as Fields, schema);
  // Validation, which comes later, returns the 422.
  if (error?.code === 422) return;
  if (error !== undefined) {
    expect(patch, where).to.throw(StrategicMergePatchError, error.message);
    expect(patch, where).to.throw().with.property('status', error.code);
    return;
  }
  const stored = after === 'same' ? live : after!;
  expectSameObject(decode(patch() as unknown as UnstructuredObject), stored, { where, live });
  expect(JSON.stringify(live), where).to.equal(before);
}

describe('applyStrategicMergePatch', () => {
  const byName = {
    type: 'array' as const,
    items: { type: 'object' as const },
    'x-kubernetes-patch-strategy': 'merge',
    'x-kubernetes-patch-merge-key': 'name',
  };
  const scalars = { type: 'array' as const, 'x-kubernetes-patch-strategy': 'merge' };
  const schema = { properties: { entries: byName, names: scalars } };
  const merged = (original: Fields, patch: Fields) =>
    applyStrategicMergePatch(original, patch, schema);

  it('without a schema, merges objects and replaces lists', () => {
    const original = { a: { b: 1, c: [1, 2] } };
    const result = applyStrategicMergePatch(original, { a: { c: [3], d: null } }, undefined);
    expect(result).to.deep.equal({ a: { b: 1, c: [3] } });
  });

  it('removes nulls and directives from objects that it adds', () => {
    const patch = {
      a: { b: null, c: [{ d: null, e: 1 }, { $patch: 'delete' }] },
      f: { $patch: 'x' },
    };
    expect(merged({}, patch)).to.deep.equal({ a: { c: [{ e: 1 }] } });
  });

  it('returns an object that shares its unchanged parts with the original, and modifies neither argument', () => {
    const original = Object.freeze({ a: Object.freeze({ x: 1 }), b: Object.freeze({ y: 1 }) });
    const patch = Object.freeze({ b: Object.freeze({ y: null, z: 2 }) });
    const result = merged(original, patch);
    expect(result).to.deep.equal({ a: { x: 1 }, b: { z: 2 } });
    expect(result['a']).to.equal(original.a);
  });

  it('keeps list entries that $setElementOrder does not name in their place', () => {
    const original = { entries: ['a', 'b', 'c', 'd'].map((name) => ({ name })) };
    const order = [{ name: 'd' }, { name: 'b' }];
    const { entries } = merged(original, { '$setElementOrder/entries': order });
    // `a` and `c` precede `d`, the first named entry.
    expect(entries).to.deep.equal(['a', 'c', 'd', 'b'].map((name) => ({ name })));
  });

  it('counts the positions of deleted list entries when it inserts added entries', () => {
    // Observed on the real server, which deletes and adds within one array.
    const original = { entries: ['a', 'b', 'c'].map((name) => ({ name })) };
    const order = ['b', 'd', 'e'].map((name) => ({ name }));
    const entries = [{ name: 'b', $patch: 'delete' }, { name: 'd' }, { name: 'e' }];
    const result = merged(original, { '$setElementOrder/entries': order, entries });
    expect(result['entries']).to.deep.equal(['a', 'c', 'd', 'e'].map((name) => ({ name })));
    const added = merged(original, {
      '$setElementOrder/entries': order.slice(1),
      entries: order.slice(1),
    });
    expect(added['entries']).to.deep.equal(['d', 'e', 'a', 'b', 'c'].map((name) => ({ name })));
  });

  it('rejects $setElementOrder for a field that is not a list', () => {
    const patch = { '$setElementOrder/names': ['a'] };
    expect(() => merged({ names: 'x' }, patch)).to.throw('expected a []interface {}');
  });

  const rows: readonly [original: Fields, patch: Fields, result: Fields | string][] = [
    // Lists of scalars: each item occurs once, and the last item takes the place of a repeated one.
    [{ names: ['a', 'b'] }, { names: ['b', 'c'] }, { names: ['a', 'b', 'c'] }],
    [{ names: ['a', 'b', 'c'] }, { names: ['a'] }, { names: ['a', 'b', 'c'] }],
    [{ names: ['a', 'b'] }, { names: ['c', 'a', 'd', 'e'] }, { names: ['c', 'a', 'd', 'e', 'b'] }],
    [{ names: ['a', 'b', 'a', 'c'] }, { names: ['d'] }, { names: ['d', 'a', 'b', 'c'] }],
    [{ names: [1] }, { names: [2.5] }, 'list element types are not identical: [[1] [2.5]]'],
    [{ names: [1] }, { names: ['a'] }, 'list element types are not identical: [[1] [a]]'],
    [{ names: [1.5] }, { names: [2.5] }, { names: [2.5, 1.5] }],
    [{ names: [1] }, { names: [null] }, 'list element types are not identical'],
    [{ names: [] }, { names: [] }, { names: [] }],
    [{ names: ['a'] }, { names: [] }, { names: ['a'] }],
    [{ names: [] }, { names: ['a'] }, { names: ['a'] }],
    [{ names: ['a', 'b'] }, { '$deleteFromPrimitiveList/names': ['a'] }, { names: ['b'] }],
    [{}, { '$deleteFromPrimitiveList/names': ['a'] }, {}],
    [{ names: 'x' }, { '$deleteFromPrimitiveList/names': ['a'] }, { names: 'x' }],
    [{}, { $deleteFromPrimitiveListnames: ['a'] }, 'invalid patch format of primitive list'],
    [{}, { '$deleteFromPrimitiveListX/names': ['a'] }, 'invalid patch format of primitive list'],
    [{}, { $setElementOrder: [] }, 'invalid patch format of setElementOrder list'],
    [
      {},
      { '$setElementOrder/names': null },
      'expected a []interface {}, but received a %!s(<nil>)',
    ],
    [{}, { '$setElementOrder/names': 1 }, 'expected a []interface {}, but received a int64'],
    [{ names: ['a', 'b'] }, { '$setElementOrder/names': ['b', 'a'] }, { names: ['b', 'a'] }],
    [
      { names: ['a', 'b'] },
      { '$setElementOrder/names': ['c', 'b', 'a'], names: ['c'] },
      { names: ['c', 'b', 'a'] },
    ],
    [
      { names: ['a'] },
      { '$setElementOrder/names': ['b', 'c'], names: ['c', 'b'] },
      "The order in patch list:\n[c b]\n doesn't match $setElementOrder list:\n[b c]\n",
    ],
    [{}, { '$setElementOrder/names': ['b'] }, {}],
    // The sort of the real server reverses entries that neither the order nor the live list names.
    [
      { names: [] },
      { '$setElementOrder/names': [], names: ['a', 'b', 'c'] },
      { names: ['c', 'b', 'a'] },
    ],
    [
      { names: ['x', 'y'] },
      { '$setElementOrder/names': [], names: ['a', 'b'] },
      { names: ['x', 'y', 'b', 'a'] },
    ],
    [
      { plain: [{ x: 1 }] },
      { '$setElementOrder/plain': [], plain: [] },
      'map: map[x:1] does not contain declared merge key: ',
    ],
    [{}, { '$setElementOrder/names': ['b'], names: ['b'] }, { names: ['b'] }],
    // Lists of maps with a merge key.
    [
      { entries: [{ name: 'a', x: 1 }, { name: 'b' }] },
      { entries: [{ name: 'a', y: 2 }] },
      { entries: [{ name: 'a', x: 1, y: 2 }, { name: 'b' }] },
    ],
    [
      { entries: [{ name: 'a' }, { name: 'b' }] },
      { entries: [{ $patch: 'delete', name: 'a' }] },
      { entries: [{ name: 'b' }] },
    ],
    [
      { entries: [{ name: 'a' }] },
      { entries: [{ $patch: 'replace' }, { name: 'b' }] },
      { entries: [{ name: 'b' }] },
    ],
    [
      { entries: [{ name: 'a' }] },
      { entries: [{ $patch: 'merge', name: 'a' }] },
      'merging lists cannot yet be specified in the patch',
    ],
    [
      { entries: [{ name: 'a' }] },
      { entries: [{ $patch: 'x', name: 'a' }] },
      'unknown patch type: x in map: map[$patch:x name:a]',
    ],
    [
      { entries: [{ name: 'a' }] },
      { entries: [{ x: 1 }] },
      'map: map[x:1] does not contain declared merge key: name',
    ],
    [
      { entries: [{ name: 'a' }] },
      { '$setElementOrder/entries': [{ name: 'a' }], entries: ['a'] },
      'expected a map[string]interface {}, but received a string',
    ],
    [
      { entries: [{ name: 'a' }, { name: 'b' }] },
      {
        '$setElementOrder/entries': [{ name: 'c' }, { name: 'b' }],
        entries: [{ $patch: 'delete', name: 'a' }, { name: 'c' }],
      },
      { entries: [{ name: 'c' }, { name: 'b' }] },
    ],
    // Directives of maps.
    [{ m: { a: 1 } }, { m: { $patch: 'delete' } }, { m: {} }],
    [{ m: { a: 1 } }, { m: { $patch: 'replace', b: 2 } }, { m: { b: 2 } }],
    [{ m: { a: 1 } }, { m: { $patch: 'x' } }, 'unknown patch type: x in map: map[$patch:x]'],
    [{ m: { a: 1, b: 2 } }, { m: { $retainKeys: ['b', 'c'], c: 3 } }, { m: { b: 2, c: 3 } }],
    [{ m: { a: 1, b: 2 } }, { m: { $retainKeys: ['b'], a: null } }, { m: { b: 2 } }],
    [{ m: { a: 1 } }, { m: { $retainKeys: ['b'], a: 2 } }, 'invalid patch format of retainKeys'],
    [{ m: { a: 1 } }, { m: { $retainKeys: 'b' } }, 'invalid patch format of retainKeys'],
    [
      { names: ['a', 'b'], x: 1 },
      { $retainKeys: ['names'], '$setElementOrder/names': ['b', 'a'] },
      { names: ['b', 'a'] },
    ],
    [
      { names: ['a', 'b'], x: 1 },
      { $retainKeys: ['names'], '$deleteFromPrimitiveList/names': ['a'] },
      { names: ['b'] },
    ],
    [{ a: 1 }, { a: { $patch: 'delete', b: null } }, {}],
  ];
  for (const [original, patch, result] of rows) {
    const wanted = typeof result === 'string' ? 'refuses' : 'merges';
    it(`${wanted} ${JSON.stringify(patch)} into ${JSON.stringify(original)}`, () => {
      if (typeof result === 'string') expect(() => merged(original, patch)).to.throw(result);
      else expect(merged(original, patch)).to.deep.equal(result);
    });
  }

  it('rejects lists of lists', () => {
    const patch = () => merged({ names: [['a']] }, { names: [['b']] });
    expect(patch).to.throw('lists of lists are not supported').with.property('status', 422);
  });

  it('treats keys such as constructor and __proto__ as data', () => {
    const patch = JSON.parse('{"__proto__": {"polluted": true}, "a": 1}') as Fields;
    const result = merged({ constructor: 'x' }, patch);
    expect(JSON.stringify(result)).to.equal(
      '{"constructor":"x","__proto__":{"polluted":true},"a":1}',
    );
    expect(({} as Fields)['polluted']).to.equal(undefined);
  });
});
