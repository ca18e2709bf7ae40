import { expect } from 'chai';
import { refusalDelayMs, retryAfterMs } from '../../lib/client/request-limits.js';

const nowMs = Date.UTC(2026, 0, 1);

describe('retryAfterMs', () => {
  const values: readonly (readonly [string | undefined, number | undefined])[] = [
    [undefined, undefined],
    ['0', 0],
    [' 12 ', 12_000],
    ['Thu, 01 Jan 2026 00:00:05 GMT', 5_000],
    ['Wed, 31 Dec 2025 23:59:59 GMT', 0],
    ['soon', undefined],
    ['-5', undefined],
    ['1.5', undefined],
    ['2026', 2_026_000],
    ['Thursday, 01-Jan-26 00:00:05 GMT', 5_000],
    ['', undefined],
    ['3601', 3_600_000],
    ['9'.repeat(400), 3_600_000],
    ['Fri, 01 Jan 2027 00:00:00 GMT', 3_600_000],
  ];
  for (const [value, expected] of values) {
    it(`parses ${JSON.stringify(value)} as ${expected ?? 'undefined'}`, () => {
      expect(retryAfterMs(value, nowMs)).to.equal(expected);
    });
  }
});

describe('the delay before a retry after a refused request', () => {
  it('is the time in Retry-After, but from the second retry on at least the back-off', () => {
    expect([0, 1, 2, 3, 9].map((retries) => refusalDelayMs(0, retries))).to.deep.equal([
      0, 100, 200, 400, 2_000,
    ]);
    expect(refusalDelayMs(5_000, 4)).to.equal(5_000);
  });
});
