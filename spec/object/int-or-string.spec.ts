import { expect } from 'chai';
import { rollingUpdateBounds, scaledValue } from '../../lib/object/int-or-string.js';

describe('scaledValue', () => {
  it('scales a percentage of the total, rounded as requested', () => {
    expect(scaledValue('25%', 10, 'up')).to.equal(3);
    expect(scaledValue('25%', 10, 'down')).to.equal(2);
    expect(scaledValue('100%', 7, 'down')).to.equal(7);
    // 29 * 0.01 * 100 is not 29 in floating point.
    expect(scaledValue('29%', 100, 'up')).to.equal(29);
    expect(scaledValue('50%', 1_000, 'down')).to.equal(500);
  });

  it('returns a number unchanged', () => {
    expect(scaledValue(3, 10, 'up')).to.equal(3);
  });

  for (const value of ['3', '', '%', '-5%', '1.5%', 1.5, NaN]) {
    it(`rejects ${JSON.stringify(value)}`, () => {
      const scale = () => scaledValue(value, 10, 'up');
      expect(scale).to.throw().with.property('code', 'InvalidValue');
    });
  }
});

describe('rollingUpdateBounds', () => {
  it('default to 25% each', () => {
    expect(rollingUpdateBounds(10)).to.deep.equal({ maxSurge: 3, maxUnavailable: 2 });
    expect(rollingUpdateBounds(3, { maxSurge: '50%', maxUnavailable: '50%' })).to.deep.equal({
      ...{ maxSurge: 2, maxUnavailable: 1 },
    });
    expect(rollingUpdateBounds(1)).to.deep.equal({ maxSurge: 1, maxUnavailable: 0 });
  });

  it('always allow progress', () => {
    const none = { maxSurge: 0, maxUnavailable: '0%' };
    expect(rollingUpdateBounds(10, none)).to.deep.equal({ maxSurge: 0, maxUnavailable: 1 });
    expect(rollingUpdateBounds(0)).to.deep.equal({ maxSurge: 0, maxUnavailable: 1 });
  });
});
