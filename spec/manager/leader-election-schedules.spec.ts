import { expect } from 'chai';
import { isSampled, sampleSeed } from '../sample.js';
import { Schedule, disasters } from './leader-election-schedule.js';

/** Replays a single schedule if set. */
const only = process.env['LEADER_ELECTION_SEED'];

const count = isSampled ? 120 : 1_000;
const first = isSampled ? sampleSeed * count : 0;
const all = Array.from({ length: count }, (_, at) => first + at);
const seeds = only === undefined ? all : [Number(only)];

const meanings: Readonly<Record<(typeof disasters)[number], string>> = {
  crash: 'crashes',
  pause: 'is paused',
  cut: 'loses its connection',
  deaf: 'receives no responses',
  mute: 'cannot send requests',
  slow: 'has a slow connection',
  errors: 'receives errors from the server',
  clean: 'stops in good order',
};

describe('Leader election in random sequences of failures', () => {
  for (const [at, disaster] of disasters.entries()) {
    const own = seeds.filter((seed) => seed % disasters.length === at);
    if (own.length === 0) continue;

    it(`has at most one leader at a time, and keeps its other guarantees, when the leader ${meanings[disaster]}`, async function () {
      this.timeout(60_000);
      const failures: string[] = [];
      for (const seed of own) {
        const violations = await new Schedule(seed).run();
        if (violations.length > 0) failures.push(`seed ${seed}: ${violations[0] ?? ''}`);
      }
      expect(failures).to.deep.equal([]);
    });
  }
});
