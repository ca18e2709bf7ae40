import { expect } from 'chai';
import fc from 'fast-check';
import { trimMiddle } from '../../lib/declarative/expression/operands.js';

describe('trimMiddle, which cuts out the middle of a text', () => {
  it('keeps the beginning and the end of a long text', () => {
    expect(trimMiddle('0123456789abcdef', 11)).to.equal('0123 … cdef');
  });

  it('keeps a text that fits, by default up to 1,000 characters', () => {
    expect(trimMiddle('0123456789', 10)).to.equal('0123456789');
    expect(trimMiddle('a'.repeat(1_000)))
      .to.have.length(1_000)
      .and.not.include('…');
    expect(trimMiddle('a'.repeat(1_001)))
      .to.have.length(1_000)
      .and.include('…');
  });

  it('returns no text that is too long, and splits no character', () => {
    const property = fc.property(
      fc.string({ unit: fc.constantFrom('a', 'é', '😀'), maxLength: 60 }),
      fc.integer({ min: 5, max: 40 }),
      (text, most) => {
        const trimmed = trimMiddle(text, most);
        expect(trimmed.length).to.be.at.most(Math.max(most, 5));
        expect(encodeURIComponent.bind(undefined, trimmed)).not.to.throw();
      },
    );
    fc.assert(property);
  });
});
