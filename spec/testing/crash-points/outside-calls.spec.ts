import { expect } from 'chai';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as passed } from 'node:timers/promises';
import { EmbeddedCluster } from '../../../lib/apiserver/index.js';
import { controllerFor, done } from '../../../lib/controller/index.js';
import type { ReconcileContext } from '../../../lib/controller/index.js';
import { Manager } from '../../../lib/manager/index.js';
import { ConfigMap, Pod } from '../../../lib/object/index.js';
import { sleep, systemClock, VirtualClock } from '../../../lib/system/index.js';
import type { OperatorError } from '../../../lib/system/index.js';
import { crashPoints } from '../../../lib/testing/index.js';
import type { CrashScenario } from '../../../lib/testing/index.js';
import type { OperatorStage } from '../../../lib/testing/crash-points/crash-scenario.js';
import { by, configMap, find, right, shopScenario, watchShop } from '../shop-scenario.js';

type Handler = (context: ReconcileContext) => Promise<unknown>;

/** Runs an operator whose handler is called while the shop is not done, and that marks it as done. */
async function runCalling(
  { client, clock, random, signal }: OperatorStage,
  handler: Handler,
): Promise<void> {
  const controller = controllerFor(ConfigMap).complete(async (context) => {
    const shop = context.key.name === 'shop' ? await find(context.client, 'shop') : undefined;
    if (shop === undefined || shop.data?.['done'] === 'yes') return done();
    await handler(context);
    await context.client.apply(configMap('shop', { done: 'yes' }), by);
    return done();
  });
  const manager = new Manager({ client, clock, random, rbacPreflight: 'off' });
  manager.add(controller);
  await manager.run(signal);
}

function calling(handler: Handler, more: Partial<CrashScenario> = {}): CrashScenario {
  return shopScenario(right, {
    kinds: [ConfigMap],
    operator: (stage) => runCalling(stage, handler),
    ...more,
  });
}

/** A server that answers after `ms`. */
async function outside(ms: number): Promise<{ readonly server: Server; readonly url: string }> {
  const server = createServer((_request, response) => void passed(ms).then(() => response.end()));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

describe('crashPoints, for handlers that call services outside of the cluster', () => {
  it('aborts the signals of handlers at the crash', async () => {
    const seen: boolean[] = [];
    const handler: Handler = async ({ client, signal }) => {
      await client.apply(configMap('env'), by).catch(() => undefined);
      await passed(5, undefined, { signal }).catch(() => undefined);
      seen.push(signal.aborted);
    };
    for (const mode of ['unanswered', 'answered'] as const) {
      seen.length = 0;
      await crashPoints(calling(handler), { only: { step: 'create', request: 1, mode } });
      expect(seen, mode).to.deep.equal([false, true, false]);
    }
  });

  it('in mode answered, gives a handler the response before its signal is aborted', async () => {
    const seen: string[] = [];
    const handler: Handler = async ({ client }) => {
      const applied = client.apply(configMap('env'), by);
      seen.push(
        await applied.then(
          () => 'answer',
          () => 'no answer',
        ),
      );
    };
    await crashPoints(calling(handler), { only: { step: 'create', request: 1, mode: 'answered' } });
    expect(seen).to.deep.equal(['answer', 'answer', 'answer']);
  });

  it('starts the next operator only after the handlers of the killed operator have ended', async () => {
    let [running, most] = [0, 0];
    const handler: Handler = async ({ client }) => {
      most = Math.max(most, ++running);
      await client.apply(configMap('env'), by).catch(() => undefined);
      await passed(30); // The handler ignores its signal.
      running -= 1;
    };
    const only = { step: 'create', request: 1, mode: 'unanswered' } as const;
    await crashPoints(calling(handler), { only });
    expect(most).to.equal(1);
  });

  it('does not advance the virtual time during a call, and stops the server of each run', async () => {
    const servers = new Map<object, Awaited<ReturnType<typeof outside>>>();
    let stopped = 0;
    const handler: Handler = async ({ signal }) => {
      const [{ url } = expect.fail('no server')] = [...servers.values()];
      await (await fetch(url, { signal })).text();
    };
    const scenario = calling(handler, {
      setup: async ({ cluster }) => servers.set(cluster, await outside(50)),
      teardown: async ({ cluster }) => {
        servers.get(cluster)?.server.close();
        servers.delete(cluster);
        stopped += 1;
      },
    });
    const { results } = await crashPoints(scenario);
    expect(results).to.have.length.above(1);
    expect(stopped).to.equal(results.length + 1);
    expect(servers.size).to.equal(0);
  });

  it('finds that an ID is lost if the operator crashes between the call that returns it and the write that stores it', async () => {
    const made = new WeakMap<object, number>();
    const scenario = calling(() => Promise.resolve(), {
      operator: (stage) =>
        runCalling(stage, async ({ client, signal }) => {
          await client.apply(configMap('env'), by);
          await passed(1, undefined, { signal });
          made.set(stage.cluster, (made.get(stage.cluster) ?? 0) + 1);
        }),
      invariant: async ({ cluster }) => expect(made.get(cluster) ?? 0).to.be.at.most(1),
    });
    const error = await crashPoints(scenario).catch((thrown: unknown) => thrown);
    expect(error)
      .to.have.property('message')
      .that.matches(/apply ConfigMap default\/shop\), before:\n {4}invariant: /);
  });

  it('calls teardown also for a run whose setup failed', async () => {
    let stopped = 0;
    const teardown = (): Promise<void> => Promise.resolve(void (stopped += 1));
    const setup = (): Promise<void> => Promise.reject(new Error('no server'));
    const error = await crashPoints(calling(() => Promise.resolve(), { setup, teardown })).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).to.include({ message: 'no server' });
    expect(stopped).to.equal(1);
  });

  it('advances the virtual time for handlers that wait for a timer only', async () => {
    const handler: Handler = ({ client, clock }) =>
      client.apply(configMap('env'), by).then(() => sleep(clock, 30_000));
    const startMs = systemClock.monotonicMs();
    await crashPoints(calling(handler), { only: { step: 'create', request: 1 } });
    expect(systemClock.monotonicMs() - startMs).to.be.below(4_000);
  });

  it('names a handler that does not end in its error', async () => {
    const handler: Handler = () => new Promise(() => undefined);
    const error = await crashPoints(calling(handler)).catch((thrown: unknown) => thrown);
    expect(error)
      .to.have.property('message')
      .that.matches(
        /not carried out after 600 s: .*; the reconcile of default\/shop has not ended/,
      );
  });

  it('names a handler whose call gets no response for five seconds in its error', async () => {
    const { server, url } = await outside(3_600_000);
    const handler: Handler = async ({ signal }) => (await fetch(url, { signal })).text();
    const startMs = systemClock.monotonicMs();
    const error = await crashPoints(calling(handler, { timeoutMs: 1_000 })).catch(
      (thrown: unknown) => thrown,
    );
    server.closeAllConnections();
    server.close();
    expect(systemClock.monotonicMs() - startMs).to.be.at.least(5_000);
    expect(error)
      .to.have.property('message')
      .that.includes('the reconcile of default/shop has not ended: let each call outside');
  });

  it('ends the open streams of an operator when it is killed, and refuses to open new ones', async () => {
    const signals: (AbortSignal | undefined)[] = [];
    const [texts, ends]: [string[], unknown[]] = [[], []];
    const cluster = async (): Promise<EmbeddedCluster<VirtualClock>> => {
      const started = await EmbeddedCluster.start({ clock: new VirtualClock() });
      const newClient = started.client.bind(started);
      started.client = (options) => {
        const client = newClient(options);
        client.stream = async function* (_type, _key, { signal }) {
          signals.push(signal);
          yield new TextEncoder().encode('first');
          if (signal?.aborted === false) await once(signal, 'abort');
          // This chunk was already on its way when the request was aborted.
          yield new TextEncoder().encode('second');
        };
        return client;
      };
      return started;
    };
    const follow = async ({ client }: OperatorStage): Promise<void> => {
      const key = { namespace: 'default', name: 'web' };
      for await (const bytes of client.stream(Pod, key, { subresource: 'log' })) {
        texts.push(new TextDecoder().decode(bytes));
      }
    };
    const operator = async (stage: OperatorStage): Promise<void> => {
      const following = follow(stage).catch((error: unknown) => ends.push(error));
      await watchShop(stage, right);
      await following;
      await follow(stage).catch((error: unknown) => ends.push(error));
    };
    const scenario = shopScenario(right, { cluster, operator, kinds: [ConfigMap] });
    await crashPoints(scenario, { only: { step: 'create', request: 2, mode: 'unanswered' } });
    const lives = 5;
    expect(texts).to.deep.equal(Array.from({ length: lives }, () => 'first'));
    expect(signals.map((signal) => signal?.aborted)).to.deep.equal(texts.map(() => true));
    expect(ends.map((error) => (error as OperatorError).code)).to.deep.equal(
      Array.from({ length: 2 * lives }, () => 'Stopped'),
    );
  });
});
