import { expect } from 'chai';
import { shrunk } from '../../lib/testing/shrink.js';

const has = (text: string) => (value: unknown) => JSON.stringify(value).includes(text);

describe('shrunk, which looks for the smallest value that still fails a check', () => {
  const cases: readonly (readonly [string, unknown, (value: unknown) => boolean, unknown])[] = [
    ['keeps a value that cannot fail otherwise', null, () => true, null],
    ['turns true into false', true, () => true, false],
    ['keeps true if only that fails', true, (value) => value === true, true],
    ['empties a text', 'abcdef', () => true, ''],
    ['halves and cuts a text', 'abcdefgh', (value) => String(value).startsWith('abc'), 'abc'],
    ['replaces the letters of a text', 'xyz', (value) => String(value).length === 3, 'aaa'],
    ['keeps whole characters', '\u{1F600}\u{1F600}', has('\u{1F600}'), '\u{1F600}'],
    ['brings numbers to zero', -7.5, () => true, 0],
    ['brings numbers near to zero', 100, (value) => Number(value) >= 13, 13],
    ['brings negative numbers near to zero', -100, (value) => Number(value) <= -13, -13],
    ['empties a list', [1, 2, 3], () => true, []],
    ['leaves out items', [1, 2, 3], (value) => (value as unknown[]).includes(2), [2]],
    ['makes items smaller', [9, 'xx'], (value) => (value as unknown[]).length === 2, [0, '']],
    ['empties an object', { a: 1, b: 2 }, () => true, {}],
    ['leaves out members', { a: 1, b: 2 }, has('"b"'), { b: 0 }],
    ['makes members smaller', { a: { b: [true] } }, has('"b":['), { a: { b: [] } }],
  ];
  for (const [what, value, fails, wanted] of cases) {
    it(what, () => {
      expect(shrunk(value, fails)).to.deep.equal(wanted);
    });
  }

  it('tries at most 5,000 values', () => {
    let tries = 0;
    const list = Array.from({ length: 6_000 }, () => null);
    const result = shrunk(list, () => {
      tries++;
      return false;
    });
    expect([tries, result]).to.deep.equal([5_000, list]);
  });
});
