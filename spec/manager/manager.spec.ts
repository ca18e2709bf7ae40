import { expect } from 'chai';
import { EmbeddedCluster } from '../../lib/apiserver/cluster/embedded-cluster.js';
import { controllerFor } from '../../lib/controller/controller.js';
import { done } from '../../lib/controller/result.js';
import { ConfigMap } from '../../lib/object/kinds.js';
import { forwarding } from '../../lib/client/client-wrappers.js';
import { isOperatorError } from '../../lib/system/operator-error.js';
import {
  ManagerSetup,
  ScriptedLeadership,
  aborted,
  configMap,
  recorder,
  watcher,
} from './manager-setup.js';

describe('Manager', () => {
  it('starts in order and stops in reverse order', async () => {
    const setup = await ManagerSetup.start();
    const manager = setup.manager();
    const log: string[] = [];
    for (const phase of ['leader', 'replica', 'webhook', 'server'] as const) {
      manager.add(recorder(phase, phase, log));
    }
    await setup.run(manager);
    expect(manager.phase).to.equal('running');
    expect(await setup.end()).to.equal(undefined);
    expect(log).to.deep.equal([
      ...['server starts', 'webhook starts', 'replica starts', 'leader starts'],
      ...['leader ends', 'replica ends', 'webhook ends', 'server ends'],
    ]);
    expect([manager.phase, setup.clock.pendingTimers]).to.deep.equal(['stopped', 0]);
  });

  it('lists nothing before its webhooks are ready, and reconciles when all caches are synced', async () => {
    const setup = await ManagerSetup.start();
    await setup.create('a');
    const seen: string[] = [];
    const manager = setup.manager({ rbacPreflight: 'off' });
    manager.add(watcher(seen));
    let answers: () => void = () => undefined;
    const run = async ({ signal, ready }: { signal: AbortSignal; ready: () => void }) => {
      answers = ready;
      await aborted(signal);
    };
    manager.add({ name: 'hooks', phase: 'webhook', run });
    await setup.run(manager);
    const asked = () => setup.cluster.requests.entries.filter(({ user }) => user === 'operator');
    expect([asked(), seen, manager.phase]).to.deep.equal([[], [], 'starting']);
    answers();
    await manager.whenLeading();
    await setup.clock.advance(0);
    expect(seen).to.include('a');
    await setup.end();
  });

  it('adds and removes controllers and runnables while it runs', async () => {
    const setup = await ManagerSetup.start();
    const manager = setup.manager();
    await setup.run(manager);
    const [seen, log]: [string[], string[]] = [[], []];
    const controller = manager.add(watcher(seen));
    const late = manager.add(recorder('late', 'leader', log));
    await setup.create('a');
    await setup.clock.advance(0);
    expect([seen.includes('a'), log]).to.deep.equal([true, ['late starts']]);
    await Promise.all([controller.remove(), late.remove(), setup.clock.advance(0)]);
    await setup.create('b');
    await setup.clock.advance(0);
    expect([seen.includes('b'), log.at(-1)]).to.deep.equal([false, 'late ends']);
    expect(manager.status().controllers).to.deep.equal([]);
    // The name of the controller is free again.
    manager.add(watcher(seen));
    await setup.clock.advance(0);
    expect(seen).to.include('b');
    await setup.end();
    expect(() => manager.add(watcher(seen)))
      .to.throw('stopped')
      .with.property('code', 'Stopped');
  });

  it('syncs its caches before it leads, and reconciles only as the leader', async () => {
    const setup = await ManagerSetup.start();
    await setup.create('a');
    const leadership = new ScriptedLeadership();
    const manager = setup.manager({ leaderElection: leadership });
    const [onLeader, everywhere]: [string[], string[]] = [[], []];
    manager.add(watcher(onLeader));
    manager.add(watcher(everywhere, 'everywhere'), { phase: 'replica' });
    await setup.run(manager);
    await manager.whenStarted();
    await setup.clock.advance(0);
    expect(manager.cache.status()[0]).to.include({ kind: 'ConfigMap', synced: true });
    // With the option `leadership`, the manager may not need a Lease.
    const kinds = manager.requiredAccess().map(({ type }) => type?.kind);
    expect(kinds).not.to.include('Lease');
    expect([onLeader, everywhere.includes('a')]).to.deep.equal([[], true]);
    const before = setup.cluster.requests.entries.length;
    leadership.lead();
    await setup.clock.advance(0);
    expect([onLeader.includes('a'), manager.status().leader]).to.deep.equal([true, 'me']);
    expect(setup.cluster.requests.entries.length).to.equal(before);
    await setup.end();
  });

  it('refuses the writes of its clients while it does not lead', async () => {
    const setup = await ManagerSetup.start();
    const leadership = new ScriptedLeadership();
    const manager = setup.manager({ leaderElection: leadership });
    await setup.run(manager);
    for (const client of [manager.client, manager.client.live, manager.liveClient]) {
      const error = await client.create(configMap('x')).catch((refused: unknown) => refused);
      expect(isOperatorError(error, 'Fenced')).to.equal(true);
    }
    leadership.lead();
    await manager.client.create(configMap('x'));
    await setup.end();
  });

  it('releases the Lease only after the reconciles have ended', async () => {
    const setup = await ManagerSetup.start();
    await setup.create('a');
    const leadership = new ScriptedLeadership();
    const manager = setup.manager({ leaderElection: leadership, gracefulShutdownMs: 5_000 });
    const { log } = leadership;
    const slow = controllerFor(ConfigMap, {
      predicate: ({ object }) => object.metadata.name === 'a',
    });
    manager.add(
      slow.complete(async ({ signal }) => {
        await aborted(signal);
        log.push('reconciled');
        return done();
      }),
    );
    await setup.run(manager);
    leadership.lead();
    await setup.clock.advance(0);
    setup.stop.abort();
    await setup.clock.advance(4_999);
    expect(log).to.deep.equal(['candidate']);
    await setup.clock.advance(1);
    expect(log).to.deep.equal(['candidate', 'reconciled', 'released']);
    expect(await setup.end()).to.equal(undefined);
  });

  it('ends at once with an error when the Lease is lost', async () => {
    const setup = await ManagerSetup.start();
    await setup.create('a');
    const leadership = new ScriptedLeadership();
    const manager = setup.manager({ leaderElection: leadership });
    const log: string[] = [];
    manager.add(
      controllerFor(ConfigMap).complete(async ({ signal }) => {
        await aborted(signal);
        log.push('aborted');
        return done();
      }),
    );
    manager.add(recorder('leader', 'leader', log));
    await setup.run(manager);
    leadership.lead();
    await setup.clock.advance(0);
    leadership.lose();
    await setup.clock.advance(0);
    expect(log).to.include.members(['aborted', 'leader ends']);
    expect(await setup.running).to.have.property('code', 'LeadershipLost');
    await setup.end();
  });

  it('stands by without a relist when the Lease is lost, with whenLeadershipIsLost: standby', async () => {
    const setup = await ManagerSetup.start();
    const leadership = new ScriptedLeadership();
    const whenLeadershipIsLost = 'standby';
    const manager = setup.manager({ leaderElection: leadership, whenLeadershipIsLost });
    const [seen, log]: [string[], string[]] = [[], []];
    manager.add(watcher(seen));
    manager.add(recorder('leader', 'leader', log));
    await setup.run(manager);
    leadership.lead();
    await setup.clock.advance(0);
    const reads = (): number =>
      setup.cluster.requests.entries.filter(
        ({ user, resource }) => user === 'operator' && resource === 'configmaps',
      ).length;
    const before = reads();
    leadership.lose();
    await setup.clock.advance(1_000);
    expect([manager.phase, manager.status().isLeading]).to.deep.equal(['running', false]);
    seen.length = 0;
    await setup.create('b');
    await setup.clock.advance(0);
    expect([seen, leadership.log]).to.deep.equal([[], ['candidate', 'candidate']]);
    leadership.lead();
    await setup.clock.advance(0);
    expect(seen).to.include('b');
    expect(log).to.deep.equal(['leader starts', 'leader ends', 'leader starts']);
    expect(reads()).to.equal(before);
    expect(await setup.end()).to.equal(undefined);
  });

  it('ends its leader runnables when the election fails before it calls onStoppedLeading', async () => {
    const setup = await ManagerSetup.start();
    const leadership = new ScriptedLeadership();
    const whenLeadershipIsLost = 'standby';
    const manager = setup.manager({ leaderElection: leadership, whenLeadershipIsLost });
    const log: string[] = [];
    manager.add(recorder('leader', 'leader', log));
    await setup.run(manager);
    leadership.lead();
    await setup.clock.advance(0);
    leadership.fail();
    await setup.clock.advance(0);
    expect(log).to.deep.equal(['leader starts', 'leader ends']);
    expect(await setup.end()).to.equal(undefined);
  });

  it('becomes a candidate for the Lease again only when its reconciles have ended', async () => {
    const setup = await ManagerSetup.start();
    const leadership = new ScriptedLeadership();
    const whenLeadershipIsLost = 'standby';
    const manager = setup.manager({ leaderElection: leadership, whenLeadershipIsLost });
    let end = (): void => undefined;
    const held = controllerFor(ConfigMap).complete(async ({ signal }) => {
      await aborted(signal);
      await new Promise<void>((resolve) => (end = resolve));
      return done();
    });
    manager.add(held);
    await setup.run(manager);
    leadership.lead();
    await setup.create('a');
    await setup.clock.advance(0);
    leadership.lose();
    await setup.clock.advance(0);
    expect(leadership.log).to.deep.equal(['candidate']);
    end();
    await setup.clock.advance(1_000);
    expect(leadership.log).to.deep.equal(['candidate', 'candidate']);
    expect(await setup.end()).to.equal(undefined);
  });

  it('leads again after it lost its Lease, with a real election', async () => {
    const setup = await ManagerSetup.start();
    const manager = setup.manager({
      leaderElection: { name: 'operator', namespace: 'default' },
      whenLeadershipIsLost: 'standby',
    });
    const [seen, log]: [string[], string[]] = [[], []];
    manager.add(watcher(seen));
    manager.add(recorder('leader', 'leader', log));
    await setup.run(manager);
    await manager.whenLeading();
    const match = { resource: 'leases', user: 'operator' };
    const fault = setup.cluster.faults.add({ match, effect: { type: 'status', code: 500 } });
    await setup.clock.advance(12_000);
    expect([manager.phase, manager.status().isLeading]).to.deep.equal(['running', false]);
    const refused = await manager.client.create(configMap('x')).catch((error: unknown) => error);
    expect(isOperatorError(refused, 'Fenced')).to.equal(true);
    fault.remove();
    await setup.clock.advance(30_000);
    expect(manager.status().isLeading).to.equal(true);
    seen.length = 0;
    await setup.create('b');
    await setup.clock.advance(0);
    expect([seen.includes('b'), log]).to.deep.equal([
      true,
      ['leader starts', 'leader ends', 'leader starts'],
    ]);
    expect(await setup.end()).to.equal(undefined);
    expect(setup.clock.pendingTimers).to.equal(0);
  });

  it('fails when it loses its Lease, with a real election', async () => {
    const setup = await ManagerSetup.start();
    const leaderElection = { name: 'operator', namespace: 'default' };
    const manager = setup.manager({ leaderElection });
    await setup.run(manager);
    await manager.whenLeading();
    const match = { resource: 'leases', user: 'operator' };
    setup.cluster.faults.add({ match, effect: { type: 'status', code: 500 } });
    await setup.clock.advance(12_000);
    expect(await setup.running).to.have.property('code', 'LeadershipLost');
    await setup.end();
  });

  it('reconciles although the server does not serve a watched kind, and warns about the kind', async () => {
    const setup = await ManagerSetup.start();
    const seen: string[] = [];
    const manager = setup.manager();
    manager.add(
      controllerFor(ConfigMap)
        .owns({ apiVersion: 'example.com/v1', kind: 'Widget' })
        .complete(async ({ key }) => {
          seen.push(key.name);
          return done();
        }),
    );
    await setup.create('a');
    await setup.run(manager);
    await manager.whenLeading();
    await setup.clock.advance(0);
    expect(seen).to.include('a');
    const warning =
      'the server does not serve Widget (example.com/v1); its controllers wait for it';
    expect(setup.logged('warn')).to.include(warning);
    await setup.end();
  });

  it('reconciles several clusters, which can be added and removed', async () => {
    const setup = await ManagerSetup.start();
    const other = await EmbeddedCluster.start({ clock: setup.clock });
    const seen: string[] = [];
    const controller = controllerFor(ConfigMap).complete(async ({ key, cluster }) => {
      seen.push(`${cluster} ${key.name}`);
      return done();
    });
    const manager = setup.manager({ clusters: [{ name: 'home', client: setup.client }] });
    manager.add(controller);
    await setup.run(manager);
    manager.addCluster({ name: 'east', client: other.client() });
    await other.client().create(configMap('far'));
    await setup.create('near');
    await setup.clock.advance(0);
    expect(seen).to.include.members(['home near', 'east far']);
    expect(manager.status().clusters.map(({ name }) => name)).to.deep.equal(['home', 'east']);
    await Promise.all([manager.removeCluster('east'), setup.clock.advance(0)]);
    await other.client().create(configMap('later'));
    await setup.clock.advance(0);
    expect(seen).not.to.include('east later');
    const home = await manager.removeCluster('home').catch((error: unknown) => error);
    expect(home).to.have.property('code', 'InvalidOption');
    await setup.end();
    await other.stop();
    expect(setup.clock.pendingTimers).to.equal(0);
  });

  it('applies its indexes to every cluster, including later clusters and later indexes', async () => {
    const setup = await ManagerSetup.start();
    const other = await EmbeddedCluster.start({ clock: setup.clock });
    const found: Record<string, readonly (string | undefined)[]> = {};
    const controller = controllerFor(ConfigMap).complete(async ({ key, cluster, client }) => {
      const { items } = await client.list(ConfigMap, { index: { size: 'L', name: key.name } });
      found[`${cluster} ${key.name}`] = items.map(({ metadata }) => metadata.name);
      return done();
    });
    const manager = setup.manager({ clusters: [{ name: 'home', client: setup.client }] });
    manager.index(ConfigMap, 'size', ({ data }) => [data?.['size']]);
    manager.index(ConfigMap, 'name', ({ metadata }) => [metadata.name]);
    manager.add(controller);
    await setup.run(manager);
    manager.addCluster({ name: 'east', client: other.client() });
    await setup.person.create({ ...configMap('near'), data: { size: 'L' } });
    await other.client().create({ ...configMap('far'), data: { size: 'L' } });
    await other.client().create({ ...configMap('small'), data: { size: 'S' } });
    await setup.clock.advance(0);
    expect(found).to.deep.include({
      ...{ 'home near': ['near'], 'east far': ['far'], 'east small': [] },
    });
    manager.index(ConfigMap, 'late', ({ data }) => [data?.['size']]);
    const { items } = await manager.client.list(ConfigMap, { index: { late: 'L' } });
    expect(items.map(({ metadata }) => metadata.name)).to.deep.equal(['near']);
    const again = (): void => manager.index(ConfigMap, 'late', () => []);
    expect(again).to.throw('another index late').with.property('code', 'InvalidOption');
    await setup.end();
    await other.stop();
  });

  it('caches an indexed kind and requires the permissions for it', async () => {
    const setup = await ManagerSetup.start();
    const manager = setup.manager();
    manager.index(ConfigMap, 'size', ({ data }) => [data?.['size']]);
    expect(manager.requiredAccess()).to.deep.include({
      ...{ type: ConfigMap, verbs: ['get', 'list', 'watch'], namespace: undefined },
    });
    await setup.create('a');
    await setup.run(manager);
    const mark = setup.cluster.requests.mark();
    await manager.client.list(ConfigMap, { index: { size: 'L' } });
    expect(setup.cluster.requests.since(mark).reads).to.equal(0);
    await setup.end();
  });

  it('ends the watches of an indexed kind when its cluster is removed, and when the manager stops', async () => {
    const setup = await ManagerSetup.start();
    const other = await EmbeddedCluster.start({ clock: setup.clock });
    const manager = setup.manager({ clusters: [{ name: 'home', client: setup.client }] });
    manager.index(ConfigMap, 'size', ({ data }) => [data?.['size']]);
    await setup.run(manager);
    manager.addCluster({ name: 'east', client: other.client() });
    await setup.clock.advance(0);
    const watches = () => [setup.cluster, other].map(({ server }) => server.openWatches);
    expect(watches()).to.deep.equal([1, 1]);
    await Promise.all([manager.removeCluster('east'), setup.clock.advance(0)]);
    expect(watches()).to.deep.equal([1, 0]);
    setup.stop.abort();
    await Promise.all([setup.running, setup.clock.advance(1_000)]);
    expect(watches()).to.deep.equal([0, 0]);
    await setup.end();
    await other.stop();
  });

  it('runs with the first cluster while another one does not respond', async () => {
    const setup = await ManagerSetup.start();
    const never = (): Promise<never> => new Promise(() => undefined);
    const hanging = { get: never, list: never, create: never, resourceType: never };
    const client = { ...forwarding(setup.client), ...hanging };
    const seen: string[] = [];
    const clusters = [
      { name: 'home', client: setup.client },
      { name: 'dead', client },
    ];
    const manager = setup.manager({ clusters });
    manager.add(watcher(seen));
    await setup.create('a');
    await setup.run(manager);
    await setup.clock.advance(1_000);
    expect([manager.phase, seen.includes('a')]).to.deep.equal(['running', true]);
    await setup.end();
  });
});
