import { expect } from 'chai';
import { InitialEvents } from '../../lib/cache/list-and-watch.js';
import { FakeServer } from './fake-server.js';

describe('InitialEvents', () => {
  it('collects objects and their changes until the bookmark that ends the initial events', () => {
    const server = new FakeServer();
    const [a, b] = [server.put('a'), server.put('b')];
    const initial = new InitialEvents((object) => object);
    const early = { type: 'BOOKMARK', resourceVersion: '101', initialEventsEnd: false } as const;
    expect(initial.take({ type: 'ADDED', object: a })).to.equal(undefined);
    expect(initial.take(early), 'a bookmark by the minute').to.equal(undefined);
    expect(initial.take({ type: 'ADDED', object: b })).to.equal(undefined);
    const later = server.put('b');
    expect(initial.take({ type: 'MODIFIED', object: later })).to.equal(undefined);
    expect(initial.take({ type: 'DELETED', object: a })).to.equal(undefined);
    const end = { type: 'BOOKMARK', resourceVersion: '103', initialEventsEnd: true } as const;
    expect(initial.take(end)).to.deep.equal({
      objects: new Map([['ns/b', later]]),
      resourceVersion: '103',
    });
  });
});
