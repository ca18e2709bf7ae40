import { expect } from 'chai';
import fc from 'fast-check';
import { ConnectionError, OperatorError } from '../../lib/system/operator-error.js';
import { tries } from '../sample.js';
import { FakeServer, apiError } from './fake-server.js';
import type { Thing } from './fake-server.js';
import { Setup, reset } from './reflector-setup.js';

describe('Reflector', () => {
  it('emits the existing objects, and then changes', async () => {
    const setup = new Setup();
    setup.server.put('a');
    await setup.settle(0);
    setup.server.put('b');
    setup.server.put('a');
    setup.server.remove('b');
    await setup.settle(0);
    expect(setup.mirror.seen).to.deep.equal(['added a', 'added b', 'updated a', 'deleted b']);
    setup.verify();
    await setup.cache.stop();
  });

  it('begins with a streaming list, and falls back to a paged list', async () => {
    for (const streamingLists of [true, false]) {
      const server = new FakeServer();
      server.streamingLists = streamingLists;
      server.pageSize = 2;
      for (const name of ['a', 'b', 'c', 'd', 'e']) server.put(name);
      const setup = new Setup(server);
      await setup.settle(0);
      setup.verify();
      const verbs = server.requests.map(({ verb }) => verb);
      const pages = ['watch', 'list', 'page', 'page', 'watch'];
      expect(verbs).to.deep.equal(streamingLists ? ['watch'] : pages);
      await setup.cache.stop();
    }
  });

  it('requests bookmarks and a watch timeout of 5 to 10 minutes', async () => {
    const setup = new Setup();
    await setup.settle(0);
    const { options } = setup.server.requests[0]!;
    expect(options.timeoutMs).to.be.within(300_000, 600_000);
    expect(options.allowWatchBookmarks).to.not.equal(false);
    await setup.cache.stop();
  });

  it('resumes a watch that has ended from the last version, without a list', async () => {
    const setup = new Setup();
    await setup.settle(5_000);
    const { resourceVersion } = setup.server.put('a').metadata;
    setup.server.disconnect();
    setup.server.put('b');
    await setup.settle(0);
    const last = setup.server.requests.at(-1);
    expect(last).to.deep.include({ verb: 'watch' });
    expect(last?.options.resourceVersion).to.equal(resourceVersion);
    expect(setup.mirror.seen).to.deep.equal(['added a', 'added b']);
    await setup.cache.stop();
  });

  it("resumes from a bookmark's version", async () => {
    const setup = new Setup();
    await setup.settle(5_000);
    setup.server.put('elsewhere', {}, 'other');
    setup.server.bookmark();
    await setup.settle(5_000);
    setup.server.disconnect();
    await setup.settle(0);
    expect(setup.server.requests.at(-1)?.options.resourceVersion).to.equal(setup.server.version);
    await setup.cache.stop();
  });

  it('lists again after a 410, and emits the deletions and changes that it missed', async () => {
    const setup = new Setup();
    for (const name of ['gone', 'changed', 'same', 'recreated']) setup.server.put(name);
    await setup.settle(5_000);
    setup.mirror.seen.length = 0;
    const finalStates: boolean[] = [];
    const initial: boolean[] = [];
    setup.informer.addHandler((event) => {
      if (event.type === 'deleted') finalStates.push(event.finalStateUnknown);
      if (event.type === 'added') initial.push(event.isInInitialList);
    });
    setup.server.disconnect(reset);
    setup.server.remove('gone');
    setup.server.put('changed');
    setup.server.remove('recreated');
    setup.server.put('recreated');
    setup.server.compact();
    await setup.settle();
    expect(setup.mirror.seen.sort()).to.deep.equal([
      'added recreated',
      'deleted gone',
      'deleted recreated',
      'updated changed',
    ]);
    expect(finalStates).to.deep.equal([true, true]);
    // The objects that were cached when the handler was added are initial. The object from the later list is not.
    expect(initial).to.deep.equal([true, true, true, true, false]);
    setup.verify();
    await setup.cache.stop();
  });

  it('lists again at once if its version expired during an outage', async () => {
    const setup = new Setup(new FakeServer(), { random: { next: () => 0, uuid: () => '' } });
    await setup.settle(15_000);
    const refused = new ConnectionError('refused', { requestSent: false });
    setup.server.failures['watch'] = [refused, refused, refused];
    setup.server.disconnect(reset);
    setup.server.put('a');
    setup.server.compact();
    // The cache resumes its watch after 0.8 s, and tries again after 0.8 s, 1.6 s and 3.2 s.
    await setup.settle(6_399);
    expect(setup.mirror.seen).to.deep.equal([]);
    await setup.settle(1);
    expect(setup.mirror.seen).to.deep.equal(['added a']);
    setup.verify();
    await setup.cache.stop();
  });

  it('lists again at once if its version expired when the server ended a watch', async () => {
    const setup = new Setup();
    await setup.settle(15_000);
    setup.server.disconnect();
    setup.server.put('a');
    setup.server.compact();
    await setup.settle(0);
    expect(setup.mirror.seen).to.deep.equal(['added a']);
    setup.verify();
    await setup.cache.stop();
  });

  it('does not list in a hot loop if each watch sends one event, ends, and its version expires at once', async () => {
    const setup = new Setup();
    await setup.settle(15_000);
    setup.server.requests.length = 0;
    for (let ms = 0; ms < 60_000; ms += 100) {
      setup.server.put('a');
      await setup.settle(0);
      setup.server.disconnect();
      setup.server.put('a');
      setup.server.compact();
      await setup.settle(100);
    }
    expect(setup.server.requests.length).to.be.below(40);
    await setup.settle();
    setup.verify();
    await setup.cache.stop();
  });

  it('does not list in a hot loop if the version of each list expires at once', async () => {
    const server = new FakeServer();
    server.streamingLists = false;
    server.failures['watch'] = Array.from({ length: 100 }, () => apiError(410, 'Expired'));
    const setup = new Setup(server);
    for (let ms = 0; ms < 60_000; ms += 100) await setup.settle(100);
    expect(server.requests.length).to.be.within(4, 16);
    await setup.cache.stop();
  });

  it('lists less and less often if the version of each watch expires after a little more than a second', async () => {
    const setup = new Setup();
    for (let ms = 0; ms < 120_000; ms += 1_100) {
      await setup.settle(1_100);
      setup.server.disconnect(apiError(410, 'Expired'));
    }
    const lists = setup.server.requests.filter(({ options }) => options.sendInitialEvents === true);
    expect(lists.length).to.be.within(4, 14);
    await setup.cache.stop();
  });

  it('lists in a single page after a continue token expired', async () => {
    const server = new FakeServer();
    server.streamingLists = false;
    server.pageSize = 2;
    for (const name of ['a', 'b', 'c']) server.put(name);
    server.failures['page'] = [apiError(410, 'Expired')];
    const setup = new Setup(server);
    await setup.settle();
    setup.verify();
    const lists = server.requests.filter(({ verb }) => verb === 'list');
    expect(lists.map(({ options }) => options.limit)).to.deep.equal([undefined, 2 ** 31 - 1]);
    await setup.cache.stop();
  });

  it('backs off from 0.8 s to 30 s with jitter, and resets the back-off after 2 min', async () => {
    const server = new FakeServer();
    server.streamingLists = false;
    server.failures['list'] = Array.from({ length: 8 }, () => apiError(500));
    const setup = new Setup(server, { random: { next: () => 0.5, uuid: () => '' } });
    const waits: number[] = [];
    await setup.settle(0);
    for (let n = 0; n < 8; n++) {
      waits.push(setup.clock.nextTimerMs ?? 0);
      await setup.settle(setup.clock.nextTimerMs);
    }
    const expected = [1.2, 2.4, 4.8, 9.6, 19.2, 38.4, 45, 45];
    expect(waits).to.deep.equal(expected.map((seconds) => seconds * 1000));
    await setup.settle(125_000);
    server.disconnect(apiError(500));
    await setup.settle(0);
    expect(setup.clock.nextTimerMs).to.equal(1_200);
    await setup.cache.stop();
  });

  it('reconnects after 0.8 to 1.6 s, however often an established watch breaks', async () => {
    const setup = new Setup(undefined, { random: { next: () => 0.5, uuid: () => '' } });
    await setup.settle(5_000);
    const waitAfter = async (error: Error): Promise<number | undefined> => {
      setup.server.disconnect(error);
      await setup.settle(0);
      const waitMs = setup.clock.nextTimerMs;
      await setup.settle(waitMs);
      return waitMs;
    };
    for (let n = 0; n < 4; n++) {
      await setup.settle(11_000);
      expect(await waitAfter(reset), 'lasted 11 s').to.equal(1_200);
    }
    for (let n = 0; n < 4; n++) {
      setup.server.put('a');
      await setup.settle(100);
      expect(await waitAfter(apiError(500)), 'brought an event').to.equal(1_200);
    }
    expect(await waitAfter(reset), 'neither, once').to.equal(1_200);
    expect(await waitAfter(reset), 'neither, twice').to.equal(2_400);
    await setup.settle(11_000);
    expect(await waitAfter(reset), 'worked again').to.equal(1_200);
    expect(await waitAfter(reset), 'neither, a third time').to.equal(4_800);
    expect(
      setup.server.requests.filter(({ options }) => options.sendInitialEvents).length,
    ).to.equal(1);
    await setup.cache.stop();
  });

  it('backs off from a server that accepts no watch, even if each attempt is slow', async () => {
    const setup = new Setup(undefined, { random: { next: () => 0.5, uuid: () => '' } });
    await setup.settle(5_000);
    setup.server.disconnect();
    await setup.settle(0);
    const refused = new ConnectionError('refused', { requestSent: false });
    const waits: unknown[] = [];
    for (const error of [refused, new OperatorError('Timeout', 'no answer'), apiError(503)]) {
      await setup.settle(11_000);
      setup.server.disconnect(error);
      await setup.settle(0);
      waits.push(setup.clock.nextTimerMs);
      await setup.settle(setup.clock.nextTimerMs);
    }
    expect(waits).to.deep.equal([1_200, 2_400, 4_800]);
    await setup.cache.stop();
  });

  const retryAfters: readonly (readonly [number, number])[] = [
    [7_000, 7_000],
    [3_600_000, 60_000],
  ];
  for (const [retryAfterMs, waitMs] of retryAfters) {
    it(`waits ${waitMs} ms for a Retry-After of ${retryAfterMs} ms`, async () => {
      const setup = new Setup();
      await setup.settle(5_000);
      const context = { verb: 'watch', kind: 'Thing', status: 429, retryAfterMs };
      const tooMany = apiError(429, 'TooManyRequests');
      setup.server.disconnect(Object.assign(tooMany, { context }));
      await setup.settle(0);
      expect(setup.clock.nextTimerMs).to.equal(waitMs);
      await setup.cache.stop();
    });
  }

  it('reports the error of a list, and the status parked while its kind is not served', async () => {
    const server = new FakeServer();
    server.failures['watch'] = [apiError(403, 'Forbidden', 'watch')];
    server.failures['list'] = [
      apiError(403, 'Forbidden'),
      new OperatorError('UnknownKind', 'no Thing'),
    ];
    const setup = new Setup(server);
    await setup.settle(0);
    expect(setup.informer.status()).to.deep.include({ synced: false, parked: false });
    expect(setup.informer.status().problem).to.have.property('status', 403);
    await setup.settle(setup.clock.nextTimerMs);
    await setup.settle(setup.clock.nextTimerMs);
    expect(setup.informer.status()).to.deep.include({ synced: false, parked: true });
    await setup.settle();
    expect(setup.informer.status()).to.deep.include({ synced: true, parked: false });
    expect(setup.informer.status().problem).to.equal(undefined);
    expect(setup.logged[0]).to.match(/Thing: streamingList failed, next: list/);
    await setup.cache.stop();
  });

  it('retries only rarely if the client itself rejects the request, and reports the error', async () => {
    for (const code of ['InvalidObject', 'InvalidOption', 'InvalidSelector'] as const) {
      const server = new FakeServer();
      const refusals = Array.from({ length: 20 }, () => new OperatorError(code, 'no namespace: A'));
      server.failures['watch'] = refusals;
      server.failures['list'] = [...refusals];
      const setup = new Setup(server);
      await setup.settle(119_000);
      expect(server.requests.length).to.be.within(2, 4);
      expect(setup.informer.status()).to.deep.include({ synced: false, parked: false });
      expect(setup.informer.status().problem).to.have.property('code', code);
      const wait = setup.informer.waitForSync(AbortSignal.abort(), { parked: 'pass' });
      expect(
        await wait.then(
          () => 'passed',
          () => 'waits',
        ),
      ).to.equal('waits');
      const message =
        'Thing: streamingList failed, next: wait long, since the request itself is invalid';
      expect(setup.logged).to.deep.equal([message]);
      refusals.length = 0;
      await setup.settle(61_000);
      expect(setup.informer.status()).to.deep.include({ synced: true, problem: undefined });
      await setup.cache.stop();
    }
  });

  it('lists again after the server was restored to an older state', async () => {
    const setup = new Setup();
    await setup.settle(5_000);
    setup.server.inject({ type: 'BOOKMARK', resourceVersion: '50', initialEventsEnd: false });
    await setup.settle(0);
    const lists = setup.server.requests.map(({ options }) => options.sendInitialEvents);
    expect(lists).to.deep.equal([true, true]);
    await setup.cache.stop();
  });

  it('does not list in a hot loop when slow streaming lists expire at once', async () => {
    const setup = new Setup();
    setup.server.paused = true;
    let lists = 0;
    for (let ms = 0; ms < 120_000; ms += 1_500) {
      lists += setup.server.requests.length;
      setup.server.requests.length = 0;
      await setup.settle(1_500);
      // The list takes 1.5 s, and the error follows its end.
      setup.server.disconnect(apiError(410, 'Expired'));
      setup.server.resume();
      await setup.settle(0);
      setup.server.paused = true;
    }
    expect(lists).to.be.within(3, 12);
    await setup.cache.stop();
  });

  it('does not reconnect in a hot loop when watches end at once', async () => {
    const setup = new Setup();
    for (let ms = 0; ms < 60_000; ms += 100) {
      setup.server.disconnect();
      await setup.settle(100);
    }
    expect(setup.server.requests.length).to.be.below(12);
    await setup.cache.stop();
  });

  it('drops duplicate events and events that arrive late', async () => {
    const setup = new Setup();
    const first = setup.server.put('a');
    await setup.settle(0);
    setup.server.put('a');
    setup.server.inject({ type: 'MODIFIED', object: first });
    const last = setup.server.put('b');
    setup.server.remove('b');
    setup.server.inject({ type: 'ADDED', object: last });
    await setup.settle(0);
    expect(setup.mirror.seen).to.deep.equal(['added a', 'updated a', 'added b', 'deleted b']);
    setup.verify();
    await setup.clock.advance(5_000);
    setup.server.disconnect();
    await setup.settle(0);
    // The duplicate event did not revert the version of the watch.
    expect(setup.server.requests.at(-1)?.options.resourceVersion).to.equal(setup.server.version);
    await setup.cache.stop();
  });

  const names = fc.constantFrom('a', 'b', 'c', 'd');
  const failures = fc.constantFrom(
    reset,
    apiError(410, 'Expired'),
    apiError(429, 'TooManyRequests'),
    apiError(500),
    apiError(403, 'Forbidden'),
    new OperatorError('UnknownKind', 'no such kind'),
    new SyntaxError('Unexpected end of JSON input'),
  );
  const steps = fc.oneof(
    { weight: 4, arbitrary: fc.record({ do: fc.constant('put' as const), name: names }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('remove' as const), name: names }) },
    fc.record({ do: fc.constantFrom('end' as const, 'bookmark' as const, 'compact' as const) }),
    fc.record({ do: fc.constantFrom('repeat' as const, 'pause' as const, 'resume' as const) }),
    fc.record({ do: fc.constantFrom('recreate' as const, 'late' as const), name: names }),
    fc.record({ do: fc.constant('disconnect' as const), error: failures }),
    fc.record({
      do: fc.constant('fail' as const),
      verb: fc.constantFrom('list', 'watch', 'page'),
      error: failures,
    }),
    fc.record({ do: fc.constant('advance' as const), ms: fc.constantFrom(0, 10, 1_500, 700_000) }),
  );

  it('has the same objects as the server after any sequence of faults', async () => {
    const property = fc.asyncProperty(
      fc.boolean(),
      fc.array(steps, { maxLength: 40 }),
      async (streamingLists, script) => {
        const server = new FakeServer();
        Object.assign(server, { streamingLists, pageSize: 2 });
        past.clear();
        const setup = new Setup(server);
        for (const step of script) await carryOut(setup, step);
        server.resume();
        await setup.settle(2_000_000);
        setup.verify();
        await setup.cache.stop();
        expect(setup.clock.pendingTimers).to.equal(0);
        expect(server.watches).to.equal(0);
      },
    );
    await fc.assert(property, { numRuns: tries(120) });
  });

  /** Former states of objects, for late events. */
  const past = new Map<string, Thing>();

  async function carryOut(
    { server, clock }: Setup,
    step: typeof steps extends fc.Arbitrary<infer Step> ? Step : never,
  ): Promise<void> {
    switch (step.do) {
      case 'put':
        past.set(step.name, server.put(step.name));
        return;
      case 'recreate':
        if (server.has(step.name)) server.remove(step.name);
        server.put(step.name);
        return;
      case 'late': {
        const object = past.get(step.name);
        if (object !== undefined) server.inject({ type: 'MODIFIED', object });
        return;
      }
      case 'remove':
        if (server.has(step.name)) server.remove(step.name);
        return;
      case 'end':
        server.disconnect();
        return;
      case 'disconnect':
        server.disconnect(step.error);
        return;
      case 'fail':
        (server.failures[step.verb] ??= []).push(step.error);
        return;
      case 'repeat':
        for (const object of server.objects()) server.inject({ type: 'ADDED', object });
        return;
      case 'bookmark':
        server.bookmark();
        return;
      case 'compact':
        server.compact();
        return;
      case 'pause':
        server.paused = true;
        return;
      case 'resume':
        server.resume();
        return;
      case 'advance':
        await clock.advance(step.ms);
    }
  }
});
