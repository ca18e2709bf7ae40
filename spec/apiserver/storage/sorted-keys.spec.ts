import { expect } from 'chai';
import fc from 'fast-check';
import { SortedKeys } from '../../../lib/apiserver/storage/mvcc-log.js';

describe('SortedKeys', () => {
  it('returns in order the keys that were added and not removed, at any time', () => {
    const step = fc.record({
      key: fc.stringMatching(/^[ab]\/[a-d]$/),
      type: fc.constantFrom('add', 'remove', 'read'),
    });
    const property = fc.property(
      fc.array(step),
      fc.constantFrom('', 'a/', 'b/'),
      (steps, prefix) => {
        const keys = new SortedKeys();
        const model = new Set<string>();
        for (const { key, type } of steps) {
          if (type === 'add' && !model.has(key)) keys.add(key);
          if (type === 'add') model.add(key);
          if (type === 'remove' && model.delete(key)) keys.remove(key);
          if (type === 'read') keys.range('');
        }
        const expected = [...model].filter((key) => key.startsWith(prefix)).sort();
        expect(keys.range(prefix)).to.deep.equal(expected);
        const from = 'a/b';
        const rest = expected.filter((key) => key >= from);
        expect(keys.range(prefix, from)).to.deep.equal(rest);
      },
    );
    fc.assert(property);
  });
});
