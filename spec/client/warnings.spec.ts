import { expect } from 'chai';
import { warningsIn } from '../../lib/client/answers.js';

describe('warningsIn', () => {
  const headers: readonly (readonly [string, readonly string[]])[] = [
    ['299 - "one"', ['one']],
    [
      '299 - "one, and more", 299 kube "two" "Sat, 21 Nov 2026 09:00:00 GMT"',
      ['one, and more', 'two'],
    ],
    [String.raw`299 - "a \"quoted\" word and a \\"`, ['a "quoted" word and a \\']],
    ['299 - "unknown field \\"spec.x\\""', ['unknown field "spec.x"']],
    [Buffer.from('299 - "a → b", 299 - "ü"').toString('latin1'), ['a → b', 'ü']],
    ['nonsense', []],
    ['', []],
  ];
  for (const [header, expected] of headers) {
    it(`finds ${expected.length} warnings in: ${header}`, () => {
      expect(warningsIn(header)).to.deep.equal(expected);
    });
  }

  it('takes linear time for an unterminated string', () => {
    expect(warningsIn(`299 - "${'\\"'.repeat(100_000)}`)).to.deep.equal([]);
  });
});
