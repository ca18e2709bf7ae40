import { expect } from 'chai';
import { LruMap } from '../../lib/system/lru-map.js';

describe('LruMap', () => {
  it('returns the entry that it evicts for a new one', () => {
    const map = new LruMap<string, number>(2);
    expect([map.set('a', 1), map.set('b', 2), map.get('a'), map.set('c', 3)]).to.deep.equal([
      undefined,
      undefined,
      1,
      2,
    ]);
    expect([...map.values()]).to.deep.equal([1, 3]);
    map.delete('a');
    expect([map.size, map.get('a')]).to.deep.equal([1, undefined]);
  });
});
