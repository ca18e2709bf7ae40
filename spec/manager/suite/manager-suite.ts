import { expect } from 'chai';
import { controllerFor } from '../../../lib/controller/controller.js';
import { done, requeueAfter } from '../../../lib/controller/result.js';
import { getIfExists } from '../../../lib/client/object-changes.js';
import { Manager } from '../../../lib/manager/manager.js';
import type { ManagerOptions } from '../../../lib/manager/manager-options.js';
import { ownVerbs } from '../../../lib/manager/access/required-access.js';
import { isNotFound } from '../../../lib/object/api-error.js';
import { ConfigMap, Lease, Secret } from '../../../lib/object/kinds.js';
import { withControllerReference } from '../../../lib/object/owner-reference.js';
import { VirtualClock } from '../../../lib/system/virtual-clock.js';
import type { BuilderTarget, NewTarget } from '../../builder/suite/target.js';
import { onLoopback, served } from '../served.js';

/** Creates for each ConfigMap of the namespace a Secret of the same name. */
function secretKeeper() {
  return controllerFor(ConfigMap)
    .owns(Secret)
    .withOptions({ name: 'secret-keeper' })
    .complete(async ({ key, client }) => {
      const owner = await client.get(ConfigMap, key).catch((error: unknown) => {
        if (isNotFound(error)) return undefined;
        throw error;
      });
      if (owner?.data?.['secret'] === undefined) return done();
      const secret: Secret = {
        ...{ apiVersion: 'v1', kind: 'Secret', type: 'Opaque' },
        metadata: { name: key.name, namespace: key.namespace ?? '' },
        data: { value: Buffer.from(owner.data['secret']).toString('base64') },
      };
      const scopes = { ownerNamespaced: true, objectNamespaced: true };
      const owned = withControllerReference(secret, owner, scopes);
      await client.apply(owned, { fieldManager: 'secret-keeper', force: true });
      return done();
    });
}

/** Creates a child with a generated name for each ConfigMap that requests one, and requeues repeatedly. */
function childMaker(runs: string[]) {
  return controllerFor(ConfigMap)
    .withOptions({ name: 'child-maker' })
    .complete(async ({ key, client }) => {
      const parent = await getIfExists(client, ConfigMap, key);
      if (parent?.data?.['children'] === undefined) return done();
      runs.push(key.name);
      const { namespace = '', name } = key;
      const { items } = await client.list(ConfigMap, { namespace, index: { parent: name } });
      if (items.length === 0) {
        const metadata = { namespace, generateName: `${name}-` };
        const data = { parent: name };
        await client.create<ConfigMap>({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data });
      }
      return runs.length < 30 ? requeueAfter(1) : done();
    });
}

/** A running manager of the suite. */
interface Running {
  readonly manager: Manager;
  readonly over: Promise<void>;
  readonly stop: () => Promise<void>;
}

/** Defines the behaviour of a manager on a cluster, on the embedded and the real server. */
export function managerSuite(newTarget: NewTarget): void {
  let target: BuilderTarget;
  let namespace: string;

  before(async () => {
    target = await newTarget();
  });

  beforeEach(async () => {
    namespace = await target.namespace();
  });

  after(async () => {
    await target.close();
  });

  async function start(options: Partial<ManagerOptions> = {}): Promise<Running> {
    const { client } = await target.operator();
    const { clock } = target;
    const stopping = new AbortController();
    const manager = new Manager({
      ...{ client, clock, cacheOptions: { namespaces: [namespace] }, rbacPreflight: 'fail' },
      ...{ health: onLoopback, metrics: onLoopback },
      ...options,
    });
    manager.add(secretKeeper(), { requires: [{ type: Secret, verbs: ownVerbs }] });
    const over = manager.run(stopping.signal);
    const stop = async (): Promise<void> => {
      stopping.abort();
      await over;
    };
    over.catch(() => undefined);
    return { manager, over, stop };
  }

  async function configMap(name: string): Promise<void> {
    const metadata = { name, namespace };
    await target.admin.create<ConfigMap>({
      ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { secret: name } },
    });
  }

  /** Calls `target.eventually` and advances a virtual clock. */
  const eventually = (check: () => Promise<unknown>): Promise<unknown> =>
    target.eventually(async () => {
      if (target.clock instanceof VirtualClock) await target.clock.advance(200);
      return check();
    });

  const secret = (name: string) => target.admin.get(Secret, { namespace, name });

  it('a reconciler creates a child with a generated name only once, because the index contains it as soon as it is created', async () => {
    const runs: string[] = [];
    const { manager, stop } = await start();
    manager.index(ConfigMap, 'parent', ({ data }) => [data?.['parent']]);
    manager.add(childMaker(runs));
    await manager.whenLeading();
    const metadata = { name: 'root', namespace };
    await target.admin.create<ConfigMap>({
      ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { children: '1' } },
    });
    await eventually(() => Promise.resolve(expect(runs.length).to.be.at.least(30)));
    const { items } = await target.admin.list(ConfigMap, { namespace });
    const children = items.filter(({ data }) => data?.['parent'] === 'root');
    expect(children).to.have.length(1);
    await stop();
  });

  it('a manager reconciles, is ready, exports metrics and stops', async () => {
    await configMap('a');
    const { manager, stop } = await start();
    await manager.whenLeading();
    await target.eventually(() => secret('a'));
    expect(await served(manager, '/readyz')).to.include({ status: 200, text: 'ok' });
    // The Secret exists before the reconcile that created it ends.
    await target.eventually(async () => {
      const { text } = await served(manager, '/metrics');
      expect(text).to.match(
        /controller_runtime_reconcile_total\{controller="secret-keeper",result="success"\} [1-9]/,
      );
    });
    await target.admin.delete(Secret, { namespace, name: 'a' });
    await target.eventually(() => secret('a'));
    await stop();
    expect(manager.phase).to.equal('stopped');
  });

  it('a leader hands over to a standby manager whose caches are already synced', async () => {
    const leaderElection = { name: 'keeper', namespace };
    const times = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 400 };
    const first = await start({ leaderElection: { ...leaderElection, ...times } });
    await first.manager.whenLeading();
    const second = await start({ leaderElection: { ...leaderElection, ...times } });
    await second.manager.whenStarted();
    expect((await served(second.manager, '/readyz')).text).to.equal('ok');
    const [cached] = second.manager.cache.status();
    expect([cached?.synced, second.manager.status().isLeading]).to.deep.equal([true, false]);
    const holder = async () =>
      (await target.admin.get(Lease, { namespace, name: 'keeper' })).spec?.holderIdentity;
    const leader = await holder();
    await first.stop();
    // The leader releases the Lease at once. The standby may have taken it already.
    expect(await holder()).to.not.equal(leader);
    await eventually(async () => expect(second.manager.status().isLeading).to.equal(true));
    await configMap('b');
    await target.eventually(() => secret('b'));
    await second.stop();
  });

  it('a manager adds and removes controllers while it runs', async () => {
    const { manager, stop } = await start();
    await manager.whenLeading();
    const seen: string[] = [];
    const added = manager.add(
      controllerFor(Secret)
        .withOptions({ name: 'late' })
        .complete(async ({ key }) => {
          seen.push(key.name);
          return done();
        }),
    );
    await configMap('c');
    await target.eventually(async () => expect(seen).to.include('c'));
    await added.remove();
    expect(manager.status().controllers.map(({ name }) => name)).to.deep.equal(['secret-keeper']);
    await stop();
  });
}
