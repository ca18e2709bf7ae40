import { expect } from 'chai';
import fc from 'fast-check';
import type { BackOff } from '../../lib/resource/with-retry.js';
import { defaultBackOffFactory, exponentialBackOff } from '../../lib/resource/with-retry.js';
import { isInvalidConfig } from '../../lib/resource/errors.js';
import { seededRandom } from '../../lib/system/random.js';
import { tries } from '../sample.js';

const middle = { ...seededRandom(1), next: () => 0.5 };

function waitsOf(backOff: BackOff, most = 20): number[] {
  const waits: number[] = [];
  for (
    let wait = backOff.next();
    wait !== undefined && waits.length < most;
    wait = backOff.next()
  ) {
    waits.push(wait);
  }
  return waits;
}

describe('exponentialBackOff', () => {
  it('grows from 500 ms by a factor of 1.5, up to 60 s', () => {
    const waits = waitsOf(exponentialBackOff({ random: middle }));
    expect(waits.slice(0, 4)).to.deep.equal([500, 750, 1_125, 1_687.5]);
    expect(waits.slice(12, 15)).to.deep.equal([60_000, 60_000, 60_000]);
  });

  it('stops after maxRetries', () => {
    expect(waitsOf(exponentialBackOff({ maxRetries: 3 }))).to.have.length(3);
    expect(waitsOf(exponentialBackOff({ maxRetries: 0 }))).to.have.length(0);
    expect(waitsOf(exponentialBackOff(), 999)).to.have.length(999);
  });

  it('returns delays near the exponential curve, and never more than the maximum', () => {
    const options = fc.record({
      initialIntervalMs: fc.integer({ min: 1, max: 10_000 }),
      multiplier: fc.double({ min: 1, max: 10, noNaN: true }),
      randomizationFactor: fc.double({ min: 0, max: 1, noNaN: true }),
      more: fc.nat({ max: 100_000 }),
      seed: fc.integer(),
    });
    const property = fc.property(options, ({ more, seed, ...curve }) => {
      const maxIntervalMs = curve.initialIntervalMs + more;
      const random = seededRandom(seed);
      const waits = waitsOf(exponentialBackOff({ ...curve, maxIntervalMs, random }), 2_000);
      for (const [n, wait] of waits.entries()) {
        const value = Math.min(curve.initialIntervalMs * curve.multiplier ** n, maxIntervalMs);
        const least = value * (1 - curve.randomizationFactor);
        const most = Math.min(value * (1 + curve.randomizationFactor), maxIntervalMs);
        expect(wait).to.be.within(least - 1e-6, most + 1e-6);
      }
    });
    fc.assert(property, { numRuns: tries(20) });
  });

  for (const options of [
    ...[{ initialIntervalMs: 0 }, { initialIntervalMs: NaN }, { multiplier: 0.9 }],
    ...[{ randomizationFactor: 1.1 }, { randomizationFactor: -0.1 }, { maxIntervalMs: 499 }],
    ...[{ maxRetries: -1 }, { maxRetries: NaN }],
  ]) {
    it(`rejects ${Object.entries(options).join()}`, () => {
      const [name] = Object.keys(options);
      expect(() => exponentialBackOff(options))
        .to.throw(`exponentialBackOff: ${name}: want`)
        .that.satisfies(isInvalidConfig);
    });
  }
});

describe('the valid options of exponentialBackOff', () => {
  for (const [options, waits] of [
    [{ multiplier: 1 }, [500, 500]],
    [{ randomizationFactor: 0, multiplier: 2 }, [500, 1_000]],
    [{ randomizationFactor: 1 }, [500, 750]],
    [{ initialIntervalMs: 60_000 }, [60_000, 60_000]],
    [{ maxIntervalMs: 500 }, [500, 500]],
  ] as const) {
    it(`include ${JSON.stringify(options)}`, () => {
      expect(waitsOf(exponentialBackOff({ ...options, random: middle }), 2)).to.deep.equal(waits);
    });
  }
});

describe('defaultBackOffFactory', () => {
  it('creates back-offs of seven retries that are counted separately', () => {
    const factory = defaultBackOffFactory();
    const waits = waitsOf(factory(middle));
    expect(waits.map(Math.round)).to.deep.equal([500, 750, 1_125, 1_688, 2_531, 3_797, 5_695]);
    expect(waitsOf(factory())).to.have.length(7);
  });
});
