import { expect } from 'chai';
import { EventHandlers } from '../../lib/cache/informer.js';
import type { CacheEvent } from '../../lib/cache/informer.js';
import { FakeServer } from './fake-server.js';
import type { Thing } from './fake-server.js';

describe('EventHandlers', () => {
  it('send no more events to a handler that another handler has removed', () => {
    const object = new FakeServer().put('a');
    const event: CacheEvent<Thing> = { type: 'added', object, isInInitialList: false };
    const handlers = new EventHandlers<Thing>((error) => expect.fail(String(error)));
    let told = 0;
    handlers.add(() => second.remove(), []);
    const second = handlers.add(() => told++, []);
    handlers.emit([event, event]);
    expect(told).to.equal(0);
  });
});
