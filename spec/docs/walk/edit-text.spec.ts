import { expect } from 'chai';
import { editText } from '../../../scripts/docs/walk/edit-text.js';

describe('The changes of a file that a page shows', () => {
  const text = 'one\ntwo\n\nthree\nfour\n';

  it('take lines away and put others there, at every place', () => {
    const diff = '+zero\n one\n-two\n+2\n\n@@ later\n three\n+3.5\n';
    expect(editText(text, diff)).to.equal('zero\none\n2\n\nthree\n3.5\nfour\n');
  });

  it('may be at the end', () => {
    expect(editText(text, ' four\n+five\n')).to.equal(`${text}five\n`);
  });

  for (const [what, diff] of [
    ['is not there', ' one\n-three\n'],
    ['is no whole line', '-wo\n'],
  ] as const) {
    it(`are refused when a place ${what}`, () => {
      expect(() => editText(text, diff)).to.throw('0 places, not one');
    });
  }

  it('are refused when a place is there twice', () => {
    expect(() => editText('one\nthree\none\n', '-one\n')).to.throw('2 places, not one');
  });
});
