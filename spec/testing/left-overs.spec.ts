import { expect } from 'chai';
import { forwarding } from '../../lib/client/index.js';
import type { Client } from '../../lib/client/index.js';
import { ConfigMap } from '../../lib/object/kinds.js';
import { referenceTo } from '../../lib/object/object-reference.js';
import { ownerReferenceTo } from '../../lib/object/owner-reference.js';
import {
  assertNothingLeft,
  crashPoints,
  faultSweep,
  recordCreations,
  testCluster,
} from '../../lib/testing/index.js';
import type { RecordingClient } from '../../lib/testing/index.js';
import type { AssertNothingLeftOptions } from '../../lib/testing/left-overs.js';
import type { CrashStage, OperatorStage } from '../../lib/testing/crash-points/crash-scenario.js';
import {
  by,
  configMap,
  find,
  namespace,
  note,
  shopKey,
  shopScenario,
  watchShop,
} from './shop-scenario.js';
import type { Reconcile } from './shop-scenario.js';

const owner = { apiVersion: 'v1', kind: 'ConfigMap', ...shopKey };

function owned(name: string, by: ConfigMap, finalizers: string[] = []): ConfigMap {
  const metadata = { namespace, name, finalizers, ownerReferences: [ownerReferenceTo(by)] };
  return { ...configMap(name), metadata };
}

describe('assertNothingLeft', () => {
  const cluster = testCluster();
  let shop: ConfigMap;
  let operator: RecordingClient;
  const check = (more: Partial<AssertNothingLeftOptions> = {}): Promise<string> => {
    const { created } = operator;
    const options = { owner, created, clock: cluster().clock, ...more };
    return assertNothingLeft(cluster().client(), options).then(
      () => 'nothing left',
      (error: unknown) => {
        expect(error).to.have.property('code', 'LeftOvers');
        return (error as Error).message;
      },
    );
  };
  beforeEach(async () => {
    shop = await cluster().client().create(configMap('shop'));
    operator = recordCreations(cluster().client({ user: 'operator' }));
  });

  it('accepts objects that are garbage-collected with their owner', async () => {
    await operator.create(owned('env', shop));
    await operator.apply(owned('more', shop), by);
    expect(operator.created.map(({ name }) => name)).to.deep.equal(['env', 'more']);
    expect(await check()).to.equal('nothing left');
  });

  it('names an object without an owner reference, also if the server generated its name', async () => {
    await operator.create(owned('env', shop));
    await operator.apply(configMap('forgotten'), by);
    const metadata = { namespace, generateName: 'made-' };
    const made = await operator.create<ConfigMap>({ ...configMap(''), metadata });
    const message = await check();
    expect(message).to.match(/^60(\.\d+)? s after ConfigMap default\/shop was deleted: /);
    const why = 'is left: it has no reference to its owner ConfigMap default/shop';
    expect(message).to.include(`ConfigMap default/forgotten ${why}`);
    expect(message).to.include(`ConfigMap default/${made.metadata.name ?? ''} ${why}`);
    expect(message).not.to.include('default/env');
  });

  it('names the finalizer that delays the deletion of the owner', async () => {
    await operator.create(owned('env', shop, ['example.com/hold']));
    const body = { metadata: { finalizers: ['example.com/work'] } };
    await operator.patch(ConfigMap, shopKey, { type: 'merge', body });
    const message = await check();
    expect(message).to.include('ConfigMap default/shop is still there: example.com/work holds it');
  });

  it('ignores objects of other owners, objects for which the option keep returns true, and dry runs', async () => {
    const other = await cluster().client().create(configMap('other'));
    await operator.create(owned('of-other', other));
    await operator.create(configMap('backup'));
    await operator.create(configMap('dry'), { dryRun: true });
    const keep = ({ metadata }: { readonly metadata: ConfigMap['metadata'] }): boolean =>
      metadata.name === 'backup';
    expect(await check({ keep })).to.equal('nothing left');
    await cluster().client().get(ConfigMap, { namespace, name: 'of-other' });
  });

  it('finds the objects of an owner that is already deleted by the UID of the owner', async () => {
    await operator.create(owned('env', shop, ['example.com/hold']));
    await cluster().client().delete(ConfigMap, shopKey);
    const message = await check({ owner: referenceTo(shop) });
    expect(message).to.include('ConfigMap default/env is still there: example.com/hold holds it');
  });

  it('accepts that another client deletes the owner at the same time', async () => {
    await operator.create(owned('env', shop));
    const client = cluster().client();
    const racing: Client = {
      ...forwarding(client),
      delete: async (type, key, options) => {
        await client.delete(type, key);
        return client.delete(type, key, options);
      },
    };
    const { created } = operator;
    await assertNothingLeft(racing, { owner, created, clock: cluster().clock });
  });

  it('fails with the error of the server if the owner cannot be deleted', async () => {
    await operator.create(owned('env', shop));
    const effect = { type: 'status', code: 403 } as const;
    cluster().faults.add({ match: { verb: 'delete', resource: 'configmaps' }, effect });
    const { created } = operator;
    const checked = assertNothingLeft(cluster().client(), { owner, created });
    const error: unknown = await checked.catch((thrown: unknown) => thrown);
    expect(error).to.include({ status: 403 });
  });

  it('rejects a check that has nothing to check: no recorded object, or an owner that never existed', async () => {
    const problemOf = (more: Partial<AssertNothingLeftOptions>): Promise<unknown> => {
      const options = { owner, created: operator.created, ...more };
      return assertNothingLeft(cluster().client(), options).catch((thrown: unknown) => thrown);
    };
    const nothing = await problemOf({});
    expect(nothing).to.include({ code: 'InvalidOption' });
    expect(nothing)
      .to.have.property('message')
      .that.includes('created: no object of ConfigMap default/shop was recorded');
    expect(await cluster().client().get(ConfigMap, shopKey)).to.deep.equal(shop);
    await operator.create(owned('env', shop));
    const unknown = await problemOf({ owner: { ...owner, name: 'shopp' } });
    expect(unknown).to.include({ code: 'InvalidOption' });
    expect(unknown)
      .to.have.property('message')
      .that.includes('owner: ConfigMap default/shopp does not exist');
  });

  it('rejects unknown options', async () => {
    const options = { owner, created: [], keeps: () => true } as AssertNothingLeftOptions;
    const error = await assertNothingLeft(operator, options).catch((thrown: unknown) => thrown);
    expect(error).to.have.property(
      'message',
      'assertNothingLeft: unknown option "keeps"; did you mean "keep"?',
    );
  });
});

describe('the option leftOvers of crashPoints and faultSweep', () => {
  const forgetting: Reconcile = async (client, shop) => {
    if (shop.data?.['done'] === 'yes') return;
    await client.apply(configMap('env'), by);
    await note(client);
  };
  const right: Reconcile = async (client, shop) => {
    if (shop.data?.['done'] === 'yes') return;
    await client.apply(owned('env', shop), by);
    await note(client);
  };

  for (const [name, sweep] of Object.entries({ crashPoints, faultSweep })) {
    it(`lets ${name} find an object whose owner reference is missing`, async () => {
      const options = { leftOvers: { owner }, only: { request: 2 } };
      const error = await sweep(shopScenario(forgetting), options).catch(
        (thrown: unknown) => thrown as Error,
      );
      expect(error).to.have.property('message').that.includes('leftOver: ');
      expect(error).to.have.property('message').that.includes('ConfigMap default/env is left');
      await sweep(shopScenario(right), options);
    });
  }

  it('rejects an owner that does not exist in any run', async () => {
    const options = { leftOvers: { owner: { ...owner, name: 'shopp' } } };
    const error = await crashPoints(shopScenario(right), options).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).to.have.property(
      'message',
      'a shop: leftOvers.owner: ConfigMap default/shopp does not exist after any step; correct it',
    );
  });

  it('ignores objects that an operator creates before the owner exists', async () => {
    const operator = async (stage: OperatorStage): Promise<void> => {
      const isNew = (await find(stage.client, 'settings')) === undefined;
      if (isNew) await stage.client.create(configMap('settings'));
      await watchShop(stage, right);
    };
    const scenario = { ...shopScenario(right), operator };
    const deletion = {
      name: 'delete',
      change: ({ client }: CrashStage) => client.delete(ConfigMap, shopKey),
      until: async ({ client }: CrashStage) => (await find(client, 'shop')) === undefined,
    };
    for (const steps of [scenario.steps, [...scenario.steps, deletion]]) {
      const only = { step: 'start' };
      await crashPoints({ ...scenario, steps }, { leftOvers: { owner }, only });
    }
  });

  it('keeps the operator running after the owner is deleted, so that it can remove its finalizer', async () => {
    const finalizers = ['example.com/clean-up'];
    const cleaning: Reconcile = async (client, shop) => {
      const isGoing = shop.metadata.deletionTimestamp !== undefined;
      if (!isGoing && shop.data?.['done'] === 'yes') return;
      if (!isGoing) {
        await client.apply<ConfigMap>(
          { ...configMap('shop'), metadata: { ...shopKey, finalizers } },
          by,
        );
        await client.apply(configMap('env'), by);
        const metadata = { ...shopKey, finalizers };
        await client.apply<ConfigMap>({ ...configMap('shop', { done: 'yes' }), metadata }, by);
        return;
      }
      await client.delete(ConfigMap, { namespace, name: 'env' });
      const body = { metadata: { finalizers: null } };
      await client.patch(ConfigMap, shopKey, { type: 'merge', body });
    };
    const options = { leftOvers: { owner }, only: { request: 2 } };
    await faultSweep(shopScenario(cleaning), options);
  });
});
