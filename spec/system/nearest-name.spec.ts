import { expect } from 'chai';
import { nearestName } from '../../lib/system/known-options.js';

describe('nearestName', () => {
  const cases: readonly (readonly [string, readonly string[], string | undefined])[] = [
    ['replicas', ['replica', 'replicas'], 'replicas'],
    ['REPLICAS', ['Replicas'], 'Replicas'],
    // One letter changed, added, dropped or swapped with the next one counts as one change.
    ['abcdef', ['abXYef', 'abXdef'], 'abXdef'],
    ['abcdef', ['abcdefXY', 'abcdefX'], 'abcdefX'],
    ['abcdef', ['abcd', 'abcde'], 'abcde'],
    ['abcdef', ['abXdeY', 'abdcef'], 'abdcef'],
    ['abcdef', ['abXdeY', 'bacdef'], 'bacdef'],
    ['abcdef', ['abXdeY', 'abcdfe'], 'abcdfe'],
    ['abcdef', ['cbadef', 'abdcef'], 'abdcef'],
    // Of equally near names, the first one is chosen.
    ['abcdef', ['abcdeX', 'abcdeY'], 'abcdeX'],
    // Two changes are allowed in short names, a third of the letters in long ones.
    ['ab', ['xy'], 'xy'],
    ['abc', ['xyz'], undefined],
    ['abc', ['abcdef'], undefined],
    ['abcdefgh', ['abcdeXYZ'], undefined],
    ['abcdefghi', ['abcdefXYZ'], 'abcdefXYZ'],
    ['abcdefghi', ['abcdeWXYZ'], undefined],
    ['abcdefghi', ['badcfeghi'], 'badcfeghi'],
    ['abcdefghi', ['badcfehgi'], undefined],
    ['abc', [], undefined],
  ];
  for (const [written, names, wanted] of cases) {
    it(`finds ${wanted ?? 'no name'} for ${written} among ${names.join(', ') || 'no names'}`, () => {
      expect(nearestName(written, names)).to.equal(wanted);
    });
  }
});
