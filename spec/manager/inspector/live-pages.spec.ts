import { expect } from 'chai';
import { connect } from 'node:net';
import { HttpEndpoint } from '../../../lib/manager/http-endpoint.js';
import { LivePages } from '../../../lib/manager/inspector/page.js';
import { trusted } from '../../../lib/manager/inspector/html.js';
import type { Section } from '../../../lib/manager/inspector/html.js';
import type { Manager } from '../../../lib/manager/manager.js';
import { VirtualClock } from '../../../lib/system/virtual-clock.js';
import { ManagerSetup, rememberingLogger, watcher } from '../manager-setup.js';
import { onLoopback } from '../served.js';
import { LivePage, inspected } from './inspected.js';

/** A sink that records pieces, or leaves them pending. */
class Reader {
  readonly pieces: string[] = [];
  pendingBytes = 0;
  write(piece: string): void {
    this.pieces.push(piece);
  }
}

function sections(texts: Record<string, string>): readonly Section[] {
  return Object.entries(texts).map(([id, text]) => ({ id, title: id, body: trusted(text) }));
}

/** Returns the ids of the sections in a piece. */
function idsIn(piece: string | undefined): string[] {
  return [...(piece ?? '').matchAll(/^data: (.*)$/gm)].map(
    ([, data = '']) => (JSON.parse(data) as { id: string }).id,
  );
}

describe('LivePages, which sends changed sections of a page to browsers', () => {
  let clock: VirtualClock;
  let pages: LivePages;
  let stop: AbortController;
  let reader: Reader;
  let shown: Record<string, string>;

  beforeEach(() => {
    clock = new VirtualClock();
    pages = new LivePages({ clock, updateMs: 1_000, maxLivePages: 2 });
    [stop, reader, shown] = [new AbortController(), new Reader(), { a: '1', b: '1' }];
  });

  /** Opens a page. @returns resolves when the page is closed */
  function open(sink = reader): Promise<void> {
    const { body } = pages.answer(() => sections(shown), { signal: stop.signal });
    if (typeof body !== 'function') throw new Error('it was refused');
    return body(sink);
  }

  it('sends all sections first, and then only sections that have changed', async () => {
    const over = open();
    await clock.advance(1_000);
    expect(reader.pieces.map(idsIn)).to.deep.equal([['a', 'b']]);
    shown = { a: '1', b: 'line\nfeed' };
    await clock.advance(1_000);
    expect(reader.pieces.map(idsIn)).to.deep.equal([['a', 'b'], ['b']]);
    stop.abort();
    await over;
    expect([clock.pendingTimers, pages.open]).to.deep.equal([0, 0]);
  });

  it('buffers nothing for a slow browser, and sends it the latest state when it can read again', async () => {
    const over = open();
    await clock.advance(0);
    reader.pendingBytes = 100;
    for (const text of ['2', '3', '4']) {
      shown = { a: text, b: '1' };
      await clock.advance(1_000);
    }
    expect(reader.pieces).to.have.length(1);
    reader.pendingBytes = 0;
    await clock.advance(1_000);
    expect(reader.pieces.slice(1)).to.have.length(1);
    expect(reader.pieces[1]).to.include('"markup":"4"');
    stop.abort();
    await over;
  });

  it('closes the connection to a browser that accepts no data for 10 s', async () => {
    const over = open();
    await clock.advance(0);
    reader.pendingBytes = 100;
    await clock.advance(9_000);
    expect(pages.open).to.equal(1);
    await clock.advance(1_000);
    await over;
    expect([clock.pendingTimers, pages.open]).to.deep.equal([0, 0]);
  });

  it('sends a keep-alive every 15 s while nothing changes', async () => {
    const over = open();
    await clock.advance(31_000);
    expect(reader.pieces.slice(1)).to.deep.equal([': still here\n\n', ': still here\n\n']);
    stop.abort();
    await over;
  });

  it('ends without an error when its request is aborted, and fails when reading its sections fails', async () => {
    const broken = (signal: AbortSignal) => {
      const { body } = pages.answer(() => Promise.reject(new Error('broken off')), { signal });
      return typeof body === 'function' ? body(reader) : undefined;
    };
    const failed: unknown = await Promise.resolve(broken(stop.signal)).catch(
      (error: unknown) => error,
    );
    expect(String(failed)).to.equal('Error: broken off');
    const closed = new AbortController();
    const over = broken(closed.signal);
    closed.abort();
    await over;
    expect(pages.open).to.equal(0);
  });

  it('answers 503 to pages beyond maxLivePages', async () => {
    const opened = [open(), open(new Reader())];
    const refused = pages.answer(() => [], { signal: stop.signal });
    expect([refused.status, refused.body]).to.deep.equal([
      ...[503, '2 pages are live already (option maxLivePages): close one\n'],
    ]);
    stop.abort();
    await Promise.all(opened);
    expect(pages.answer(() => [], { signal: stop.signal }).status).to.equal(200);
  });
});

describe('A live page of the inspector over a connection', () => {
  it('is closed when its client stops reading, and computes no updates until then', async () => {
    const clock = new VirtualClock();
    const pages = new LivePages({ clock, updateMs: 1_000, maxLivePages: 1 });
    // Each update is larger than the buffers of a socket that the client does not read.
    const rendered = { count: 0 };
    const render = () => sections({ a: String(rendered.count++).repeat(8_000_000) });
    const endpoint = new HttpEndpoint({
      ...{ name: 'spec', ...onLoopback, clock },
      answer: async (question) => pages.answer(render, question),
    });
    const stop = new AbortController();
    const logger = rememberingLogger([]);
    const running = endpoint.run({ signal: stop.signal, logger, ready: () => undefined });
    while (endpoint.url === undefined) await clock.advance(0);
    const socket = connect(Number(new URL(endpoint.url).port), '127.0.0.1');
    const dropped = new Promise<void>((resolve) => socket.once('close', () => resolve()));
    socket.on('error', () => undefined);
    socket.pause();
    socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
    while (pages.open === 0) await clock.advance(0);
    for (let n = 0; n < 11; n++) await clock.advance(1_000);
    expect([pages.open, rendered.count]).to.deep.equal([0, 1]);
    socket.resume();
    await dropped;
    stop.abort();
    await running;
    expect(clock.pendingTimers).to.equal(0);
  });
});

describe('Live pages of the inspector', () => {
  let setup: ManagerSetup;
  let manager: Manager;

  beforeEach(async () => {
    setup = await ManagerSetup.start();
    manager = setup.manager({ inspector: { ...onLoopback, maxLivePages: 2 } });
    manager.add(watcher([]));
    await setup.run(manager);
    await manager.whenStarted();
  });
  afterEach(async () => {
    await setup.end();
    expect(setup.clock.pendingTimers).to.equal(0);
  });

  const turn = (): Promise<void> => setup.clock.advance(500);

  it('show a reconcile that happens while they are open', async () => {
    const page = await LivePage.open(manager);
    await page.until(() => page.ids.includes('recent'), turn);
    expect(page.latest('recent')).to.not.include('default/late');
    await setup.create('late');
    await page.until(() => page.latest('recent').includes('default/late'), turn);
    await page.close();
  });

  it('leave no timer, socket or listener behind after repeated starts of a manager', async () => {
    const timers = setup.clock.pendingTimers;
    const before = sockets();
    for (let n = 0; n < 20; n++) {
      const other = setup.manager({ inspector: onLoopback });
      const stop = new AbortController();
      const running = other.run(stop.signal);
      await other.whenStarted();
      const page = await LivePage.open(other);
      await page.until(() => page.ids.length > 0, turn);
      stop.abort();
      await running;
      await page.over;
    }
    // The client's end of the last connection may close in a later turn. With a leak, the spec times out here.
    while (sockets() > before) await new Promise((resolve) => setImmediate(resolve));
    expect(setup.clock.pendingTimers).to.equal(timers);
  });

  it('end at once when the manager stops', async () => {
    const page = await LivePage.open(manager);
    await page.until(() => page.ids.length > 0, turn);
    expect(await setup.end()).to.equal(undefined);
    await page.over;
  });

  it('leave no timers behind when their clients close the connection', async () => {
    const timers = setup.clock.pendingTimers;
    const pages = [await LivePage.open(manager), await LivePage.open(manager)];
    expect((await inspected(manager, '/events')).status).to.equal(503);
    for (const page of pages) await page.close();
    while (setup.clock.pendingTimers > timers) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    const again = await LivePage.open(manager);
    await again.close();
  });
});

/** Counts the listening and accepted sockets of this process. */
function sockets(): number {
  return process
    .getActiveResourcesInfo()
    .filter((kind) => kind === 'TCPServerWrap' || kind === 'TCPSocketWrap').length;
}
