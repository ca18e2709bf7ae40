import { expect } from 'chai';
import countBy from 'lodash/countBy.js';
import isEqual from 'lodash/isEqual.js';
import omit from 'lodash/omit.js';
import { controllerFor } from '../../../lib/controller/controller.js';
import type { ControllerEvent } from '../../../lib/controller/outcome.js';
import type { Controller } from '../../../lib/controller/controller.js';
import { done } from '../../../lib/controller/result.js';
import { DeclarativeManager } from '../../../lib/declarative/views/index.js';
import type { DeclarativeManagerOptions } from '../../../lib/declarative/views/index.js';
import { EmbeddedCluster } from '../../../lib/apiserver/index.js';
import { EventRecorder } from '../../../lib/events/index.js';
import { isNotFound } from '../../../lib/object/api-error.js';
import { ConfigMap, Lease } from '../../../lib/object/kinds.js';
import { systemClock } from '../../../lib/system/clock.js';
import { failureOf } from '../../client/scripted-transport.js';
import { grant } from '../../manager/grant.js';
import { ManagerSetup, configMap, rememberingLogger } from '../../manager/manager-setup.js';
import { HealthView, apiVersion, healthView, keyOf, keysOf } from './view-objects.js';

const key = { namespace: 'default', name: 'a' };

class Setup {
  readonly base: ManagerSetup;
  readonly manager: DeclarativeManager;

  constructor(base: ManagerSetup, manager: DeclarativeManager) {
    this.base = base;
    this.manager = manager;
  }

  static async start(
    options: Partial<DeclarativeManagerOptions> = {},
    rbac = false,
  ): Promise<Setup> {
    const base = await ManagerSetup.start({ rbac });
    const { client, clock } = base;
    const logger = rememberingLogger(base.lines);
    return new Setup(base, await DeclarativeManager.create({ client, clock, logger, ...options }));
  }

  async run(...controllers: Controller[]): Promise<void> {
    for (const controller of controllers) this.manager.add(controller);
    await this.base.run(this.manager);
  }

  /**
   * Stops everything, and expects nothing to remain.
   * @returns the error of the manager, or undefined
   */
  async end(): Promise<unknown> {
    const { clock } = this.base;
    const error = await this.base.end();
    expect(clock.pendingTimers).to.equal(0);
    expect(this.manager.views.server.openWatches).to.equal(0);
    expect(await failureOf(this.manager.views.client.list(HealthView))).to.have.property(
      'code',
      'Stopped',
    );
    return error;
  }
}

/** A controller that writes a view for each ConfigMap, with its data. */
const toViews = controllerFor(ConfigMap).complete(async ({ key, client }) => {
  const source = await client.get(ConfigMap, key).catch((error: unknown) => {
    if (isNotFound(error)) return undefined;
    throw error;
  });
  if (source === undefined) await client.delete(HealthView, key);
  else await client.apply(healthView(key, { data: source.data }), { fieldManager: 'spec' });
  return done();
});

/** A controller that records each view it reconciles, as cached. */
function watcherOfViews(seen: string[]): Controller {
  return controllerFor(HealthView).complete(async ({ key, client }) => {
    const view = await client.get(HealthView, key).catch(() => undefined);
    seen.push(view === undefined ? `${key.name} is gone` : keyOf(view));
    return done();
  });
}

describe('DeclarativeManager', () => {
  it('runs controllers that read the cluster and views, and stops the views when it stops', async () => {
    const setup = await Setup.start();
    const seen: string[] = [];
    await setup.manager.views.ensure('op', 'HealthView');
    await setup.run(toViews, watcherOfViews(seen));
    const { base, manager } = setup;
    await base.person.create({ ...configMap('a'), data: { x: '1' } });
    await base.until(() => seen.includes('default/a'));
    expect(await manager.client.get(HealthView, key)).to.deep.include({ data: { x: '1' } });
    await base.person.delete(ConfigMap, key);
    await base.until(() => seen.includes('a is gone'));
    expect(await setup.end()).to.equal(undefined);
  });

  it('returns from its cache what its client has written, also for views', async () => {
    const setup = await Setup.start();
    await setup.manager.views.ensure('op', 'HealthView');
    // The reconciler reads nothing, so the requests counted below are those of this spec.
    await setup.run(controllerFor(HealthView).complete(() => Promise.resolve(done())));
    const { client } = setup.manager;
    for (const at of [key, { name: 'a' }]) {
      await client.create(healthView(at, { data: 1 }));
      expect(await client.get(HealthView, at)).to.deep.include({ data: 1 });
      await client.patch(HealthView, at, { type: 'merge', body: { data: 2 } });
      expect(await client.get(HealthView, at)).to.deep.include({ data: 2 });
      await client.delete(HealthView, at);
      expect(isNotFound(await failureOf(client.get(HealthView, at)))).to.equal(true);
      // The view is created again before the watch delivers its deletion.
      await client.create(healthView(at, { data: 3 }));
      expect(await client.get(HealthView, at)).to.deep.include({ data: 3 });
    }
    const asked = setup.manager.views.server.requests.entries.filter(({ verb }) => verb === 'get');
    // Only the server can tell whether a view may lack a namespace, so the cached client asks it once.
    expect(asked.map(({ namespace, code }) => [namespace, code])).to.deep.equal([['', 404]]);
    await setup.end();
  });

  it('writes its Lease and its Events to the cluster, but sends it nothing about views', async () => {
    const leaderElection = { name: 'operator', namespace: 'default' };
    const setup = await Setup.start({ leaderElection });
    const seen: string[] = [];
    await setup.manager.views.ensure('op', 'HealthView');
    const { base, manager } = setup;
    const { clock } = base;
    const recorder = new EventRecorder({ client: manager.liveClient, controllerName: 'op', clock });
    await setup.run(watcherOfViews(seen));
    await base.until(() => manager.status().leader !== undefined);
    const view = await manager.client.create(healthView(key));
    const event = { type: 'Normal', reason: 'Seen', action: 'See', note: 'it is there' } as const;
    recorder.record({ ...event, regarding: view });
    await base.until(() => seen.length > 0 && isAsked('events'));
    expect(await base.person.get(Lease, leaderElection)).to.have.property('kind', 'Lease');
    const { entries } = base.cluster.requests;
    expect(entries.filter(({ group }) => group.endsWith('view.dcontroller.io'))).to.deep.equal([]);
    expect(entries.filter(({ resource }) => resource.startsWith('healthview'))).to.deep.equal([]);
    await recorder.stop();
    await setup.end();

    function isAsked(resource: string): boolean {
      return base.cluster.requests.count((entry) => entry.resource === resource) > 0;
    }
  });

  it('needs no permissions in the cluster for views', async () => {
    const setup = await Setup.start({ rbacPreflight: 'fail' }, true);
    const { base, manager } = setup;
    await grant(base.person, [
      { apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list', 'watch'] },
    ]);
    await manager.views.ensure('op', 'HealthView');
    const requires = [{ type: HealthView, verbs: ['create', 'patch', 'delete'] as const }];
    manager.add(toViews, { requires });
    await setup.run(watcherOfViews([]));
    await base.until(() => manager.phase === 'running');
    const reviews = base.cluster.requests.entries.filter(
      ({ resource }) => resource === 'selfsubjectaccessreviews',
    );
    // Three verbs of ConfigMaps, and two of Events.
    expect(reviews).to.have.length(5);
    expect(await setup.end()).to.equal(undefined);
  });

  it('watches views in all namespaces and views without a namespace, although its cache is limited to some namespaces', async () => {
    const seen: string[] = [];
    const setup = await Setup.start({ cacheOptions: { namespaces: ['default'] } });
    const { base, manager } = setup;
    await manager.views.ensure('op', 'HealthView');
    await base.person.create(configMap('a'));
    await setup.run(watcherOfViews(seen), toViews);
    await manager.views.client.create(healthView({ name: 'b' }));
    await manager.views.client.create(healthView({ namespace: 'nowhere', name: 'c' }));
    await base.until(() => seen.length === 3);
    expect(seen).to.have.members(['default/a', 'b', 'nowhere/c']);
    const watches = base.cluster.requests.entries.filter(({ verb }) => verb === 'watch');
    expect(watches.map(({ namespace }) => namespace)).to.deep.equal(['default']);
    await setup.end();
  });

  it('detects a hot loop in which a key repeatedly writes one view', async () => {
    const events: ControllerEvent[] = [];
    const setup = await Setup.start({ onEvent: (event) => void events.push(event) });
    await setup.manager.views.ensure('op', 'HealthView');
    const fickle = controllerFor(HealthView)
      .withOptions({ name: 'fickle' })
      .complete(async ({ key, client }) => {
        const { data } = (await client.get(HealthView, key)) as { data?: number };
        const body = { data: data === 1 ? 2 : 1 };
        await client.patch(HealthView, key, { type: 'merge', body });
        return done();
      });
    await setup.run(fickle);
    const { base, manager } = setup;
    await manager.views.client.create(healthView(key));
    await base.until(() => events.some(({ type }) => type === 'hotLoop'));
    const loop = events.find((event) => event.type === 'hotLoop');
    expect(loop).to.deep.include({ controller: 'fickle', paths: ['data'] });
    expect(loop?.object).to.deep.include({ apiVersion, kind: 'HealthView', name: 'a' });
    await setup.end();
  });

  it('pauses the informers of a removed kind of views until the kind exists again', async () => {
    const seen: string[] = [];
    const setup = await Setup.start();
    const { base, manager } = setup;
    await manager.views.client.create(healthView({ name: 'a' }));
    await setup.run(watcherOfViews(seen));
    await base.until(() => seen.includes('a'));
    const [informer] = [() => manager.cache.status()[0]];
    await manager.views.drop('op');
    await base.until(() => seen.includes('a is gone'));
    await base.clock.advance(10_000);
    expect(informer()).to.include({ parked: true });
    expect(informer()?.missing).to.deep.equal({ type: 'kind', ...HealthView });
    expect(manager.views.types()).to.deep.equal([]);
    expect(manager.cache.informer(HealthView).list()).to.deep.equal([]);

    await manager.views.client.create(healthView({ name: 'b' }));
    // An informer checks every five seconds.
    await base.clock.advance(5_000);
    await base.until(() => seen.includes('b'));
    expect(informer()).to.include({ parked: false, synced: true });
    expect(await keysOf(manager.client)).to.deep.equal(['b']);
    await setup.end();
  });

  it('leaves no open timers, sockets or watches after it stops, even after repeated starts', async () => {
    const cluster = await EmbeddedCluster.start();
    const client = cluster.client();
    for (let n = 0; n < 1_000; n++) await turn(); // Lets earlier work finish.
    const before = openResources();
    for (let n = 0; n < 10; n++) {
      const stop = new AbortController();
      const manager = await DeclarativeManager.create({ client });
      const running = manager.run(stop.signal);
      const seen: string[] = [];
      await manager.views.client.create(healthView(key));
      manager.add(watcherOfViews(seen));
      await manager.whenLeading();
      while (seen.length === 0) await turn();
      stop.abort();
      await running;
    }
    expect(await settledResources(before)).to.deep.equal(before);
    expect(cluster.server.openWatches).to.equal(0);
    await cluster.stop();
  });

  it('refuses the options that Manager refuses', async () => {
    const { base } = await Setup.start();
    const { client, clock } = base;
    const failed = await failureOf(
      DeclarativeManager.create({ client, clock, gracefulShutdownMs: -1 }),
    );
    expect(failed).to.have.property('code', 'InvalidOption');
    await base.cluster.stop();
  });

  it('refuses a second run, which does not stop the views of the first', async () => {
    const setup = await Setup.start();
    await setup.run();
    const again = await failureOf(setup.manager.run(new AbortController().signal));
    expect(again).to.have.property('code', 'AlreadyStarted');
    await setup.manager.stop();
    await setup.manager.views.client.create(healthView(key));
    await setup.end();
  });

  it('stops its views when stop is called without a run', async () => {
    const { base, manager } = await Setup.start();
    await manager.views.client.create(healthView(key));
    await manager.stop();
    const error = await failureOf(manager.views.client.list(HealthView));
    expect(error).to.have.property('code', 'Stopped');
    await base.cluster.stop();
  });
});

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Returns the resources that keep the process alive, once they equal `wanted` or after 10 s. */
async function settledResources(wanted: Record<string, number>): Promise<Record<string, number>> {
  const deadlineMs = systemClock.monotonicMs() + 10_000;
  let found = openResources();
  while (!isEqual(found, wanted) && systemClock.monotonicMs() < deadlineMs) {
    await turn();
    found = openResources();
  }
  return found;
}

function openResources(): Record<string, number> {
  // Leaves out resources that exist only for a short time.
  return omit(countBy(process.getActiveResourcesInfo()), 'Immediate', 'FSReqCallback');
}
