import { monitorEventLoopDelay } from 'node:perf_hooks';
import { expect } from 'chai';
import type { Verdict } from './judge.js';
import { RoundCast, rounds } from './rounds.js';
import type { RoundTarget } from './rounds.js';

/**
 * Declares the five rounds against a server, all at once: most of a round is waiting.
 * @param start - is called once; `target.close` at the end
 */
export function roundsSuite(
  start: () => Promise<RoundTarget & { readonly close: () => Promise<void> }>,
): void {
  const verdicts = new Map<string, Promise<Verdict>>();
  let casts: readonly RoundCast[] = [];
  let close: (() => Promise<void>) | undefined;
  const lateness = monitorEventLoopDelay({ resolution: 10 });

  before(async () => {
    const target = await start();
    close = target.close;
    casts = rounds.map((round) => new RoundCast(target, round));
    // Fifteen processes that start keep a machine so busy that nobody could keep to the times.
    await Promise.all(casts.map((cast) => cast.start()));
    lateness.enable();
    for (const [at, { name }] of rounds.entries()) verdicts.set(name, casts[at]!.play());
    // Each spec reports its own.
    await Promise.allSettled(verdicts.values());
    lateness.disable();
  });

  after(async () => {
    await Promise.all(casts.map((cast) => cast.end()));
    await close?.();
  });

  for (const { name, mostMs } of rounds) {
    it(`passes to another within ${mostMs} ms, and no former leader writes, when the leader ${name}`, async () => {
      const { violations, writes, gapMs } = await verdicts.get(name)!;
      expect(violations).to.deep.equal([]);
      expect(writes).to.be.above(10);
      expect(gapMs).to.be.at.most(mostMs + busyMs());
    });
  }

  // On a busy machine each step is late by as much as this process, which also carries the requests:
  // the signal, the last renewal, the look at the Lease, the first write.
  const busyMs = (): number => (4 * lateness.max) / 1e6;
}
