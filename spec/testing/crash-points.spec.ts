import { expect } from 'chai';
import { once } from 'node:events';
import type { Client } from '../../lib/client/index.js';
import { controllerFor, done } from '../../lib/controller/index.js';
import { Manager } from '../../lib/manager/index.js';
import { EmbeddedCluster } from '../../lib/apiserver/index.js';
import { ConfigMap } from '../../lib/object/kinds.js';
import { ownerReferenceTo } from '../../lib/object/owner-reference.js';
import { seededRandom } from '../../lib/system/random.js';
import { VirtualClock } from '../../lib/system/virtual-clock.js';
import { CrashPointsError, crashPoints } from '../../lib/testing/index.js';
import { describeRequest } from '../../lib/testing/crash-points/crash-point.js';
import type { CrashScenario } from '../../lib/testing/index.js';
import type { CrashPointsOptions } from '../../lib/testing/crash-points/crash-points.js';
import type { CrashStage, OperatorStage } from '../../lib/testing/crash-points/crash-scenario.js';
import {
  by,
  configMap,
  find,
  namespace,
  note,
  right,
  shopKey,
  shopScenario,
  watchShop,
} from './shop-scenario.js';
import type { Reconcile } from './shop-scenario.js';

async function failureOf(
  scenario: CrashScenario,
  options?: CrashPointsOptions,
): Promise<CrashPointsError> {
  return crashPoints(scenario, options).then(
    () => expect.fail('it came through'),
    (error: unknown) => {
      expect(error).to.be.instanceOf(CrashPointsError);
      return error as CrashPointsError;
    },
  );
}

describe('crashPoints', () => {
  it('crashes the operator before and after each request, and after each write before the operator receives the response', async () => {
    const { requests, results } = await crashPoints(shopScenario(right));
    expect(requests.map(describeRequest)).to.deep.equal([
      ...['get ConfigMap default/shop', 'apply ConfigMap default/env'],
      ...['apply ConfigMap default/shop', 'get ConfigMap default/shop'],
    ]);
    expect(results.map(({ point }) => `${point.request} ${point.mode}`)).to.deep.equal([
      ...['1 before', '1 answered', '2 before', '2 unanswered', '2 answered'],
      ...['3 before', '3 unanswered', '3 answered', '4 answered'],
    ]);
    expect(results.map(({ request }) => request?.request)).to.deep.equal([
      ...[1, 1, 2, 2, 2, 3, 3, 3, 4],
    ]);
  });

  it('returns the same results each time', async () => {
    const [one, other] = [
      await crashPoints(shopScenario(right)),
      await crashPoints(shopScenario(right)),
    ];
    expect(one).to.deep.equal(other);
  });

  it('can run a single crash point, or a random sample with a seed', async () => {
    const only = { step: 'create', request: 2, mode: 'answered' } as const;
    const { results } = await crashPoints(shopScenario(right), { only });
    expect(results.map(({ point }) => point)).to.deep.equal([only]);
    const sample = { count: 3, seed: 7 };
    const drawn = await crashPoints(shopScenario(right), { sample });
    expect(drawn.results).to.have.length(3);
    expect(await crashPoints(shopScenario(right), { sample })).to.deep.equal(drawn);
  });

  it('gives the same results if it runs several crash points in parallel', async () => {
    const clusters = { running: 0, most: 0 };
    const cluster = async (): Promise<EmbeddedCluster<VirtualClock>> => {
      const clock = new VirtualClock();
      const started = await EmbeddedCluster.start({ clock, random: seededRandom(1) });
      clusters.most = Math.max(clusters.most, ++clusters.running);
      const stop = started.stop.bind(started);
      started.stop = () => stop().finally(() => (clusters.running -= 1));
      return started;
    };
    const scenario = shopScenario(right, { cluster });
    const oneByOne = await crashPoints(scenario);
    expect(clusters).to.deep.equal({ running: 0, most: 1 });
    expect(await crashPoints(scenario, { concurrency: 3 })).to.deep.equal(oneByOne);
    expect(clusters).to.deep.equal({ running: 0, most: 3 });
    for (const concurrency of [0, 1.5, NaN]) {
      const error = await crashPoints(scenario, { concurrency }).catch((thrown: unknown) => thrown);
      expect(error).to.include({ code: 'InvalidOption' });
    }
  });

  it('runs the scenario without a crash once if all kinds are given, and otherwise twice', async () => {
    const plays: number[] = [];
    for (const kinds of [[ConfigMap], []]) {
      let count = 0;
      const setup = (): Promise<void> => Promise.resolve(void (count += 1));
      await crashPoints(shopScenario(right, { kinds, setup }), { sample: { count: 1, seed: 1 } });
      plays.push(count);
    }
    expect(plays).to.deep.equal([2, 3]);
  });

  it('sends no request after the crash, and gives the operator the response only in mode answered', async () => {
    const seen: string[] = [];
    const reconcile: Reconcile = async (client, shop) => {
      if (shop.data?.['done'] === 'yes') return;
      await client.apply(configMap('env', { a: '1' }), by).then(
        () => seen.push('answer'),
        () => seen.push('no answer'),
      );
      await client.apply(configMap('more'), by);
      await note(client);
    };
    const scenario = shopScenario(reconcile, { kinds: [ConfigMap] });
    for (const mode of ['unanswered', 'answered'] as const) {
      seen.length = 0;
      await crashPoints(scenario, { only: { request: 2, mode } });
      // The first entry is of the uninterrupted run, the last of the restarted operator.
      expect(seen).to.deep.equal([
        'answer',
        mode === 'answered' ? 'answer' : 'no answer',
        'answer',
      ]);
    }
  });

  it('names the crash point, the problem, and how to run this point alone', async () => {
    // The operator records a generated name too late.
    const error = await failureOf(
      shopScenario(async (client, shop) => {
        if (shop.data?.['done'] === 'yes') return;
        const metadata = { namespace, generateName: 'env-' };
        await client.create<ConfigMap>({ apiVersion: 'v1', kind: 'ConfigMap', metadata });
        await note(client);
      }),
    );
    expect(error.message).to.include('a shop: 3 of 9 crash points failed');
    expect(error.message).to.include(
      'create, request 2 (create ConfigMap default/env-*), unanswered:',
    );
    expect(error.message).to.include(
      "{ only: { step: 'create', request: 2, mode: 'unanswered' } }",
    );
    const failed = error.report.results.filter(({ problems }) => problems.length > 0);
    expect(failed.map(({ problems }) => problems.map(({ type }) => type))).to.deep.equal([
      ['createdTwice', 'orphan'],
      ['createdTwice', 'orphan'],
      ['createdTwice', 'orphan'],
    ]);
  });

  const started = new WeakSet<Client>();
  const broken: Readonly<Record<string, readonly [Reconcile, string, Partial<CrashScenario>?]>> = {
    'an object that only an uninterrupted operator creates': [
      async (client, shop) => {
        if (shop.data?.['done'] === 'yes') return;
        await note(client);
        await client.apply(configMap('late'), by);
      },
      'missing',
    ],
    'a field that is written only on creation': [
      async (client, shop) => {
        if (shop.data?.['done'] === 'yes') return;
        if ((await find(client, 'env')) === undefined) {
          await client.create(configMap('env'), { fieldManager: by.fieldManager });
          await client.apply(configMap('env', { a: '1' }), by);
        }
        await note(client);
      },
      'differs',
    ],
    'an object that is created again after a restart': [
      async (client, shop) => {
        if (shop.data?.['done'] === 'yes') return;
        if (shop.data?.['begun'] === 'yes') {
          await client.delete(ConfigMap, { namespace, name: 'kept' });
          await client.create(configMap('kept'));
        }
        await client.apply(configMap('shop', { begun: 'yes' }), by);
        await client.apply(configMap('shop', { begun: 'yes', done: 'yes' }), by);
      },
      'replaced',
      { setup: ({ client }) => client.create(configMap('kept')) },
    ],
    'a write at every start': [
      async (client, shop) => {
        if (started.has(client)) return;
        started.add(client);
        const starts = String(Number(shop.metadata.annotations?.['starts'] ?? 0) + 1);
        const metadata = { ...shopKey, annotations: { starts } };
        await client.apply<ConfigMap>({ ...configMap('shop', { done: 'yes' }), metadata }, by);
      },
      'writesWhenConverged',
    ],
  };

  it('finds that the restarted operator creates an object of the setup again', async () => {
    const operator = async (stage: OperatorStage): Promise<void> => {
      const { client } = stage;
      if ((await find(client, 'done')) === undefined) {
        if ((await find(client, 'begun')) !== undefined) {
          await client.delete(ConfigMap, { namespace, name: 'kept' });
          await client.create(configMap('kept'));
        }
        await client.apply(configMap('begun'), by);
        await client.apply(configMap('done'), by);
      }
      await watchShop(stage, right);
    };
    const setup = ({ client }: CrashStage): Promise<unknown> => client.create(configMap('kept'));
    const scenario = { ...shopScenario(right), setup, operator };
    const error = await failureOf(scenario, { only: { step: 'start' } });
    expect(error.message).to.include('replaced: ConfigMap default/kept was deleted and recreated');
  });

  it('fails at a crash point that a run does not reach because it differs from the first run', async () => {
    let runs = 0;
    const setup = (): Promise<void> => Promise.resolve(void (runs += 1));
    const scenario = shopScenario(
      async (client, shop) => {
        if (shop.data?.['done'] === 'yes') return;
        // Because of state outside of the run, the first runs send one request more.
        if (runs < 3) await client.get(ConfigMap, shopKey);
        await note(client);
      },
      { setup },
    );
    const error = await failureOf(scenario, { only: { request: 4 } });
    expect(error.message).to.include('request 4 (never reached), answered:');
    expect(error.message).to.include(
      'notReached: the uninterrupted run sends request 4 in create, this one does not: ',
    );
  });

  it('finds a finalizer that is never removed', async () => {
    const finalizers = ['example.com/hold'];
    const held: ConfigMap = {
      ...configMap('held'),
      metadata: { namespace, name: 'held', finalizers },
    };
    const scenario = shopScenario(async (client, shop) => {
      if (shop.data?.['done'] === 'yes') return;
      const live = await find(client, 'held');
      if (live?.metadata.deletionTimestamp === undefined && live !== undefined) {
        await client.delete(ConfigMap, { namespace, name: 'held' });
        const body = { metadata: { finalizers: null } };
        await client.patch(ConfigMap, { namespace, name: 'held' }, { type: 'merge', body });
      }
      await note(client);
    });
    const error = await failureOf({ ...scenario, setup: ({ client }) => client.create(held) });
    expect(error.message).to.include(
      'finalizerLeft: ConfigMap default/held is held by example.com/hold',
    );
  });

  for (const [title, [reconcile, type, more]] of Object.entries(broken)) {
    it(`finds ${title}`, async () => {
      const error = await failureOf(shopScenario(reconcile, more));
      expect(error.message).to.include(`${type}:`);
    });
  }

  it('finds that an operator writes without end, even without a crash', async () => {
    const error = await failureOf(
      shopScenario(
        async (client, { metadata }) => {
          const count = String(Number(metadata.annotations?.['count'] ?? 0) + 1);
          const object = { ...configMap('shop', { done: 'yes' }) };
          const counted = { ...object, metadata: { ...shopKey, annotations: { count } } };
          await client.apply<ConfigMap>(counted, by);
        },
        { timeoutMs: 5_000 },
      ),
    );
    expect(error.message).to.match(
      /it fails without a crash:\n +notConverged: .* does not settle; its last requests: /,
    );
    expect(error.report.results).to.deep.equal([]);
  });

  it('accepts at most 500 requests of an operator while the virtual time stands still', async () => {
    const sending = (count: number): CrashScenario => {
      const operator = async ({ client, signal }: OperatorStage): Promise<void> => {
        for (let sent = 0; sent < count; sent++) await client.list(ConfigMap, { namespace });
        if (!signal.aborted) await once(signal, 'abort');
      };
      return { ...shopScenario(right), operator, kinds: [ConfigMap], steps: [] };
    };
    const only = { step: 'start', request: 1, mode: 'before' } as const;
    const { requests } = await crashPoints(sending(500), { only });
    expect(requests).to.have.length(500);
    const { message } = await failureOf(sending(501), { only });
    expect(message).to.match(
      /it fails without a crash:\n +notConverged: .* does not settle; its last requests: list /,
    );
  });

  it('finds a step whose until is never true, and an operator that ends by itself', async () => {
    const idle = await failureOf(shopScenario(async () => undefined));
    expect(idle.message).to.match(/create was not carried out after 600 s: «until» is false/);
    const operator = (): Promise<void> => Promise.reject(new Error('no such flag'));
    const dead = await failureOf({ ...shopScenario(right), operator });
    expect(dead.message).to.match(/the operator ended by itself: Error: no such flag/);
  });

  it('advances the virtual time for requests that a fault delays', async () => {
    const setup = ({ cluster }: CrashStage): Promise<void> => {
      const match = { verb: 'patch', user: 'operator' } as const;
      cluster.faults.add({ match, effect: { type: 'latency', ms: 2_000 } });
      return Promise.resolve();
    };
    const only = { request: 2 };
    const scenario = shopScenario(right, { setup, kinds: [ConfigMap] });
    const { results } = await crashPoints(scenario, { only });
    expect(results.map(({ point }) => point.mode)).to.deep.equal([
      'before',
      'unanswered',
      'answered',
    ]);
  });

  it('checks the invariant at the crash, before the operator starts again and can repair it', async () => {
    const scenario = shopScenario(
      async (client, shop) => {
        if (shop.data?.['done'] === 'yes') return;
        await client.apply(configMap('lock'), by);
        await client.delete(ConfigMap, { namespace, name: 'lock' });
        await note(client);
      },
      {
        invariant: async ({ client }) => expect(await find(client, 'lock')).to.equal(undefined),
      },
    );
    const error = await failureOf(scenario);
    expect(error.message).to.match(/request 2 .*\n +invariant: create, at the crash: expected/);
  });

  it('finds the same owned object in two runs although the UID of its owner differs', async () => {
    const owned: Reconcile = async (client, shop) => {
      if (shop.data?.['done'] === 'yes') return;
      const ownerReferences = [ownerReferenceTo(shop)];
      const metadata = { namespace, name: 'env', ownerReferences };
      await client.apply<ConfigMap>({ ...configMap('env'), metadata }, by);
      await note(client);
    };
    await crashPoints(shopScenario(owned));
  });

  it('treats the request of an access review as a read', async () => {
    const operator = async (stage: OperatorStage): Promise<void> => {
      const spec = { resourceAttributes: { resource: 'configmaps', verb: 'list' } };
      const typeMeta = { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview' };
      await stage.client.create({ ...typeMeta, metadata: {}, spec });
      await watchShop(stage, right);
    };
    const { requests } = await crashPoints({ ...shopScenario(right), operator });
    expect(requests[0]).to.include({ kind: 'SelfSubjectAccessReview', write: false });
  });

  it('lets a starting operator run before the virtual time advances, even if it has set no timers', async () => {
    const operator = async ({ client, clock, random, signal }: OperatorStage): Promise<void> => {
      const manager = new Manager({ client, clock, random });
      const writer = controllerFor(ConfigMap).complete(async ({ key, client: cached }) => {
        const live = await cached.get(ConfigMap, key);
        if (key.name === 'shop' && live.data?.['done'] !== 'yes') await note(cached);
        return done();
      });
      manager.add(writer);
      await manager.run(signal);
    };
    const before = { step: 'create', request: 1, mode: 'before' } as const;
    await crashPoints({ ...shopScenario(right), operator }, { only: before });
  });

  it('ignores kinds that cannot be listed', async () => {
    const review = { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview' };
    await crashPoints({ ...shopScenario(right), kinds: [review] });
  });

  it('rejects unknown options and modes', async () => {
    const options = { mode: 'before' } as CrashPointsOptions;
    const error = await crashPoints(shopScenario(right), options).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).to.have.property(
      'message',
      'crashPoints: unknown option "mode"; did you mean "modes"?',
    );
    const modes = ['conflict'] as unknown as CrashPointsOptions['modes'];
    const other = await crashPoints(shopScenario(right), { modes }).catch(
      (thrown: unknown) => thrown,
    );
    expect(other).to.include({ code: 'InvalidOption' });
  });

  it('rejects a scenario with an unknown property', async () => {
    const scenario = { ...shopScenario(right), invariants: () => expect.fail() } as CrashScenario;
    const error = await crashPoints(scenario).catch((thrown: unknown) => thrown);
    expect(error).to.have.property(
      'message',
      'a shop: unknown option "invariants"; did you mean "invariant"?',
    );
  });

  it('rejects options that select no crash point', async () => {
    const nothing = [
      { modes: [] },
      ...[0, -1, 0.5, Number.NaN].map((count) => ({ sample: { count, seed: 1 } })),
    ];
    for (const options of nothing) {
      const error = await crashPoints(shopScenario(right), options).catch(
        (thrown: unknown) => thrown,
      );
      expect(error, JSON.stringify(options)).to.have.property('code', 'InvalidOption');
    }
  });

  it('rejects an unknown crash point, and two steps of the same name', async () => {
    const none = await crashPoints(shopScenario(right), { only: { request: 99 } }).catch(
      (error: unknown) => error,
    );
    expect(none).to.include({ code: 'InvalidOption' });
    const { steps } = shopScenario(right);
    const twice = await crashPoints({ ...shopScenario(right), steps: [...steps, ...steps] }).catch(
      (error: unknown) => error as Error,
    );
    expect(twice).to.have.property(
      'message',
      'a shop: two steps are called create; give one of them another name',
    );
  });
});
