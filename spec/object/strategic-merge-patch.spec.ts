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

  it('merges maps and replaces lists without a schema', () => {
    const original = { a: { b: 1, c: [1, 2] } };
    const result = applyStrategicMergePatch(original, { a: { c: [3], d: null } }, undefined);
    expect(result).to.deep.equal({ a: { b: 1, c: [3] } });
  });

  it('drops nulls and directives from new values', () => {
    const patch = {
      a: { b: null, c: [{ d: null, e: 1 }, { $patch: 'delete' }] },
      f: { $patch: 'x' },
    };
    expect(merged({}, patch)).to.deep.equal({ a: { c: [{ e: 1 }] } });
  });

  it('shares unchanged parts, and modifies neither argument', () => {
    const original = Object.freeze({ a: Object.freeze({ x: 1 }), b: Object.freeze({ y: 1 }) });
    const patch = Object.freeze({ b: Object.freeze({ y: null, z: 2 }) });
    const result = merged(original, patch);
    expect(result).to.deep.equal({ a: { x: 1 }, b: { z: 2 } });
    expect(result['a']).to.equal(original.a);
  });

  it('keeps live entries in place between those that the order names', () => {
    const original = { entries: ['a', 'b', 'c', 'd'].map((name) => ({ name })) };
    const order = [{ name: 'd' }, { name: 'b' }];
    const { entries } = merged(original, { '$setElementOrder/entries': order });
    // `a` and `c` precede `d`, the first named entry.
    expect(entries).to.deep.equal(['a', 'c', 'd', 'b'].map((name) => ({ name })));
  });

  it('places added entries in the live list by the slots of deleted ones', () => {
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

  it('rejects an order for a field that is not a list', () => {
    const patch = { '$setElementOrder/names': ['a'] };
    expect(() => merged({ names: 'x' }, patch)).to.throw('expected a []interface {}');
  });

  it('rejects lists of lists', () => {
    const patch = () => merged({ names: [['a']] }, { names: [['b']] });
    expect(patch).to.throw('lists of lists are not supported').with.property('status', 422);
  });

  it('treats names of prototype members as data', () => {
    const patch = JSON.parse('{"__proto__": {"polluted": true}, "a": 1}') as Fields;
    const result = merged({ constructor: 'x' }, patch);
    expect(JSON.stringify(result)).to.equal(
      '{"constructor":"x","__proto__":{"polluted":true},"a":1}',
    );
    expect(({} as Fields)['polluted']).to.equal(undefined);
  });
});
