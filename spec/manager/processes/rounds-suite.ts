import { monitorEventLoopDelay } from 'node:perf_hooks';
import { expect } from 'chai';
import type { Verdict } from './judge.js';
import { RoundCast, rounds } from './rounds.js';
import type { RoundTarget } from './rounds.js';

/**
 * Defines the five rounds against a server. They run concurrently, because a round mostly waits.
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
    // Fifteen starting processes keep a machine too busy for the times of a round.
    await Promise.all(casts.map((cast) => cast.start()));
    lateness.enable();
    for (const [at, { name }] of rounds.entries()) verdicts.set(name, casts[at]!.play());
    // Each spec reports its own verdict.
    await Promise.allSettled(verdicts.values());
    lateness.disable();
  });

  after(async () => {
    await Promise.all(casts.map((cast) => cast.end()));
    await close?.();
  });

  for (const { name, mostMs } of rounds) {
    it(`leader election elects another leader within ${mostMs} ms, without late writes of the former leader, when that ${name}`, async () => {
      const { violations, writes, gapMs } = await verdicts.get(name)!;
      expect(violations).to.deep.equal([]);
      expect(writes).to.be.above(10);
      expect(gapMs).to.be.at.most(mostMs + busyMs());
    });
  }

  // A takeover has four steps: the signal, the last renewal, the read of the Lease, the first write. On a busy machine,
  // each may be as late as the event loop of this process, which also forwards the requests.
  const busyMs = (): number => (4 * lateness.max) / 1e6;
}
