import { expect } from 'chai';
import type { Client } from '../../lib/client/index.js';
import type { Source, SourceContext } from '../../lib/controller/sources.js';
import { callbackSource, streamSource, timerSource } from '../../lib/controller/sources.js';
import { silentLogger } from '../../lib/system/logger.js';
import { seededRandom } from '../../lib/system/random.js';
import { VirtualClock } from '../../lib/system/virtual-clock.js';
import { deferred } from './deferred.js';

function start(source: Source, client: Client = {} as never) {
  const clock = new VirtualClock();
  const [keys, failures]: [string[], string[]] = [[], []];
  const context: SourceContext = {
    ...{ cluster: '', cache: {} as never, client, clock },
    ...{ random: seededRandom(1), logger: silentLogger },
    enqueue: ({ name }, { trigger }) => {
      keys.push(`${name} by ${trigger.type === 'source' ? trigger.source : trigger.type}`);
      return name !== 'foreign';
    },
    failed: (what) => failures.push(what),
  };
  return { clock, failures, keys, started: source.start(context) };
}

const toKey = (name: string): { name: string }[] => {
  if (name === 'bad') throw new Error('bad');
  return [{ name }];
};

describe('timerSource', () => {
  it('enqueues at its interval until it is stopped', async () => {
    const requests = (): { name: string }[] => toKey('a');
    const { clock, keys, started } = start(timerSource({ everyMs: 100, requests }));
    await clock.advance(99);
    expect(keys).to.deep.equal([]);
    await clock.advance(201);
    expect(keys).to.deep.equal(['a by timer', 'a by timer', 'a by timer']);
    await started.stop();
    expect(clock.pendingTimers).to.equal(0);
  });

  it('enqueues at the start with the option atStart, and continues after its function fails', async () => {
    let rounds = 0;
    const requests = async () => toKey(rounds++ === 0 ? 'bad' : 'a');
    const options = { name: 'sweep', everyMs: 100, atStart: true, requests };
    const { clock, failures, keys, started } = start(timerSource(options));
    await clock.advance(100);
    expect([failures, keys]).to.deep.equal([['mapper'], ['a by sweep']]);
    await started.stop();
    expect(clock.pendingTimers).to.equal(0);
  });

  it('passes its function a client to list the objects to enqueue, and a signal that a stop aborts', async () => {
    const client = { list: async () => ({ items: [{ name: 'a' }, { name: 'b' }] }) };
    const signals: AbortSignal[] = [];
    const source = timerSource({
      everyMs: 100,
      requests: async (context) => {
        signals.push(context.signal);
        const { items } = await (context.client as unknown as typeof client).list();
        return items.map(({ name }) => ({ name: `${name}${context.cluster}` }));
      },
    });
    const { clock, keys, started } = start(source, client as never);
    await clock.advance(100);
    expect(keys).to.deep.equal(['a by timer', 'b by timer']);
    expect(signals.map(({ aborted }) => aborted)).to.deep.equal([false]);
    await started.stop();
    expect(signals[0]?.reason).to.have.property('code', 'Stopped');
  });

  it('reports no failure of a call of its function that a stop aborts', async () => {
    const requests = ({ signal }: { signal: AbortSignal }) =>
      new Promise<never>((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error));
      });
    const { clock, failures, started } = start(timerSource({ everyMs: 100, requests }));
    await clock.advance(100);
    await started.stop();
    await clock.advance(100);
    expect(failures).to.deep.equal([]);
    expect(clock.pendingTimers).to.equal(0);
  });

  it('measures its interval from the end of one call of its function to the next call', async () => {
    const rounds: ((keys: { name: string }[]) => void)[] = [];
    const requests = () => new Promise<{ name: string }[]>((resolve) => rounds.push(resolve));
    const { clock, keys, started } = start(timerSource({ everyMs: 100, requests }));
    await clock.advance(1_000);
    expect(rounds).to.have.length(1);
    rounds[0]?.(toKey('a'));
    await clock.advance(99);
    expect([rounds.length, keys]).to.deep.equal([1, ['a by timer']]);
    await clock.advance(1);
    expect(rounds).to.have.length(2);
    await started.stop();
  });

  it('accepts an interval of one millisecond, and no shorter interval', async () => {
    const requests = (): { name: string }[] => toKey('a');
    const { clock, keys, started } = start(timerSource({ everyMs: 1, requests }));
    await clock.advance(2);
    expect(keys.length).to.equal(2);
    await started.stop();
    expect(() => timerSource({ everyMs: 0.9, requests })).to.throw('everyMs 0.9: want >= 1');
  });

  it('sets no timer when it is stopped during a call of its function', async () => {
    const held: (() => void)[] = [];
    const requests = () =>
      new Promise<{ name: string }[]>((resolve) => held.push(() => resolve([])));
    const { clock, started } = start(timerSource({ everyMs: 100, requests }));
    await clock.advance(100);
    await started.stop();
    held[0]?.();
    await clock.advance(0);
    expect(clock.pendingTimers).to.equal(0);
  });

  it('rejects an interval of 0', () => {
    const construct = (): Source => timerSource({ everyMs: 0, requests: () => [] });
    expect(construct).to.throw().with.property('code', 'InvalidOption');
  });
});

describe('streamSource', () => {
  it('reopens a failed stream after a delay, and aborts its signal on stop', async () => {
    const signals: AbortSignal[] = [];
    async function* open(signal: AbortSignal): AsyncGenerator<string> {
      signals.push(signal);
      yield signals.length === 1 ? 'a' : 'b';
      if (signals.length === 1) throw new Error('reset');
      await new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error));
      });
    }
    const { clock, failures, keys, started } = start(
      streamSource({ name: 'feed', open, mapper: toKey }),
    );
    await clock.advance(700);
    expect([failures, keys]).to.deep.equal([['stream'], ['a by feed']]);
    await clock.advance(1_000);
    expect(keys).to.deep.equal(['a by feed', 'b by feed']);
    await started.stop();
    expect(signals[1]?.aborted).to.equal(true);
    expect(clock.pendingTimers).to.equal(0);
  });

  it('continues after an item that fails to map', async () => {
    async function* open(): AsyncGenerator<string> {
      yield* ['bad', 'a'];
    }
    const source = streamSource({ name: 'feed', open, mapper: toKey });
    const { clock, failures, keys, started } = start(source);
    await clock.advance(0);
    expect([failures, keys]).to.deep.equal([['mapper'], ['a by feed']]);
    await started.stop();
  });
});

describe('callbackSource', () => {
  it("returns the number of keys enqueued, and rejects with the mapper's error", async () => {
    const source = callbackSource({ name: 'hook', mapper: toKey });
    const { keys, started } = start(source);
    expect(await source.notify('a')).to.equal(1);
    expect(keys).to.deep.equal(['a by hook']);
    expect(await source.notify('foreign'), 'of another replica').to.equal(0);
    expect(await source.notify('bad').catch((error: unknown) => error)).to.be.instanceOf(Error);
    await started.stop();
    const late = await source.notify('a').catch((error: unknown) => error);
    expect(late).to.have.property('code', 'Stopped');
  });

  it('rejects if its mapper returns something other than a list of keys', async () => {
    const source = callbackSource({ name: 'hook', mapper: () => 'a' as never });
    const { keys, started } = start(source);
    const error: unknown = await source.notify('a').catch((thrown: unknown) => thrown);
    expect(error).to.have.property('message').that.includes('got a string');
    expect(keys).to.deep.equal([]);
    await started.stop();
  });

  it('rejects when it is stopped while its mapper works', async () => {
    const mapped = deferred<readonly { name: string }[]>();
    const source = callbackSource({ name: 'hook', mapper: () => mapped.promise });
    const { keys, started } = start(source);
    const notified = source.notify('a').catch((error: unknown) => error);
    await started.stop();
    mapped.resolve([{ name: 'a' }]);
    expect(await notified).to.have.property('code', 'Stopped');
    expect(keys).to.deep.equal([]);
  });

  it('awaits an asynchronous mapper, and rejects with its error', async () => {
    const source = callbackSource<string>({
      name: 'hook',
      mapper: async (name) => {
        await Promise.resolve();
        return toKey(name);
      },
    });
    const { failures, keys, started } = start(source);
    expect(await source.notify('a')).to.equal(1);
    expect([keys, failures]).to.deep.equal([['a by hook'], []]);
    const error = await source.notify('bad').catch((reason: unknown) => reason);
    expect(error).to.have.property('message', 'bad');
    await started.stop();
  });
});
