import { expect } from 'chai';
import { controllerFor } from '../../lib/controller/controller-builder.js';
import { done } from '../../lib/controller/result.js';
import { EmbeddedCluster } from '../../lib/embedded/embedded-cluster.js';
import { Manager } from '../../lib/manager/manager.js';
import type { Runnable, RunnablePhase } from '../../lib/manager/runnable.js';
import { ConfigMap } from '../../lib/object/kinds.js';
import { VirtualClock } from '../../lib/system/virtual-clock.js';

/** Ends when it is told to, and tells what it does. */
function recorder(name: string, phase: RunnablePhase, log: string[]): Runnable {
  return {
    ...{ name, phase },
    run: async ({ signal, ready }) => {
      log.push(`${name} starts`);
      ready();
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
      log.push(`${name} ends`);
    },
  };
}

async function setUp() {
  const clock = new VirtualClock();
  const cluster = await EmbeddedCluster.start({ clock });
  const client = cluster.client({ user: 'operator' });
  const stop = new AbortController();
  return { clock, cluster, client, stop };
}

describe('Manager', () => {
  it('starts in order and stops in reverse', async () => {
    const { clock, cluster, client, stop } = await setUp();
    const manager = new Manager({ client, clock });
    const log: string[] = [];
    for (const phase of ['leader', 'replica', 'webhook', 'server'] as const) {
      manager.add(recorder(phase, phase, log));
    }
    manager.add(
      controllerFor(ConfigMap).complete(async ({ key }) => {
        log.push(`reconciles ${key.name}`);
        return done();
      }),
    );
    const running = manager.run(stop.signal);
    await clock.advance(0);
    expect(manager.phase).to.equal('running');
    stop.abort();
    await Promise.all([running, clock.advance(0)]);
    expect(log).to.deep.equal([
      ...['server starts', 'webhook starts', 'replica starts', 'leader starts'],
      ...['leader ends', 'replica ends', 'webhook ends', 'server ends'],
    ]);
    expect(clock.pendingTimers).to.equal(0);
    await cluster.stop();
  });
});
