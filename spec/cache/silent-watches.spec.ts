import { expect } from 'chai';
import { ApiError } from '../../lib/object/api-error.js';
import { FakeServer, apiError } from './fake-server.js';
import { Setup, reset, watchingAgain } from './reflector-setup.js';

describe('Reflector', () => {
  it('restarts a streaming list that sends nothing before it is complete', async () => {
    const server = new FakeServer();
    server.paused = true;
    const setup = new Setup(server);
    await setup.settle(29_000);
    expect(setup.server.requests.map(({ verb }) => verb)).to.deep.equal(['watch']);
    await setup.settle(10_000);
    expect(setup.server.requests.map(({ verb }) => verb)).to.deep.equal(['watch', 'list', 'watch']);
    await setup.cache.stop();
  });

  it('restarts a streaming list that stops in the middle', async () => {
    const server = new FakeServer();
    for (const name of ['a', 'b', 'c']) server.put(name);
    server.eventsLeft = 2;
    const setup = new Setup(server);
    await setup.settle(40_000);
    expect(server.requests.map(({ verb }) => verb)).to.deep.equal(['watch', 'list', 'watch']);
    setup.verify();
    await setup.cache.stop();
  });

  it('sends an ordinary list to a server that ignores sendInitialEvents and sends other events', async () => {
    const server = new FakeServer();
    server.streamingLists = 'ignored';
    server.put('a');
    const setup = new Setup(server);
    for (let seconds = 0; seconds < 120; seconds += 10) {
      await setup.settle(10_000);
      server.put('a');
      if (seconds % 60 === 50) server.bookmark();
    }
    await setup.settle(0);
    expect(server.requests.map(({ verb }) => verb)).to.deep.equal(['watch', 'list', 'watch']);
    expect(setup.logged).to.deep.equal([]);
    setup.verify();
    server.compact();
    server.disconnect(apiError(410, 'Expired'));
    await setup.settle(10_000);
    const verbs = server.requests.map(({ verb }) => verb);
    expect(verbs.slice(3), 'no second attempt').to.deep.equal(['list', 'watch']);
    await setup.cache.stop();
  });

  it('accepts pages whose objects are newer than the first page', async () => {
    const server = new FakeServer();
    Object.assign(server, { streamingLists: false, pageSize: 1 });
    server.put('a');
    server.put('b');
    server.beforePage = () => {
      for (const name of ['a', 'b', 'b']) server.put(name);
    };
    const setup = new Setup(server);
    await setup.settle(0);
    expect(setup.mirror.seen).to.deep.equal(['added a', 'added b', 'updated a']);
    setup.verify();
    await setup.cache.stop();
  });

  it('treats the deletion of an unknown object as a deletion of the cached object with the same name', async () => {
    const setup = new Setup();
    const seen = setup.server.put('a');
    await setup.settle(0);
    const deleted: unknown[] = [];
    setup.informer.addHandler((event) => {
      if (event.type === 'deleted')
        deleted.push([event.object.metadata.uid, event.finalStateUnknown]);
    });
    const metadata = { ...seen.metadata, uid: 'later', resourceVersion: '999' };
    setup.server.inject({ type: 'DELETED', object: { ...seen, metadata } });
    await setup.settle(0);
    expect(deleted).to.deep.equal([['uid-1', true]]);
    await setup.cache.stop();
  });

  it('lists again when the server is behind the requested version', async () => {
    const setup = new Setup();
    await setup.settle(5_000);
    const details = { causes: [{ reason: 'ResourceVersionTooLarge' }] };
    const context = { verb: 'watch', kind: 'Thing', status: 504 };
    setup.server.disconnect(new ApiError({ code: 504, reason: 'Timeout', details }, context));
    await setup.settle(5_000);
    const lists = setup.server.requests.map(({ options }) => options.sendInitialEvents);
    expect(lists).to.deep.equal([true, true]);
    await setup.cache.stop();
  });

  for (const [watch, lastedMs] of [
    ['a short watch', 5_000],
    ['a watch that has worked', 60_000],
  ] as const) {
    it(`lists again after five failures in a row, the first of ${watch}`, async () => {
      const setup = new Setup();
      await setup.settle(lastedMs);
      setup.server.failures['watch'] = [reset, reset, reset, reset];
      setup.server.disconnect(reset);
      await setup.settle();
      const lists = setup.server.requests.map(({ options }) => options.sendInitialEvents);
      const no = undefined;
      expect(lists).to.deep.equal([true, no, no, no, no, true]);
      await setup.cache.stop();
    });
  }

  it('restarts a watch that lasts longer than its timeout', async () => {
    const setup = new Setup();
    await setup.settle(0);
    await setup.settle(640_000);
    expect(setup.server.requests.length).to.equal(2);
    setup.server.put('a');
    await setup.settle(0);
    setup.verify();
    await setup.cache.stop();
  });

  it('sets no timer for the events of a watch', async () => {
    const setup = new Setup();
    // The list is complete, and its time-out is over.
    await setup.settle(31_000);
    const setTimer = setup.clock.setTimer.bind(setup.clock);
    let timers = 0;
    setup.clock.setTimer = (...args) => {
      timers++;
      return setTimer(...args);
    };
    for (let n = 0; n < 10; n++) {
      setup.server.put('a');
      await setup.settle(1_000);
    }
    setup.server.remove('a');
    await setup.settle(0);
    setup.verify();
    expect(timers).to.equal(0);
    await setup.cache.stop();
  });

  it('restarts a watch that sent bookmarks, after 2.5 minutes without an event', async () => {
    const setup = new Setup();
    await setup.settle(5_000);
    setup.server.bookmark();
    await setup.settle(140_000);
    setup.server.put('a');
    await setup.settle(149_000);
    expect(setup.server.requests.length).to.equal(1);
    await setup.settle(4_000);
    expect(setup.server.requests.map(({ verb }) => verb)).to.deep.equal(['watch', 'watch']);
    expect(setup.server.requests[1]?.options.resourceVersion).to.equal(setup.server.version);
    expect(setup.logged).to.deep.equal(['Thing: watch failed, next: watch']);
    expect(setup.informer.status().problem).to.equal(undefined);
    await setup.cache.stop();
    expect(setup.clock.pendingTimers).to.equal(0);
  });

  it('restarts a watch that never sent an event, if an earlier watch sent bookmarks', async () => {
    const setup = await watchingAgain();
    await setup.settle(151_000);
    expect(setup.server.requests.map(({ verb }) => verb)).to.deep.equal(['watch', 'watch']);
    await setup.settle(4_000);
    expect(setup.server.requests).to.have.length(3);
    expect(setup.informer.status().problem).to.equal(undefined);
    await setup.cache.stop();
    expect(setup.clock.pendingTimers).to.equal(0);
  });

  it('does not restart later silent watches after the restart of a watch that never sent a bookmark', async () => {
    const setup = await watchingAgain();
    await setup.settle(155_000);
    expect(setup.server.requests).to.have.length(3);
    // The cache does not restart the watch again: a kind without a change since the server's restart has no bookmarks.
    await setup.settle(290_000);
    expect(setup.server.requests).to.have.length(3);
    setup.server.bookmark();
    await setup.settle(155_000);
    expect(setup.server.requests).to.have.length(4);
    await setup.cache.stop();
  });

  it('does not restart silent watches of a server that sends no bookmark after the initial one', async () => {
    const setup = new Setup();
    await setup.settle(5_000);
    setup.server.put('a');
    await setup.settle(290_000);
    expect(setup.server.requests.length).to.equal(1);
    await setup.cache.stop();
  });
});
