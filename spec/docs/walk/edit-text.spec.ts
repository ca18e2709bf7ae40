import { expect } from 'chai';
import { editText } from '../../../scripts/docs/walk/edit-text.js';

describe('the changes of a file on a page', () => {
  const text = 'one\ntwo\n\nthree\nfour\n';

  it('remove and insert lines, at every place', () => {
    const diff = '+zero\n one\n-two\n+2\n\n@@ later\n three\n+3.5\n';
    expect(editText(text, diff)).to.equal('zero\none\n2\n\nthree\n3.5\nfour\n');
  });

  it('can be at the end', () => {
    expect(editText(text, ' four\n+five\n')).to.equal(`${text}five\n`);
  });

  for (const [what, diff] of [
    ['does not exist', ' one\n-three\n'],
    ['is not a whole line', '-wo\n'],
  ] as const) {
    it(`are rejected when a place ${what}`, () => {
      expect(() => editText(text, diff)).to.throw('0 places, not one');
    });
  }

  it('are rejected when a place occurs twice', () => {
    expect(() => editText('one\nthree\none\n', '-one\n')).to.throw('2 places, not one');
  });
});
