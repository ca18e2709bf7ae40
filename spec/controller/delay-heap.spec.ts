import { expect } from 'chai';
import fc from 'fast-check';
import { DelayHeap } from '../../lib/controller/delays.js';
import type { Delayed } from '../../lib/controller/delays.js';

describe('DelayHeap', () => {
  it('returns items in the order of due time, then of insertion, even after removals, and lists the items due next', () => {
    const entries = fc.array(fc.record({ dueMs: fc.nat(20), removed: fc.boolean() }));
    const property = fc.property(entries, (list) => {
      const heap = new DelayHeap<Delayed>();
      const items = list.map(({ dueMs }, order) => ({ key: `k${order}`, dueMs, order, index: 0 }));
      for (const item of items) heap.add(item);
      const kept = items.filter((item, at) => {
        if (list[at]!.removed) heap.remove(item);
        return !list[at]!.removed;
      });
      const sorted = kept.toSorted((a, b) => a.dueMs - b.dueMs || a.order - b.order);
      for (let count = 0; count <= kept.length; count++) {
        expect(heap.soonest(count)).to.deep.equal(sorted.slice(0, count));
      }
      const out: string[] = [];
      for (let next = heap.peek(); next !== undefined; next = heap.peek()) {
        out.push(next.key);
        heap.remove(next);
      }
      expect(out).to.deep.equal(sorted.map(({ key }) => key));
    });
    fc.assert(property);
  });
});
