import { expect } from 'chai';
import fc from 'fast-check';
import { cutText } from '../../lib/events/recorder.js';

describe('cutText', () => {
  it('never exceeds the byte limit or splits a character', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 60 });
    const property = fc.property(text, fc.integer({ min: 3, max: 80 }), (whole, max) => {
      const cut = cutText(whole, max);
      expect(Buffer.byteLength(cut)).to.be.at.most(max);
      if (Buffer.byteLength(whole) <= max) expect(cut).to.equal(whole);
      else expect(whole.startsWith(cut.slice(0, -1)) && cut.endsWith('…')).to.equal(true);
    });
    fc.assert(property);
  });
});
