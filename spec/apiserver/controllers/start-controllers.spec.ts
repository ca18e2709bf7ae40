import { expect } from 'chai';
import { EmbeddedApiServer } from '../../../lib/apiserver/internal.js';
import { controllerNames, startControllers } from '../../../lib/apiserver/controllers/index.js';
import type { ControllersOptions } from '../../../lib/apiserver/controllers/index.js';
import { Node, Pod } from '../../../lib/object/kinds.js';
import { VirtualClock } from '../../../lib/system/virtual-clock.js';
import { deployment } from './workload-objects.js';

const spec = { manager: 'spec' };

async function run(clock: VirtualClock, steps = 20): Promise<void> {
  for (let step = 0; step < steps; step++) await clock.advance(10);
}

describe('startControllers', () => {
  it('handles objects that existed before the start', async () => {
    const clock = new VirtualClock();
    const server = new EmbeddedApiServer({ clock });
    await server.loopback.create(deployment('web'), spec);
    const controllers = startControllers(server.loopback, { clock });
    await run(clock);
    const pods = server.loopback.list(Pod);
    expect(pods).to.have.length(1);
    controllers.stop();
    await server.stop();
  });

  it('continues where earlier controllers stopped, without restarting a ready pod', async () => {
    const clock = new VirtualClock();
    const server = new EmbeddedApiServer({ clock });
    const first = startControllers(server.loopback, { clock });
    await server.loopback.create(deployment('web'), spec);
    await run(clock);
    first.stop();
    const before = server.resourceVersion;
    const second = startControllers(server.loopback, { clock });
    await run(clock);
    expect(server.resourceVersion).to.equal(before);
    second.stop();
    await server.stop();
  });

  it('does not run disabled controllers', async () => {
    const clock = new VirtualClock();
    const server = new EmbeddedApiServer({ clock });
    const before = server.resourceVersion;
    const off = Object.fromEntries(controllerNames.map((name) => [name, false]));
    const controllers = startControllers(server.loopback, { clock, controllers: off });
    await run(clock);
    expect(server.resourceVersion).to.equal(before);
    controllers.stop();
    await server.stop();
  });

  it('stops all its timers when it is stopped', async () => {
    const clock = new VirtualClock();
    const server = new EmbeddedApiServer({ clock });
    const idleTimers = clock.pendingTimers;
    const pods = { readyAfterMs: 60_000 };
    const controllers = startControllers(server.loopback, { clock, pods });
    await server.loopback.create(deployment('web'), spec);
    await run(clock);
    expect(clock.pendingTimers).to.be.above(idleTimers);
    controllers.stop();
    expect(clock.pendingTimers).to.equal(idleTimers);
    await server.loopback.create(deployment('late'), spec);
    await run(clock);
    expect(clock.pendingTimers).to.equal(idleTimers);
    await server.stop();
  });

  it('creates the given number of nodes, ready and without taints', async () => {
    const clock = new VirtualClock();
    const server = new EmbeddedApiServer({ clock });
    const controllers = startControllers(server.loopback, { clock, nodes: 3 });
    await run(clock, 2);
    const nodes = server.loopback.list(Node);
    expect(nodes.map(({ metadata }) => metadata.name)).to.deep.equal([
      'node-0',
      'node-1',
      'node-2',
    ]);
    for (const { spec, status } of nodes as unknown as readonly Node[]) {
      expect(spec).to.deep.equal({});
      expect(status?.conditions?.[0]).to.include({ type: 'Ready', status: 'True' });
      expect(status?.allocatable).to.have.property('cpu');
    }
    controllers.stop();
    await server.stop();
  });

  const refused: readonly ControllersOptions[] = [
    { nodes: -1 },
    { nodes: 1.5 },
    { jobPodBackoffMs: 0 },
    { pods: { runningAfterMs: -1 } },
    { pods: { runningAfterMs: 10, readyAfterMs: 5 } },
    { pods: { terminatedAfterMs: NaN } },
    { pods: { restartAfterMs: 0 } },
  ];
  for (const options of refused) {
    it(`refuses ${JSON.stringify(options)}`, () => {
      const server = new EmbeddedApiServer();
      const start = () => startControllers(server.loopback, options);
      expect(start).to.throw('want').with.property('code', 'InvalidOption');
    });
  }
});
