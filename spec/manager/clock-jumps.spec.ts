import { expect } from 'chai';
import { controllerFor } from '../../lib/controller/controller.js';
import { requeueAfter } from '../../lib/controller/result.js';
import { ConfigMap } from '../../lib/object/kinds.js';
import type { Clock } from '../../lib/system/clock.js';
import { ManagerSetup } from './manager-setup.js';
import { ReplicaGroup, times } from './sharding/sharding-setup.js';

const hourMs = 3_600_000;

/** Returns a clock whose wall time can be set, as by an administrator or NTP. Its monotonic time does not jump. */
function settable(clock: Clock) {
  const wall = { offsetMs: 0 };
  const set: Clock = {
    now: () => clock.now() + wall.offsetMs,
    monotonicMs: () => clock.monotonicMs(),
    setTimer: (callback, delayMs) => clock.setTimer(callback, delayMs),
  };
  return { wall, clock: set };
}

for (const [title, offsets] of [
  ['two hours forwards', [2 * hourMs]],
  ['two hours backwards', [-2 * hourMs]],
  ['back and forth by minutes', [300_000, -300_000, 60_000, -60_000]],
] as const) {
  describe(`A wall clock that is set ${title}`, () => {
    it('changes neither which manager leads nor when keys are requeued', async () => {
      const setup = await ManagerSetup.start();
      const { wall, clock } = settable(setup.clock);
      const startedMs = setup.clock.monotonicMs();
      const reconciledMs: number[] = [];
      const losses: string[] = [];
      const manager = setup.manager({
        clock,
        leaderElection: { name: 'operator', namespace: 'default', identity: 'me', ...times },
      });
      manager.add(
        controllerFor(ConfigMap, {
          predicate: ({ object }) => object.metadata.name === 'a',
        }).complete(async () => {
          reconciledMs.push(Math.round(setup.clock.monotonicMs() - startedMs));
          if (reconciledMs.length === 1) throw new Error('no luck');
          return requeueAfter(10_000);
        }),
      );
      await setup.create('a');
      await setup.run(manager);
      await setup.clock.advance(1_000);
      expect(reconciledMs).to.have.length(2);
      const [, second = 0] = reconciledMs;
      for (let n = 0; n < 40; n++) {
        wall.offsetMs = offsets[n % offsets.length] ?? 0;
        await setup.clock.advance(1_000);
        if (!manager.status().isLeading) losses.push(`after ${n} s`);
      }
      expect(losses).to.deep.equal([]);
      const gaps = reconciledMs.slice(1).map((atMs) => atMs - second);
      expect(gaps).to.deep.equal([0, 10_000, 20_000, 30_000, 40_000].slice(0, gaps.length));
      expect(gaps.length).to.be.above(3);
      expect(await setup.end()).to.equal(undefined);
    });

    it('neither moves a shard nor removes a replica from the group', async () => {
      const group = await ReplicaGroup.start();
      const { wall, clock } = settable(group.clock);
      const set = group.replica({ identity: 'set', clock });
      const steady = group.replica({ identity: 'steady' });
      await group.clock.advance(5_000);
      const { epoch } = set.sharding.status();
      const shares = [set.owned(), steady.owned()];
      for (let n = 0; n < 20; n++) {
        wall.offsetMs = offsets[n % offsets.length] ?? 0;
        await group.clock.advance(500);
      }
      expect(set.sharding.status().epoch).to.equal(epoch);
      expect([set.owned(), steady.owned()]).to.deep.equal(shares);
      await group.stop();
    });
  });
}
