import { expect } from 'chai';
import fc from 'fast-check';
import { SortedList } from '../../../lib/declarative/engine/gather-node.js';

const compare = (one: number, other: number): number => one - other;

describe('SortedList', () => {
  it('keeps items sorted, with duplicates, through adds and deletes', () => {
    const change = fc.record({ item: fc.nat(400), isAdd: fc.boolean() });
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 3_000, size: 'max' }), (changes) => {
        const list = new SortedList<number>(compare);
        const wanted: number[] = [];
        for (const { item, isAdd } of changes) {
          const at = wanted.indexOf(item);
          if (isAdd) {
            list.add(item);
            wanted.push(item);
          } else if (at >= 0) {
            list.delete(item);
            wanted.splice(at, 1);
          }
        }
        wanted.sort(compare);
        expect(list.chunks.flat()).to.deep.equal(wanted);
        expect([list.size, list.first]).to.deep.equal([wanted.length, wanted[0]]);
      }),
      { numRuns: 10 },
    );
  });

  it('does not change the arrays that it has already returned', () => {
    const list = new SortedList<number>(compare);
    for (let item = 0; item < 2_000; item++) list.add(item);
    const before = list.chunks;
    list.delete(700);
    list.add(-1);
    expect(before.flat()).to.have.length(2_000).and.include(700).and.not.include(-1);
    expect(list.chunks.flat()).to.have.length(2_000).and.include(-1).and.not.include(700);
  });
});
