import { expect } from 'chai';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { sleep, systemClock } from '../../lib/system/clock.js';
import type { ManagerSetup } from './manager-setup.js';
import { ManagerSetup as Setup, configMap, recorder, watcher } from './manager-setup.js';
import { onLoopback, served } from './served.js';

const usual = { health: onLoopback, metrics: onLoopback, rbacPreflight: 'off' as const };

/** With a Lease, and with every permission asked for: ten times as many requests. */
const elected = {
  ...{ health: onLoopback, metrics: onLoopback },
  leaderElection: { name: 'operator', namespace: 'default' },
};

/** Starts a manager with all that it has, lets it work, and stops it. */
async function cycle(setup: ManagerSetup, round: number): Promise<void> {
  const stop = new AbortController();
  const manager = setup.manager(round % 50 === 0 ? elected : usual);
  const seen: string[] = [];
  manager.add(watcher(seen));
  manager.add(recorder('runnable', 'leader', []));
  const running = manager.run(stop.signal);
  await manager.whenLeading();
  while (!seen.includes('a')) await new Promise((resolve) => setImmediate(resolve));
  if (round % 50 === 0) expect((await served(manager, '/readyz')).text).to.equal('ok');
  stop.abort();
  await running;
}

/** The heap in use after collections, in bytes; what weak references held goes in between. */
async function heapUsed(): Promise<number> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  for (let n = 0; n < 4; n++) {
    collect();
    await sleep(systemClock, 5);
  }
  return process.memoryUsage().heapUsed;
}

/** What keeps the process alive, by its kind. */
function resources(): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const kind of process.getActiveResourcesInfo()) counts[kind] = (counts[kind] ?? 0) + 1;
  // What is over in a moment: a callback that is due, a file that a module is read from.
  delete counts['Immediate'];
  delete counts['FSReqCallback'];
  return counts;
}

describe('A thousand starts and stops of a manager', () => {
  it('leave no timer, socket, listener or growing heap', async function () {
    this.timeout(60_000);
    const setup = await Setup.start({ logLength: 1_000 });
    await setup.person.create(configMap('a'));
    // Ten at once, one of which has a Lease now and then.
    const rounds = async (count: number): Promise<void> => {
      for (let n = 0; n < count; n += 10) {
        await Promise.all(Array.from({ length: 10 }, (_, k) => cycle(setup, n + k)));
      }
      setup.lines.length = 0;
      setup.cluster.requests.clear();
    };
    await rounds(100);
    const heapBefore = await heapUsed();
    const before = resources();
    const timers = setup.clock.pendingTimers;
    const watches = process.listenerCount('SIGTERM');
    await rounds(900);
    const grown = (await heapUsed()) - heapBefore;
    expect(setup.clock.pendingTimers).to.equal(timers);
    expect(timers).to.equal(0);
    expect(resources()).to.deep.equal(before);
    expect(process.listenerCount('SIGTERM')).to.equal(watches);
    // A manager that stayed would be ten times that; the server's own log of writes is some of it.
    expect(grown / 900, `bytes a round: ${grown / 900}`).to.be.below(8_000);
    await setup.cluster.stop();
  });
});
