import { expect } from 'chai';
import { controllerFor } from '../../../lib/controller/controller.js';
import { ConfigMap } from '../../../lib/object/kinds.js';
import { cachesCheck } from '../../../lib/manager/manager-health.js';
import type { Manager } from '../../../lib/manager/manager.js';
import type { ManagerStatus } from '../../../lib/manager/manager-entries.js';
import type { ManagerOptions } from '../../../lib/manager/manager-options.js';
import { ManagerSetup, ScriptedLeadership, aborted, configMap, watcher } from '../manager-setup.js';
import { grant } from '../grant.js';
import { watchVerbs } from '../../../lib/manager/access/required-access.js';
import { onLoopback, served } from '../served.js';

async function setUp(options: Partial<ManagerOptions> = {}) {
  const setup = await ManagerSetup.start();
  const manager = setup.manager({ health: onLoopback, ...options });
  return { setup, manager };
}

/** Starts the manager and waits until its health server listens, whatever else is missing. */
async function listening(setup: ManagerSetup, manager: Manager): Promise<void> {
  await setup.run(manager);
  const isUp = (): boolean =>
    manager
      .status()
      .runnables.some(({ name, state }) => name === 'health-server' && state === 'ready');
  while (!isUp()) await setup.clock.advance(0);
  await setup.clock.advance(0);
}

describe('The health check of a cache', () => {
  const cache = { kind: 'Thing', apiVersion: 'example.com/v1', synced: true };
  const checkOf = (changes: object) => {
    const clusters = [{ caches: [{ ...cache, ...changes }] }];
    return cachesCheck(() => ({ phase: 'running', clusters }) as unknown as ManagerStatus);
  };
  const { signal } = new AbortController();

  it('fails while a cache is not synced, even if the manager is running', () => {
    const check = (changes: object) => () => checkOf(changes).check(signal);
    expect(check({})).not.to.throw();
    expect(check({ synced: false })).to.throw('Thing (example.com/v1): still listing');
    const problem = new Error('no answer');
    expect(check({ synced: false, problem })).to.throw('Thing (example.com/v1): no answer');
    expect(check({ missing: 'kind' })).to.throw('Thing (example.com/v1)');
  });
});

describe('Health endpoints', () => {
  it('respond in the format of Kubernetes', async () => {
    const { setup, manager } = await setUp();
    manager.addHealthCheck({ name: 'database', check: () => undefined });
    await listening(setup, manager);
    expect(await served(manager, '/healthz')).to.include({ status: 200, text: 'ok' });
    expect(await served(manager, '/healthz?verbose')).to.include({
      status: 200,
      text: '[+]ping ok\n[+]event-loop ok\n[+]reconciles ok\n[+]database ok\nhealthz check passed\n',
    });
    expect(await served(manager, '/healthz/database')).to.include({ status: 200, text: 'ok' });
    expect(await served(manager, '/healthz/other')).to.include({ status: 404 });
    expect(await served(manager, '/other')).to.include({ status: 404 });
    await setup.end();
  });

  it('list the checks if one fails, and give the reason on request', async () => {
    const { setup, manager } = await setUp();
    const remove = manager.addHealthCheck({
      name: 'database',
      check: async () => {
        throw new Error('is away\nfor lunch');
      },
    });
    await listening(setup, manager);
    const rest = '[+]ping ok\n[+]event-loop ok\n[+]reconciles ok\n';
    expect(await served(manager, '/healthz')).to.include({
      status: 500,
      text: `${rest}[-]database failed: reason withheld\nhealthz check failed\n`,
    });
    const verbose = await served(manager, '/healthz?verbose');
    expect(verbose.text).to.include('[-]database failed: is away for lunch\n');
    expect(verbose.text).to.match(/\nhealthz check failed\n$/);
    const single = await served(manager, '/healthz/database');
    expect(single.text).to.equal('internal server error: is away for lunch\n');
    const excluded = await served(manager, '/healthz?exclude=database&exclude=x&verbose');
    expect(excluded).to.include({
      status: 200,
      text:
        `${rest}[+]database excluded: ok\n` +
        'warn: some health checks cannot be excluded: no matches for "x"\nhealthz check passed\n',
    });
    expect(setup.logged('info')).to.include('healthz check failed');
    remove();
    expect((await served(manager, '/healthz')).text).to.equal('ok');
    await setup.end();
  });

  it('fail if a check returns false or resolves to false', async () => {
    const { setup, manager } = await setUp();
    const state: { synced: boolean } = { synced: false };
    manager.addReadyCheck({ name: 'now', check: () => state.synced as never });
    manager.addReadyCheck({ name: 'later', check: async () => state.synced as never });
    await listening(setup, manager);
    for (const name of ['now', 'later']) {
      const { status, text } = await served(manager, `/readyz/${name}`);
      expect([status, text]).to.deep.equal([
        500,
        'internal server error: the check returned false\n',
      ]);
    }
    state.synced = true;
    for (const name of ['now', 'later']) {
      expect(await served(manager, `/readyz/${name}`)).to.include({ status: 200 });
    }
    await setup.end();
  });

  it('log only failed requests, and answer 404 to paths that belong to no check', async () => {
    const { setup, manager } = await setUp();
    await listening(setup, manager);
    for (const [path, status] of [
      ['/healthz/', 200],
      ['/healthz/ping/', 200],
      ['/healthz/ping/x', 404],
      ['/toString', 404],
      ['/', 404],
    ] as const) {
      expect((await served(manager, path)).status, path).to.equal(status);
    }
    expect(setup.logged('info').join()).to.not.include('check failed');
    await setup.end();
  });

  it('keep a check whose predecessor of the same name is removed a second time', async () => {
    const { setup, manager } = await setUp();
    const remove = manager.addHealthCheck({ name: 'database', check: () => undefined });
    remove();
    manager.addHealthCheck({ name: 'database', check: () => undefined });
    remove();
    await listening(setup, manager);
    expect((await served(manager, '/healthz/database')).status).to.equal(200);
    await setup.end();
  });

  it('fail a check that does not respond in time', async () => {
    const { setup, manager } = await setUp({ health: { ...onLoopback, checkTimeoutMs: 3_000 } });
    const signals: AbortSignal[] = [];
    manager.addReadyCheck({
      name: 'slow',
      check: (signal) => {
        signals.push(signal);
        return new Promise(() => undefined);
      },
    });
    await listening(setup, manager);
    const asked = served(manager, '/readyz/slow');
    while (signals.length === 0) await setup.clock.advance(0);
    await setup.clock.advance(3_000);
    expect((await asked).text).to.include('no answer in 3000 ms');
    expect(signals[0]?.aborted).to.equal(true);
    await setup.end();
    expect(setup.clock.pendingTimers).to.equal(0);
  });

  it('reject a check whose name is taken or contains a slash', async () => {
    const { setup, manager } = await setUp();
    const check = (): void => undefined;
    const add = (name: string) => () => manager.addReadyCheck({ name, check });
    expect(add('ping')).to.throw('two checks').with.property('code', 'InvalidOption');
    expect(add('a/b')).to.throw('letters').with.property('code', 'InvalidOption');
    await setup.end();
  });
});

describe('The readiness endpoint', () => {
  it('names the kind and the verb that RBAC forbids, and recovers when the permission is granted', async () => {
    const setup = await ManagerSetup.start({ rbac: true });
    const manager = setup.manager({ health: onLoopback });
    manager.add(watcher([]));
    await listening(setup, manager);
    await setup.clock.advance(100);
    const { status, text } = await served(manager, '/readyz?verbose');
    expect(status).to.equal(500);
    expect(text).to.match(
      /caches failed: ConfigMap \(v1\): .* cannot (list|watch) resource "configmaps"/,
    );
    expect(text).to.include('[-]leader-election failed: neither leads nor stands by yet');
    await grant(setup.person, [{ apiGroups: [''], resources: ['configmaps'], verbs: watchVerbs }]);
    await setup.clock.advance(60_000);
    expect(await served(manager, '/readyz')).to.include({ status: 200, text: 'ok' });
    await setup.end();
  });

  it('names a kind that the server does not serve', async () => {
    const { setup, manager } = await setUp();
    const type = { apiVersion: 'example.com/v1', kind: 'Widget' };
    manager.add(controllerFor(type).complete(async () => ({ type: 'done' })));
    await listening(setup, manager);
    await setup.clock.advance(1_000);
    const { text } = await served(manager, '/readyz?verbose');
    expect(text).to.match(/caches failed: Widget \(example.com\/v1\): .*CustomResourceDefinition/);
    await setup.end();
  });

  it('answers ready for the leader and for standbys, and not ready while a manager stops', async () => {
    const leadership = new ScriptedLeadership();
    const { setup, manager } = await setUp({ leaderElection: leadership });
    let finish: () => void = () => undefined;
    manager.add({
      name: 'slow',
      run: () => new Promise<void>((resolve) => (finish = resolve)),
    });
    await listening(setup, manager);
    expect((await served(manager, '/readyz')).status).to.equal(200);
    leadership.lead();
    expect((await served(manager, '/readyz')).status).to.equal(200);
    setup.stop.abort();
    await setup.clock.advance(0);
    const { text } = await served(manager, '/readyz?verbose');
    expect(text).to.include('[-]shutdown failed: the manager stops');
    expect((await served(manager, '/healthz')).status).to.equal(200);
    finish();
    await setup.end();
  });

  it('waits for the webhook servers', async () => {
    const { setup, manager } = await setUp();
    manager.add({ name: 'hooks', phase: 'webhook', run: ({ signal }) => aborted(signal) });
    await listening(setup, manager);
    const { text } = await served(manager, '/readyz?verbose');
    expect(text).to.include('[-]webhooks failed: hooks: starting');
    await setup.end();
  });

  it('passes when a runnable of the phase webhook has ended by itself', async () => {
    const { setup, manager } = await setUp();
    manager.add({ name: 'preparation', phase: 'webhook', run: async () => undefined });
    await listening(setup, manager);
    await manager.whenStarted();
    expect(await served(manager, '/readyz')).to.include({ status: 200, text: 'ok' });
    await setup.end();
  });

  it('runs many checks without causing a warning of Node.js', async () => {
    const warnings: string[] = [];
    const onWarning = ({ name }: Error): void => void warnings.push(name);
    process.on('warning', onWarning);
    const { setup, manager } = await setUp();
    for (let n = 0; n < 20; n++) {
      manager.addHealthCheck({ name: `check-${n}`, check: async () => undefined });
    }
    await listening(setup, manager);
    expect((await served(manager, '/healthz')).status).to.equal(200);
    // Warnings are emitted on the next tick.
    await new Promise((resolve) => setImmediate(resolve));
    process.off('warning', onWarning);
    expect(warnings).to.deep.equal([]);
    await setup.end();
  });

  it('names a key whose reconcile exceeds its time-out; liveness fails after ten times that long', async () => {
    const { setup, manager } = await setUp();
    manager.add(
      controllerFor(ConfigMap, { predicate: ({ object }) => object.metadata.name === 'stuck' })
        .withOptions({ name: 'keeper', reconcileTimeoutMs: 10_000 })
        .complete(() => new Promise(() => undefined)),
    );
    await setup.person.create(configMap('stuck'));
    await listening(setup, manager);
    await setup.clock.advance(9_000);
    expect((await served(manager, '/readyz')).status).to.equal(200);
    await setup.clock.advance(2_000);
    const ready = await served(manager, '/readyz?verbose');
    expect(ready.text).to.match(
      /reconciles failed: keeper: the reconcile of default\/stuck has not ended after 1\d s/,
    );
    expect((await served(manager, '/healthz')).status).to.equal(200);
    await setup.clock.advance(90_000);
    const live = await served(manager, '/healthz?verbose');
    expect(live.text).to.include(
      '[-]reconciles failed: keeper: the reconcile of default/stuck has not ended',
    );
    await setup.end();
  });
});
