import { expect } from 'chai';
import { seededRandom, systemRandom } from '../../lib/system/random.js';

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

const spread = (numbers: number[]): number[] =>
  [0, 0.25, 0.5, 0.75].map((from) => numbers.filter((n) => n >= from && n < from + 0.25).length);

for (const [name, random] of Object.entries({ systemRandom, seededRandom: seededRandom(42) })) {
  describe(name, () => {
    it('returns numbers from 0 to 1, evenly distributed', () => {
      const quarters = spread(Array.from({ length: 4_000 }, () => random.next()));
      expect(quarters.reduce((sum, each) => sum + each)).to.equal(4_000);
      // Ten standard deviations: no failure by chance.
      for (const count of quarters) expect(count).to.be.within(720, 1_280);
    });

    it('returns distinct UUIDs', () => {
      const uuids = Array.from({ length: 200 }, () => random.uuid());
      for (const each of uuids) expect(each).to.match(uuid);
      expect(new Set(uuids).size).to.equal(200);
    });
  });
}

describe('seededRandom', () => {
  it('returns the same sequence for the same seed in every release', () => {
    const first = [1, 2, 3].map(() => seededRandom(1).next());
    expect(new Set(first).size).to.equal(1);
    // Reference values of mulberry32.
    const random = seededRandom(0);
    expect([random.next(), random.next()]).to.deep.equal([
      0.26642920868471265, 0.0003297457005828619,
    ]);
    expect(seededRandom(1).uuid()).to.equal(seededRandom(1).uuid());
  });

  it('returns another sequence for another seed', () => {
    expect(seededRandom(1).next()).not.to.equal(seededRandom(2).next());
  });
});
