import { expect } from 'chai';
import type { FaultMatch } from '../../lib/apiserver/faults.js';
import type { Client } from '../../lib/client/index.js';
import { forwarding } from '../../lib/client/index.js';
import { controllerFor } from '../../lib/controller/controller.js';
import { done } from '../../lib/controller/result.js';
import type { Manager } from '../../lib/manager/manager.js';
import type { ManagerOptions } from '../../lib/manager/manager-options.js';
import { Lease } from '../../lib/object/kinds.js';
import { formatMicroTime } from '../../lib/object/micro-time.js';
import { isNotFound } from '../../lib/object/api-error.js';
import { ManagerSetup, ScriptedLeadership, aborted, recorder, watcher } from './manager-setup.js';
import { onLoopback } from './served.js';

const leaderElection = { name: 'operator', namespace: 'default', identity: 'me' };
const phases = ['server', 'webhook', 'replica', 'leader'] as const;

/** Returns a manager with a recorder in each phase. */
async function setUp(
  given: Partial<ManagerOptions> | ((client: Client) => Partial<ManagerOptions>) = {},
) {
  const setup = await ManagerSetup.start();
  const options = typeof given === 'function' ? given(setup.client) : given;
  await setup.create('a');
  const manager = setup.manager({
    ...{ health: onLoopback, metrics: onLoopback, leaderElection },
    ...options,
  });
  const [log, seen]: [string[], string[]] = [[], []];
  for (const phase of phases) manager.add(recorder(phase, phase, log));
  manager.add(watcher(seen));
  return { setup, manager, log, seen };
}

/** Returns the holder of the Lease. */
async function holder(setup: ManagerSetup): Promise<string> {
  const key = { namespace: 'default', name: 'operator' };
  const lease = await setup.person.get(Lease, key).catch((error: unknown) => {
    if (isNotFound(error)) return undefined;
    throw error;
  });
  return lease?.spec?.holderIdentity ?? '';
}

/** Returns what was started, in order, and checks that it ended in reverse. */
function startedOf(log: readonly string[]): string[] {
  const of = (what: string): string[] =>
    log.filter((line) => line.endsWith(what)).map((line) => line.slice(0, -what.length));
  const started = of(' starts');
  expect(of(' ends')).to.deep.equal(started.toReversed());
  return started;
}

/** Stops the manager and checks that nothing is left. @returns what had been started, in order */
async function stopped(setup: ManagerSetup, log: readonly string[]): Promise<string[]> {
  setup.stop.abort();
  const over = { isOver: false };
  void setup.running.then(() => (over.isOver = true));
  for (let n = 0; n < 10 && !over.isOver; n++) await setup.clock.advance(1_000);
  await setup.until(() => over.isOver);
  expect(await setup.running).to.equal(undefined);
  expect(setup.clock.pendingTimers).to.equal(0);
  return startedOf(log);
}

/** Delays the responses to matching requests by a day. */
function hang(setup: ManagerSetup, match: FaultMatch): () => boolean {
  const effect = { type: 'latency', ms: 86_400_000 } as const;
  const fault = setup.cluster.faults.add({
    match: { user: 'operator', resource: '*', ...match },
    effect,
  });
  return () => fault.struck > 0;
}

const begin = (setup: ManagerSetup, manager: Manager): void => {
  setup.running = manager.run(setup.stop.signal).catch((error: unknown) => error);
};

describe('A manager that is stopped', () => {
  it('starts nothing if it is stopped before its HTTP servers listen', async () => {
    const { setup, manager, log } = await setUp();
    begin(setup, manager);
    expect(await stopped(setup, log)).to.deep.equal([]);
    await setup.end();
  });

  it('ends in reverse order if it is stopped at any point of its start', async () => {
    let isWhole = false;
    for (let n = 1; !isWhole; n++) {
      const { setup, manager, log, seen } = await setUp();
      const { requests } = setup.cluster;
      const before = requests.entries.length;
      const events = (): number => log.length + requests.entries.length - before;
      const isStarted = (): boolean => manager.status().isLeading && seen.includes('a');
      begin(setup, manager);
      await setup.until(() => events() >= n || isStarted());
      isWhole = events() < n;
      const started = await stopped(setup, log);
      expect(started).to.deep.equal(phases.slice(0, started.length));
      expect(await holder(setup)).to.equal('');
      await setup.end();
    }
  });

  it('ends although its webhooks have not finished starting', async () => {
    const { setup, manager, log } = await setUp();
    manager.add({ name: 'hooks', phase: 'webhook', run: ({ signal }) => aborted(signal) });
    begin(setup, manager);
    await setup.until(() => log.includes('webhook starts'));
    expect(await stopped(setup, log)).to.deep.equal(['server', 'webhook']);
    await setup.end();
  });

  for (const [what, match] of Object.entries({
    'permissions are reviewed': { resource: 'selfsubjectaccessreviews' },
    'caches are synced': { resource: 'configmaps' },
  })) {
    it(`ends although ${what} by a server that does not respond`, async () => {
      const { setup, manager, log } = await setUp();
      const isHanging = hang(setup, match);
      begin(setup, manager);
      await setup.until(isHanging);
      expect(await stopped(setup, log)).to.deep.equal(['server', 'webhook']);
      await setup.end();
    });
  }

  for (const [what, rbacPreflight] of [
    ['the review of permissions looks', 'warn'],
    ['caches look', 'off'],
  ] as const) {
    it(`ends while ${what} up a kind on a server that does not respond`, async () => {
      const state = { isAsked: false };
      const resourceType = (): Promise<never> => {
        state.isAsked = true;
        return new Promise(() => undefined);
      };
      const { setup, manager, log } = await setUp((client) => ({
        ...{ rbacPreflight, client: { ...forwarding(client), resourceType } },
      }));
      const thing = { apiVersion: 'example.com/v1', kind: 'Thing' };
      manager.add(controllerFor(thing).complete(async () => done()));
      begin(setup, manager);
      await setup.until(() => state.isAsked);
      expect(await stopped(setup, log)).to.deep.equal(['server', 'webhook']);
      await setup.end();
    });
  }

  it('leaves the Lease unchanged if it is a candidate', async () => {
    const { setup, manager, log, seen } = await setUp();
    const time = formatMicroTime(setup.clock.now());
    const times = { acquireTime: time, renewTime: time, leaseDurationSeconds: 3_600 };
    await setup.person.create<Lease>({
      ...{ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' },
      metadata: { name: 'operator', namespace: 'default' },
      spec: { holderIdentity: 'other', ...times, leaseTransitions: 0 },
    });
    begin(setup, manager);
    await setup.until(() => manager.status().leader === 'other');
    expect(await stopped(setup, log)).to.deep.equal(['server', 'webhook', 'replica']);
    expect([await holder(setup), seen]).to.deep.equal(['other', []]);
    await setup.end();
  });

  it('ends although a request for its Lease hangs', async () => {
    for (const verb of ['get', 'create'] as const) {
      const { setup, manager, log } = await setUp();
      const isHanging = hang(setup, { resource: 'leases', verb });
      begin(setup, manager);
      await setup.until(isHanging);
      expect(await stopped(setup, log)).to.deep.equal(['server', 'webhook', 'replica']);
      await setup.end();
    }
  });

  it('releases the Lease if it had just become the leader', async () => {
    const { setup, manager, log } = await setUp();
    manager.add({
      name: 'last',
      run: async ({ signal }) => {
        setup.stop.abort();
        await aborted(signal);
      },
    });
    begin(setup, manager);
    await setup.until(() => log.includes('leader starts'));
    expect(await stopped(setup, log)).to.deep.equal([...phases]);
    expect(await holder(setup)).to.equal('');
    await setup.end();
  });

  it('no longer becomes the leader', async () => {
    const leadership = new ScriptedLeadership();
    const { setup, manager, log, seen } = await setUp({ leaderElection: leadership });
    begin(setup, manager);
    await setup.until(() => leadership.log.length === 1);
    const leading = manager.whenLeading().catch((error: unknown) => error);
    setup.stop.abort();
    leadership.lead();
    expect(manager.status().isLeading).to.equal(false);
    expect(await stopped(setup, log)).to.deep.equal(['server', 'webhook', 'replica']);
    expect(await leading).to.have.property('code', 'Stopped');
    expect([seen, leadership.log]).to.deep.equal([[], ['candidate', 'released']]);
    await setup.end();
  });

  it('ends at once if it had just become the leader', async () => {
    const leadership = new ScriptedLeadership();
    const { setup, manager, log } = await setUp({ leaderElection: leadership });
    begin(setup, manager);
    await setup.until(() => leadership.log.length === 1);
    leadership.lead();
    expect(await stopped(setup, log)).to.deep.equal([...phases]);
    expect(leadership.log).to.deep.equal(['candidate', 'released']);
    await setup.end();
  });
});
