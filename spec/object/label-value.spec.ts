import { expect } from 'chai';
import fc from 'fast-check';
import { labelValueOf, labelValueProblem } from '../../lib/object/names.js';

const long = (length: number): string => 'a'.repeat(length);

describe('labelValueOf', () => {
  it('returns a valid label value unchanged', () => {
    for (const text of ['', 'a', 'A_b.c-D', long(63)]) expect(labelValueOf(text)).to.equal(text);
  });

  it('returns the same value in every release', () => {
    expect(labelValueOf(long(253))).to.equal(`${long(52)}-32859a3ab6`);
    expect(labelValueOf('a b')).to.equal('a-b-c8687a08aa');
    expect(labelValueOf('***')).to.equal('596f4162a5');
  });

  it('returns a valid value, distinct for distinct inputs', () => {
    const text = fc.string({ maxLength: 300, unit: 'binary' });
    const property = fc.property(text, text, (one, other) => {
      expect(labelValueProblem(labelValueOf(one))).to.equal(undefined);
      if (one !== other) expect(labelValueOf(one)).not.to.equal(labelValueOf(other));
    });
    fc.assert(property);
  });
});
