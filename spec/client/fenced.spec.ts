import { expect } from 'chai';
import { fenced, forwarding } from '../../lib/client/index.js';
import type { Client, Fence } from '../../lib/client/index.js';
import { ConfigMap } from '../../lib/object/kinds.js';
import { ConnectionError, OperatorError } from '../../lib/system/operator-error.js';
import { VirtualClock } from '../../lib/system/virtual-clock.js';
import type { TransportRequest } from '../../lib/system/transport.js';
import { failureOf, refusal, scripted } from './scripted-transport.js';
import type { Script } from './scripted-transport.js';

const key = { namespace: 'shop', name: 'web' };
const configMap: ConfigMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...key } };
const versioned: ConfigMap = { ...configMap, metadata: { ...key, resourceVersion: '7' } };

/** Fence that the spec opens and shuts. */
class Gate implements Fence {
  readonly controller = new AbortController();
  isOpen = true;
  asked: string[] = [];

  get lost(): AbortSignal {
    return this.controller.signal;
  }

  check(what: string): void {
    this.asked.push(what);
    if (!this.isOpen) throw new OperatorError('Fenced', `${what}: shut`);
  }

  lose(): void {
    this.isOpen = false;
    this.controller.abort(new OperatorError('Stopped', 'lost'));
  }
}

const writes: Record<string, (client: Client) => Promise<unknown>> = {
  create: (client) => client.create(configMap),
  update: (client) => client.update(versioned),
  patch: (client) => client.patch(ConfigMap, key, { type: 'merge', body: {} }),
  apply: (client) => client.apply(configMap, { fieldManager: 'spec' }),
  delete: (client) => client.delete(ConfigMap, key),
  deleteCollection: (client) => client.deleteCollection(ConfigMap, { namespace: 'shop' }),
};

/** Sends like a real transport: checks the fences, then sends. @returns the requests sent */
const sending = (script: Script, waits: () => Promise<void> = async () => undefined) => {
  const sent: TransportRequest[] = [];
  const asking: Script = async (request) => {
    await waits();
    request.beforeSend?.();
    sent.push(request);
    return script(request, sent.length);
  };
  return { sent, asking };
};

describe('a fenced client', () => {
  for (const [verb, write] of Object.entries(writes)) {
    it(`does not begin the call ${verb} while the fence is shut`, async () => {
      const { client, transport } = scripted(() => ({ json: configMap }));
      const gate = new Gate();
      gate.isOpen = false;
      expect(await failureOf(write(fenced(client, gate)))).to.have.property('code', 'Fenced');
      expect(transport.requests).to.deep.equal([]);
    });

    it(`checks the fence right before it sends the request of ${verb}`, async () => {
      const gate = new Gate();
      const { sent, asking } = sending(
        () => ({ json: configMap }),
        async () => void (gate.isOpen = false),
      );
      const { client } = scripted(asking);
      expect(await failureOf(write(fenced(client, gate)))).to.have.property('code', 'Fenced');
      expect(sent).to.deep.equal([]);
    });
  }

  it('refuses a null type as the wrapped client does', async () => {
    const { client, transport } = scripted(() => ({ json: configMap }));
    const gated = fenced(client, new Gate());
    const none = null as never;
    for (const write of [
      () => gated.patch(none, key, { type: 'merge', body: {} }),
      () => gated.delete(none, key),
      () => gated.deleteCollection(none),
    ]) {
      const error = await failureOf(write());
      expect(error).to.have.property('code', 'InvalidOption');
      expect(error.message).to.equal(
        'type: want a ResourceType, such as ConfigMap, or { apiVersion, kind }, got null',
      );
    }
    expect(transport.requests).to.deep.equal([]);
  });

  it('writes while its fence is open, and reads also while it is shut', async () => {
    const { client } = scripted(() => ({ json: configMap }));
    const gate = new Gate();
    for (const write of Object.values(writes)) await write(fenced(client, gate));
    gate.isOpen = false;
    expect(await fenced(client, gate).get(ConfigMap, key)).to.deep.equal(configMap);
  });

  it('checks its fence even if another wrapper wraps it, and writes only while every fence is open', async () => {
    const { sent, asking } = sending(() => ({ json: configMap }));
    const { client } = scripted(asking);
    const [inner, outer] = [new Gate(), new Gate()];
    const wrapped = fenced(forwarding(fenced(client, inner)), outer);
    await wrapped.create(configMap);
    expect([inner.asked.length, outer.asked.length].every((times) => times >= 3)).to.be.true;
    for (const shut of [inner, outer]) {
      shut.isOpen = false;
      expect(await failureOf(wrapped.create(configMap))).to.have.property('code', 'Fenced');
      shut.isOpen = true;
    }
    expect(sent.length).to.equal(1);
  });

  it('checks the fence again after a Retry-After', async () => {
    const gate = new Gate();
    const clock = new VirtualClock();
    const { sent, asking } = sending(() => {
      gate.isOpen = false;
      return { ...refusal(429, 'TooManyRequests'), headers: { 'retry-after': '1' } };
    });
    const { client } = scripted(asking, { clock });
    const failure = failureOf(fenced(client, gate).create(configMap));
    await clock.advance(2_000);
    expect([(await failure).message, sent.length]).to.deep.equal([
      'create ConfigMap shop/web: shut',
      1,
    ]);
  });

  it('checks the fence again after a broken connection', async () => {
    const gate = new Gate();
    const { sent, asking } = sending(() => {
      gate.isOpen = false;
      return new ConnectionError('reset', { requestSent: true });
    });
    const { client } = scripted(asking);
    const failure = await failureOf(fenced(client, gate).update(versioned));
    expect([failure.message, sent.length]).to.deep.equal(['update ConfigMap shop/web: shut', 1]);
  });

  it('checks the fence again after a renewal of credentials', async () => {
    const gate = new Gate();
    const { sent, asking } = sending(() => refusal(401, 'Unauthorized'));
    const credentials = {
      headers: () => ({ authorization: 'Bearer stale' }),
      refresh: async () => void (gate.isOpen = false),
    };
    const { client } = scripted(asking, { credentials });
    const failure = await failureOf(fenced(client, gate).create(configMap));
    expect([failure.message, sent.length]).to.deep.equal(['create ConfigMap shop/web: shut', 1]);
  });

  it('checks the fence again after a wait for the rate limit', async () => {
    const gate = new Gate();
    const clock = new VirtualClock();
    const { sent, asking } = sending(() => ({ json: configMap }));
    const { client } = scripted(asking, { clock, rateLimit: { qps: 1, burst: 1 } });
    const own = fenced(client, gate);
    await own.create(configMap);
    const failure = failureOf(own.create(configMap));
    gate.isOpen = false;
    await clock.advance(5_000);
    expect([await failure, sent.length]).to.satisfy(
      ([error, count]: [Error, number]) => /shut/.test(error.message) && count === 1,
    );
  });

  it('aborts a write that is already sent when the fence is shut, and reports that the server may have stored it', async () => {
    const gate = new Gate();
    const { client } = scripted(
      ({ signal }) =>
        new Promise((resolve) => {
          const ended = (): void => resolve(new OperatorError('Aborted', 'ended'));
          signal?.addEventListener('abort', ended);
          queueMicrotask(() => gate.lose());
        }),
    );
    const failure = await failureOf(fenced(client, gate).create(configMap));
    expect(failure).to.have.property('code', 'Aborted');
    expect(failure.cause).to.have.property('message', 'lost');
  });

  it('refuses a call that began in an earlier term of leadership', async () => {
    let term = new Gate();
    const fence: Fence = { check: (what) => term.check(what), term: () => term };
    const { sent, asking } = sending(
      () => ({ json: configMap }),
      async () => {
        term.isOpen = false;
        term = new Gate();
      },
    );
    const { client } = scripted(asking);
    expect(await failureOf(fenced(client, fence).create(configMap))).to.match(/shut/);
    expect(sent).to.deep.equal([]);
  });
});
