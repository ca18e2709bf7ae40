import { expect } from 'chai';
import { editText } from '../../../scripts/docs/walk/edit-text.js';

describe('changes of a file that a page of the documentation shows', () => {
  const text = 'one\ntwo\n\nthree\nfour\n';

  it('remove and insert lines, at each place that the change names', () => {
    const diff = '+zero\n one\n-two\n+2\n\n@@ later\n three\n+3.5\n';
    expect(editText(text, diff)).to.equal('zero\none\n2\n\nthree\n3.5\nfour\n');
  });

  it('can insert lines at the end of the file', () => {
    expect(editText(text, ' four\n+five\n')).to.equal(`${text}five\n`);
  });

  for (const [what, diff] of [
    ['does not exist', ' one\n-three\n'],
    ['is not a whole line', '-wo\n'],
  ] as const) {
    it(`are rejected when a place in the change ${what}`, () => {
      expect(() => editText(text, diff)).to.throw('0 places, not one');
    });
  }

  it('are rejected when a place in the change occurs twice in the file', () => {
    expect(() => editText('one\nthree\none\n', '-one\n')).to.throw('2 places, not one');
  });
});
