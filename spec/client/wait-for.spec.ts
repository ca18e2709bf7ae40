import { expect } from 'chai';
import { faulty, waitFor } from '../../lib/client/index.js';
import type { Client, Fault, FaultRule } from '../../lib/client/index.js';
import { ApiError } from '../../lib/object/index.js';
import { VirtualClock } from '../../lib/system/virtual-clock.js';
import { configMapNamed, embeddedClient } from './embedded-client.js';
import { failureOf, refusal, scripted } from './scripted-transport.js';

const ready = configMapNamed('web', { ready: 'yes' });
const isReady = (now?: { data?: Record<string, string> }) => now?.data?.['ready'] === 'yes';

describe('waitFor', () => {
  it('returns at once when the condition already holds, without a watch', async () => {
    const { client, server } = embeddedClient();
    const created = await client.create(ready);
    expect(await waitFor(client, ready, { until: isReady })).to.deep.equal(created);
    expect(server.requests.count(({ verb }) => verb === 'watch')).to.equal(0);
  });

  it('can wait until an object is missing', async () => {
    const { client } = embeddedClient();
    expect(await waitFor(client, ready, { until: (now) => now === undefined })).to.equal(undefined);
  });

  it('checks the condition on watch events, and leaves no watch open', async () => {
    const clock = new VirtualClock();
    const { client, server } = embeddedClient();
    const waiting = waitFor(client, ready, { until: isReady, clock });
    await client.create(configMapNamed('other', { ready: 'yes' }));
    await client.create(ready);
    expect((await waiting)?.metadata.name).to.equal('web');
    expect({ watches: server.openWatches, timers: clock.pendingTimers }).to.deep.equal({
      ...{ watches: 0, timers: 0 },
    });
  });

  it('continues after a broken connection and after the end of a watch', async () => {
    const clock = new VirtualClock();
    const { client, server } = embeddedClient();
    const shaky = faulty(client, {
      rules: [{ verbs: ['watch'], calls: 1, fault: { type: 'reset' } }],
    });
    const waiting = waitFor(shaky, ready, { until: isReady, clock });
    await clock.advance(500);
    server.dropWatches();
    await clock.advance(500);
    await client.create(ready);
    expect((await waiting)?.metadata.name).to.equal('web');
  });

  it('continues after failures that may pass: no answer, a busy server and an internal error', async () => {
    const clock = new VirtualClock();
    const { client } = embeddedClient();
    const error = (status: number): Fault => ({ type: 'error', status });
    const faults: Fault[] = [{ type: 'timeout' }, error(429), error(500), error(503)];
    const rules = faults.flatMap((fault, n): FaultRule[] => [
      { verbs: ['list'], calls: n + 1, fault },
      { verbs: ['watch'], calls: n + 1, fault },
    ]);
    const shaky = faulty(client, { rules });
    const waiting = waitFor(shaky, ready, { until: isReady, clock });
    await clock.advance(10_000);
    expect(shaky.notInjected).to.deep.equal([]);
    await client.create(ready);
    expect((await waiting)?.metadata.name).to.equal('web');
  });

  it('waits before the next list as long as the Retry-After of a 429 says', async () => {
    const clock = new VirtualClock();
    const { client } = embeddedClient();
    let lists = 0;
    const busy: Client = {
      ...client,
      list: () => {
        lists++;
        const context = { verb: 'list', kind: 'ConfigMap', status: 429, retryAfterMs: 45_000 };
        return Promise.reject(new ApiError({}, context));
      },
    };
    const failed = failureOf(waitFor(busy, ready, { until: isReady, clock }));
    await clock.advance(44_999);
    expect(lists).to.equal(1);
    await clock.advance(1);
    expect(lists).to.equal(2);
    await clock.advance(15_000);
    expect(await failed).to.have.property('code', 'Timeout');
  });

  it('reports at its time-out the failure of the last list, and no earlier failure', async () => {
    const failure = async (calls: FaultRule['calls']): Promise<Error> => {
      const clock = new VirtualClock();
      const rules: FaultRule[] = [{ verbs: ['list'], calls, fault: { type: 'reset' } }];
      const shaky = faulty(embeddedClient().client, { rules });
      const waiting = waitFor(shaky, ready, { until: isReady, clock, timeoutMs: 5_000 });
      const failed = failureOf(waiting);
      await clock.advance(5_000);
      return failed;
    };
    const message = 'wait for ConfigMap default/web: condition not met within 5000 ms';
    const lasting = await failure({ from: 1 });
    expect(lasting.message).to.equal(`${message} (list ConfigMap default: injected reset)`);
    expect(lasting.cause).to.have.property('code', 'ConnectionFailed');
    expect((await failure(1)).message).to.equal(message);
  });

  it('waits a minute without another timeout', async () => {
    const clock = new VirtualClock();
    const { client } = embeddedClient();
    const state = { isOver: false };
    const failure = failureOf(waitFor(client, ready, { until: isReady, clock }));
    void failure.then(() => (state.isOver = true));
    await clock.advance(59_999);
    expect(state.isOver).to.equal(false);
    await clock.advance(1);
    expect(await failure).to.have.property('code', 'Timeout');
  });

  it("throws Timeout with the object's name after the timeout", async () => {
    const clock = new VirtualClock();
    const { client, server } = embeddedClient();
    const failure = failureOf(waitFor(client, ready, { until: isReady, clock, timeoutMs: 5_000 }));
    await clock.advance(5_000);
    const error = await failure;
    expect(error).to.have.property('code', 'Timeout');
    expect(error.message).to.equal(
      'wait for ConfigMap default/web: condition not met within 5000 ms',
    );
    expect({ watches: server.openWatches, timers: clock.pendingTimers }).to.deep.equal({
      ...{ watches: 0, timers: 0 },
    });
  });

  it('throws Aborted when its signal aborts', async () => {
    const clock = new VirtualClock();
    const controller = new AbortController();
    const { client } = embeddedClient();
    const { signal } = controller;
    const failure = failureOf(waitFor(client, ready, { until: isReady, clock, signal }));
    await clock.advance(0);
    controller.abort();
    expect(await failure).to.have.property('code', 'Aborted');
    expect(clock.pendingTimers).to.equal(0);
  });

  it('throws the error of a server that refuses the list', async () => {
    const { client } = scripted(() => refusal(403, 'Forbidden'));
    expect(await failureOf(waitFor(client, ready, { until: isReady }))).to.have.property(
      'status',
      403,
    );
  });

  it('throws the error of the condition', async () => {
    const { client } = embeddedClient();
    const until = () => {
      throw new Error('broken condition');
    };
    expect((await failureOf(waitFor(client, ready, { until }))).message).to.equal(
      'broken condition',
    );
  });
});
