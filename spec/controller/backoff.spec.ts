import { expect } from 'chai';
import fc from 'fast-check';
import { Backoff } from '../../lib/controller/delays.js';
import type { BackoffOptions } from '../../lib/controller/delays.js';

describe('Backoff', () => {
  it('doubles the delay of each key separately, up to the cap', () => {
    const backoff = new Backoff({ baseDelayMs: 10, maxDelayMs: 35 });
    expect([1, 2, 3].map(() => backoff.next('ns/a'))).to.deep.equal([10, 20, 35]);
    expect(backoff.next('ns/b')).to.equal(10);
  });

  it('starts at 5 ms, caps at 1,000 s by default and restarts at 5 ms after forget()', () => {
    const backoff = new Backoff();
    for (let n = 0; n < 20; n++) backoff.next('ns/a');
    expect(backoff.next('ns/a')).to.equal(1_000_000);
    backoff.forget('ns/a');
    expect(backoff.next('ns/a')).to.equal(5);
  });

  it('never shortens a delay and never exceeds the cap', () => {
    const property = fc.property(fc.nat(), fc.nat(), (base, more) => {
      const backoff = new Backoff({ baseDelayMs: base + 1, maxDelayMs: base + 1 + more });
      const delays = Array.from({ length: 99 }, () => backoff.next('ns/a'));
      expect(delays).to.deep.equal(delays.toSorted((a, b) => a - b));
      expect(delays.at(-1)).to.be.at.most(base + 1 + more);
    });
    fc.assert(property);
  });

  for (const options of [{ baseDelayMs: 0 }, { baseDelayMs: NaN }, { maxDelayMs: 4 }]) {
    it(`refuses the option ${Object.entries(options).flat().join(': ')}`, () => {
      const construct = () => new Backoff(options);
      expect(construct).to.throw('Backoff').with.property('code', 'InvalidOption');
    });
  }

  it('refuses an unknown option, with the one that it resembles', () => {
    const misspelt = { baseDelay: 5 } as BackoffOptions;
    expect(() => new Backoff(misspelt)).to.throw(
      /backoff: unknown option "baseDelay".*baseDelayMs/,
    );
  });
});
