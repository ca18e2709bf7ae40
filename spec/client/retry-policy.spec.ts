import { expect } from 'chai';
import { retryAfterMs } from '../../lib/client/retry-policy.js';

const nowMs = Date.UTC(2026, 0, 1);

describe('retryAfterMs', () => {
  const values: readonly (readonly [string | undefined, number | undefined])[] = [
    [undefined, undefined],
    ['0', 0],
    [' 12 ', 12_000],
    ['Thu, 01 Jan 2026 00:00:05 GMT', 5_000],
    ['Wed, 31 Dec 2025 23:59:59 GMT', 0],
    ['soon', undefined],
    ['', undefined],
  ];
  for (const [value, expected] of values) {
    it(`takes ${JSON.stringify(value)} for ${expected ?? 'nothing'}`, () => {
      expect(retryAfterMs(value, nowMs)).to.equal(expected);
    });
  }
});
