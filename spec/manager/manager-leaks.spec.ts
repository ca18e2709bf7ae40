import { expect } from 'chai';
import { getHeapSpaceStatistics, queryObjects } from 'node:v8';
import type { Manager } from '../../lib/manager/manager.js';
import { sleep, systemClock } from '../../lib/system/clock.js';
import { isSampled } from '../sample.js';
import { LivePage, askedAt, inspected } from './inspector/inspected.js';
import type { ManagerSetup } from './manager-setup.js';
import { ManagerSetup as Setup, configMap, recorder, watcher } from './manager-setup.js';
import { onLoopback } from './served.js';

const servers = { health: onLoopback, metrics: onLoopback, inspector: onLoopback };
const usual = { ...servers, rbacPreflight: 'off' as const };

/** Options with a Lease and the RBAC preflight, for which a start takes ten times as many requests. */
const elected = {
  ...servers,
  leaderElection: { name: 'operator', namespace: 'default' },
};

/** Starts a manager with all its servers, lets it reconcile, and stops it. */
async function cycle(
  setup: ManagerSetup,
  round: number,
  managers: WeakRef<Manager>[],
): Promise<void> {
  const stop = new AbortController();
  const manager = setup.manager(round % 50 === 0 ? elected : usual);
  managers.push(new WeakRef(manager));
  const seen: string[] = [];
  manager.add(watcher(seen));
  manager.add(recorder('runnable', 'leader', []));
  const running = manager.run(stop.signal);
  await manager.whenLeading();
  while (!seen.includes('a')) await turn();
  const pages = round % 50 === 0 ? [await lookAt(manager)] : [];
  stop.abort();
  await running;
  await Promise.all(pages.map(({ over }) => over));
}

/**
 * Sends requests to the servers of a manager. @returns an inspector page that stays live until the
 * manager stops
 */
async function lookAt(manager: Manager): Promise<LivePage> {
  const { runnables } = manager.status();
  const { url = '' } = runnables.find(({ name }) => name === 'health-server') ?? {};
  expect((await askedAt(`${url}/readyz`)).text).to.equal('ok');
  expect((await inspected(manager, '/')).status).to.equal(200);
  const page = await LivePage.open(manager);
  await page.until(() => page.ids.includes('recent'), turn);
  return page;
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

interface Heap {
  readonly bytes: number;
  readonly objects: number;
}

/**
 * Measures what the heap holds after garbage collections: its objects and functions, without V8's type
 * information, and the bytes of its old objects. Code, and the young generation, would change the bytes by
 * megabytes without any leak: after a collection, V8 counts unused room of the young generation as used.
 */
async function heap(): Promise<Heap> {
  // `queryObjects` collects garbage. Only its second call also collects what finalizers have released.
  queryObjects(Object);
  await sleep(systemClock, 5);
  const objects = Number(queryObjects(Object));
  const old = getHeapSpaceStatistics().filter(({ space_name: name }) => oldSpaces.has(name));
  return { bytes: old.reduce((sum, { space_used_size: used }) => sum + used, 0), objects };
}

const oldSpaces = new Set(['old_space', 'large_object_space']);

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? NaN;

/** Counts the resources that keep the process alive, by kind. */
function resources(): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const kind of process.getActiveResourcesInfo()) counts[kind] = (counts[kind] ?? 0) + 1;
  // Short-lived: a callback that is due, a file that a module is read from.
  delete counts['Immediate'];
  delete counts['FSReqCallback'];
  return counts;
}

/**
 * Returns the remaining resources after the clients' ends of connections have closed, which takes
 * some turns.
 */
async function settled(wanted: Record<string, number>): Promise<Record<string, number>> {
  const text = JSON.stringify(wanted);
  for (let n = 0; n < 1_000 && JSON.stringify(resources()) !== text; n++) await turn();
  return resources();
}

// The rounds of the warm-up after the first ten, and those of each measured span. Fewer rounds still show a leak of
// each round, but not occasional leaks.
const [warmUp, span] = isSampled ? [40, 10] : [290, 100];
const spans = 7;

describe('A thousand starts and stops of a manager', () => {
  it('leave no timer, socket or listener, and do not let the heap grow', async function () {
    this.timeout(240_000);
    // The Leases of the warm-up fill the log, so that it does not grow afterwards.
    const setup = await Setup.start({ logLength: 5 });
    await setup.person.create(configMap('a'));
    const managers: WeakRef<Manager>[] = [];
    // Ten at once, one of which occasionally has a Lease.
    const rounds = async (count: number): Promise<void> => {
      for (let n = 0; n < count; n += 10) {
        await Promise.all(Array.from({ length: 10 }, (_, k) => cycle(setup, n + k, managers)));
      }
      setup.lines.length = 0;
      setup.cluster.requests.clear();
    };
    await rounds(10);
    const before = await settled({});
    const timers = setup.clock.pendingTimers;
    const watches = process.listenerCount('SIGTERM');
    await rounds(warmUp);
    managers.length = 0;
    const heaps = [await heap()];
    for (let n = 0; n < spans; n++) {
      await rounds(span);
      heaps.push(await heap());
    }
    const grown = heaps.slice(1).map(({ bytes, objects }, n) => ({
      bytes: (bytes - (heaps[n]?.bytes ?? 0)) / span,
      objects: (objects - (heaps[n]?.objects ?? 0)) / span - 1,
    }));
    expect(setup.clock.pendingTimers).to.equal(timers);
    expect(timers).to.equal(0);
    expect(await settled(before)).to.deep.equal(before);
    expect(process.listenerCount('SIGTERM')).to.equal(watches);
    expect(managers.filter((manager) => manager.deref() !== undefined)).to.have.length(0);
    // The median, since V8 also frees bytecode and compiles functions: single spans varied by 8,000 bytes a
    // round, medians between -100 and 200. A manager that stays would be 80,000.
    expect(median(grown.map(({ objects }) => objects)), 'objects a round').to.be.below(0.2);
    expect(median(grown.map(({ bytes }) => bytes)), 'bytes a round').to.be.below(
      isSampled ? 20_000 : 600,
    );
    await setup.cluster.stop();
  });
});
