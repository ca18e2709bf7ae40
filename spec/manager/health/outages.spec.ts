import { expect } from 'chai';
import type { Fault, FaultEffect } from '../../../lib/apiserver/faults.js';
import type { Manager } from '../../../lib/manager/manager.js';
import type { ManagerOptions } from '../../../lib/manager/manager-options.js';
import type { Lease } from '../../../lib/object/kinds.js';
import { formatMicroTime } from '../../../lib/object/micro-time.js';
import { isOperatorError } from '../../../lib/system/operator-error.js';
import { ManagerSetup, configMap, recorder, watcher } from '../manager-setup.js';
import { onLoopback, served } from '../served.js';

const reset: FaultEffect = { type: 'reset', when: 'before' };

async function setUp(options: Partial<ManagerOptions> = {}) {
  const setup = await ManagerSetup.start();
  const leaderElection = { name: 'operator', namespace: 'default', identity: 'me' };
  const manager = setup.manager({ health: onLoopback, leaderElection, ...options });
  return { setup, manager };
}

/** Runs the manager until it has started and has observed a leader or an election problem. */
async function candidate(setup: ManagerSetup, manager: Manager): Promise<void> {
  await setup.run(manager);
  await setup.until(() => manager.phase === 'running');
  await setup.until(() => {
    const { leader, election } = manager.status();
    return leader !== undefined || election?.problem !== undefined;
  });
}

/** Breaks the operator's requests for Leases. */
function noLease(setup: ManagerSetup, effect: FaultEffect): Fault {
  return setup.cluster.faults.add({ match: { resource: 'leases', user: 'operator' }, effect });
}

/** Breaks all requests of the operator, watches included. */
function away(setup: ManagerSetup): Fault {
  const fault = setup.cluster.faults.add({
    match: { user: 'operator', resource: '*' },
    effect: reset,
  });
  setup.cluster.server.dropWatches();
  return fault;
}

async function heldBy(setup: ManagerSetup, holderIdentity: string): Promise<void> {
  const time = formatMicroTime(setup.clock.now());
  const times = { acquireTime: time, renewTime: time, leaseDurationSeconds: 3_600 };
  await setup.person.create<Lease>({
    ...{ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' },
    metadata: { name: 'operator', namespace: 'default' },
    spec: { holderIdentity, ...times, leaseTransitions: 0 },
  });
}

describe('The health check of leader election', () => {
  it('fails while the Lease is forbidden, and names the rule to add', async () => {
    const { setup, manager } = await setUp();
    const fault = noLease(setup, { type: 'status', code: 403 });
    await candidate(setup, manager);
    const { problem } = manager.status().election ?? {};
    expect(isOperatorError(problem, 'LeaseForbidden')).to.equal(true);
    const { status, text } = await served(manager, '/readyz?verbose');
    expect(status).to.equal(500);
    expect(text).to.include('[-]leader-election failed: get Lease default/operator: forbidden: ');
    expect((await served(manager, '/healthz')).status).to.equal(200);
    fault.remove();
    await setup.clock.advance(5_000);
    await setup.until(() => manager.status().isLeading);
    expect(await served(manager, '/readyz?verbose'))
      .to.have.property('text')
      .that.includes('[+]leader-election ok\n');
    await setup.end();
  });

  it('reports another problem only with ?verbose until there has been no leader for 15 s', async () => {
    const { setup, manager } = await setUp();
    const fault = noLease(setup, reset);
    await setup.run(manager);
    await setup.until(() => manager.phase === 'running');
    // The first attempt to read the Lease fails after this time.
    await setup.clock.advance(5_000);
    await setup.until(() => manager.status().election?.problem !== undefined);
    expect(await served(manager, '/readyz')).to.include({ status: 200, text: 'ok' });
    const remarked = await served(manager, '/readyz?verbose');
    expect(remarked.status).to.equal(200);
    expect(remarked.text).to.match(/\[\+\]leader-election ok: .*(connection|no answer)/);
    await setup.clock.advance(9_900);
    expect((await served(manager, '/readyz')).status).to.equal(200);
    await setup.clock.advance(100);
    const failed = await served(manager, '/readyz?verbose');
    expect(failed.status).to.equal(500);
    expect(failed.text).to.match(/\[-\]leader-election failed: .*(connection|no answer)/);
    fault.remove();
    await setup.clock.advance(5_000);
    await setup.until(() => manager.status().isLeading);
    expect((await served(manager, '/readyz')).status).to.equal(200);
    expect(manager.status().election).to.deep.equal({ problem: undefined, leaderlessMs: 0 });
    await setup.end();
  });
});

describe('A manager whose API server is unreachable for two minutes', () => {
  /** Requests the probes every 10 s for two minutes and returns their distinct responses. */
  async function probed(setup: ManagerSetup, manager: Manager): Promise<Set<string>> {
    const answers = new Set<string>();
    for (let n = 0; n < 12; n++) {
      await setup.clock.advance(10_000);
      for (const path of ['/healthz', '/readyz']) {
        const { status, text } = await served(manager, path);
        answers.add(`${path} ${status} ${text}`);
      }
    }
    return answers;
  }

  it('stays live and ready as a standby, and resumes from its caches', async () => {
    const { setup, manager } = await setUp();
    await heldBy(setup, 'other');
    const seen: string[] = [];
    manager.add(watcher(seen), { phase: 'replica' });
    await setup.create('a');
    await candidate(setup, manager);
    await setup.until(() => seen.includes('a'));
    expect(manager.status().leader).to.equal('other');
    const fault = away(setup);
    expect([...(await probed(setup, manager))]).to.deep.equal([
      '/healthz 200 ok',
      '/readyz 200 ok',
    ]);
    const { text } = await served(manager, '/readyz?verbose');
    expect(text).to.match(/\[\+\]leader-election ok: .*(connection|no answer)/);
    await setup.create('b');
    fault.remove();
    await setup.clock.advance(60_000);
    await setup.until(() => seen.includes('b'));
    expect(manager.status().election?.problem).to.equal(undefined);
    expect(await setup.end()).to.equal(undefined);
    expect(setup.clock.pendingTimers).to.equal(0);
  });

  it('with whenLeadershipIsLost: standby, leads again after the outage without a restart', async () => {
    const { setup, manager } = await setUp({ whenLeadershipIsLost: 'standby' });
    const [seen, log]: [string[], string[]] = [[], []];
    manager.add(watcher(seen));
    manager.add(recorder('leader', 'leader', log));
    await setup.create('a');
    await candidate(setup, manager);
    await setup.until(() => seen.includes('a') && log.length === 1);
    const fault = away(setup);
    expect([...(await probed(setup, manager))]).to.deep.equal([
      '/healthz 200 ok',
      '/readyz 200 ok',
    ]);
    expect([manager.phase, manager.status().isLeading]).to.deep.equal(['running', false]);
    const refused = await manager.client.create(configMap('x')).catch((error: unknown) => error);
    expect(isOperatorError(refused, 'Fenced')).to.equal(true);
    await setup.create('b');
    fault.remove();
    await setup.clock.advance(60_000);
    await setup.until(() => manager.status().isLeading && seen.includes('b'));
    expect(log).to.deep.equal(['leader starts', 'leader ends', 'leader starts']);
    expect((await served(manager, '/readyz')).status).to.equal(200);
    expect(await setup.end()).to.equal(undefined);
    expect(setup.clock.pendingTimers).to.equal(0);
  });

  it('stops with LeadershipLost by default if it was the leader', async () => {
    const { setup, manager } = await setUp();
    await candidate(setup, manager);
    await setup.until(() => manager.status().isLeading);
    away(setup);
    await setup.clock.advance(12_000);
    expect(await setup.running).to.have.property('code', 'LeadershipLost');
    await setup.end();
  });

  it('is live but not ready if it starts during the outage, and completes its start afterwards', async () => {
    const { setup, manager } = await setUp();
    const seen: string[] = [];
    manager.add(watcher(seen));
    await setup.create('a');
    const fault = away(setup);
    await setup.run(manager);
    const { runnables } = manager.status();
    await setup.until(
      () => runnables.length > 0 && manager.status().runnables[0]?.state === 'ready',
    );
    const answers = [...(await probed(setup, manager))].map((answer) => answer.slice(0, 12));
    expect(answers).to.deep.equal(['/healthz 200', '/readyz 500 ']);
    expect(manager.phase).to.equal('starting');
    fault.remove();
    await setup.clock.advance(60_000);
    await setup.until(() => manager.status().isLeading && seen.includes('a'));
    expect((await served(manager, '/readyz')).status).to.equal(200);
    expect(await setup.end()).to.equal(undefined);
  });
});
