import { expect } from 'chai';
import fc from 'fast-check';
import {
  addQuantities,
  canonicalQuantity,
  compareQuantities,
  formatQuantity,
  parseQuantity,
  subtractQuantities,
} from '../../lib/object/quantity.js';

describe('formatQuantity', () => {
  const cases = [
    ['0', '0'],
    ['0Ki', '0'],
    ['1', '1'],
    ['+5', '5'],
    ['1.0', '1'],
    ['0.5', '500m'],
    ['.5', '500m'],
    ['1.', '1'],
    ['1.10', '1100m'],
    ['1000m', '1'],
    ['1500m', '1500m'],
    ['1000000', '1M'],
    ['1001000', '1001k'],
    ['1000P', '1E'],
    ['1000E', '1000E'],
    ['-1.5', '-1500m'],
    ['1024Ki', '1Mi'],
    ['0.5Gi', '512Mi'],
    ['0.5Ki', '512'],
    ['1.1Ki', '1126400m'],
    ['-8Ki', '-8Ki'],
    ['7Ei', '7Ei'],
    ['1e3', '1e3'],
    ['1E3', '1e3'],
    ['10e1', '100'],
    ['1e100', '10e99'],
    ['100e-3', '100e-3'],
    ['99999999999999999999999', '99999999999999999999999'],
  ] as const;
  for (const [text, canonical] of cases) {
    it(`formats ${text} as ${canonical}`, () => {
      expect(formatQuantity(parseQuantity(text))).to.equal(canonical);
    });
  }

  it('produces text that parses to the same amount', () => {
    const suffix = fc.constantFrom('', 'n', 'u', 'm', 'k', 'M', 'E', 'Ki', 'Mi', 'Gi', 'e5', 'E-4');
    const property = fc.property(fc.integer(), fc.nat(999), suffix, (whole, fraction, unit) => {
      const quantity = parseQuantity(`${whole}.${fraction}${unit}`);
      const canonical = formatQuantity(quantity);
      expect(compareQuantities(canonical, quantity)).to.equal(0);
      const again = parseQuantity(canonical);
      // 62.5Ki is formatted as 64000, without a binary suffix: parsed as decimal it becomes 64k.
      if (again.format === quantity.format) expect(formatQuantity(again)).to.equal(canonical);
    });
    fc.assert(property);
  });
});

describe('parseQuantity', () => {
  it('accepts JSON numbers', () => {
    expect(formatQuantity(parseQuantity(1.5))).to.equal('1500m');
    expect(formatQuantity(parseQuantity(1e21))).to.equal('1e21');
  });

  it('records the notation, such as BinarySI for 1Ki, and limits the length', () => {
    const formats = ['1', '1m', '1Ki', '1e3', '1E'].map((text) => parseQuantity(text).format);
    expect(formats).to.deep.equal([
      ...['DecimalSI', 'DecimalSI', 'BinarySI', 'DecimalExponent', 'DecimalSI'],
    ]);
    expect(parseQuantity('1e1000')).to.deep.include({ unscaled: 1n, scale: 1_000 });
    expect(() => parseQuantity('1e1001')).to.throw('not a quantity');
    expect(parseQuantity('1'.repeat(1_000)).scale).to.equal(0);
    expect(() => parseQuantity('1'.repeat(1_001))).to.throw('not a quantity');
  });

  it('rounds to a multiple of a billionth, away from zero', () => {
    expect(formatQuantity(parseQuantity('0.1n'))).to.equal('1n');
    expect(formatQuantity(parseQuantity('-0.1n'))).to.equal('-1n');
    expect(formatQuantity(parseQuantity('1.0000000001'))).to.equal('1000000001n');
  });

  it('limits quantities with a binary suffix to the largest 64-bit integer', () => {
    expect(formatQuantity(parseQuantity('9Ei'))).to.equal('9223372036854775807');
    expect(formatQuantity(parseQuantity('-9Ei'))).to.equal('-9223372036854775807');
  });

  const bad = ['', '-', '.', 'm', '1 ', ' 1', '1kk', '1ki', '1e', '1e+', '1i', '--1', '1.2.3'];
  for (const text of [...bad, '0x1', '1_0', '1e9999', '٣', 'NaN']) {
    it(`rejects ${JSON.stringify(text)}`, () => {
      expect(() => parseQuantity(text))
        .to.throw('not a quantity')
        .with.property('code', 'InvalidValue');
    });
  }
});

describe('parseQuantity of a very long text', () => {
  it('rejects the text quickly, and quotes only its beginning', () => {
    for (const text of [`1${'0'.repeat(1e6)}`, `0.${'1'.repeat(1e6)}`]) {
      expect(() => parseQuantity(text)).to.throw(
        /^"[01.]{100}…" is not a quantity such as 500m or 2Gi$/,
      );
    }
  });
});

describe('canonicalQuantity', () => {
  // Observed on a real API server's parser.
  const cases = [
    ['1.500', '1.500'],
    ['0100', '0100'],
    ['+5', '+5'],
    ['1e0', '1e0'],
    ['1E3', '1E3'],
    ['1100Ki', '1100Ki'],
    ['1024Ki', '1Mi'],
    ['0.5', '500m'],
    ['1000e1', '10e3'],
    ['2.5e1', '2.5e1'],
    ['1000m', '1'],
    ['1234567890123456789000', '1234567890123456789k'],
    ['1.000000000001', '1000000001n'],
    // Binary amounts formatted without a suffix are parsed as decimal once stored.
    ['62.5Ki', '64k'],
    ['129952312.5Ki', '133071168k'],
    ['1.5Ki', '1536'],
    ['8Ki', '8Ki'],
    ['08Ki', '8Ki'],
    ['09Ki', '09Ki'],
    // The parser keeps texts with few digits.
    ['012345678901Ki', '012345678901Ki'],
    ['0123456789013Ki', '123456789013Ki'],
    ['05n', '05n'],
    ['015e-10', '2e-9'],
    ['0123456789012345678', '0123456789012345678'],
    ['01234567890123456789', '1234567890123456789'],
    ['0.500', '500m'],
    ['0.000', '0'],
    ['00', '0'],
  ] as const;
  for (const [text, expected] of cases) {
    it(`turns ${text} into ${expected}`, () => {
      expect(canonicalQuantity(text)).to.equal(expected);
    });
  }

  it('returns its own output unchanged', () => {
    const number = fc.tuple(fc.integer(), fc.nat(999)).map((parts) => parts.join('.'));
    const suffix = fc.constantFrom('', 'n', 'm', 'k', 'E', 'Ki', 'Mi', 'Ei', 'e1', 'e5', 'E-4');
    const property = fc.property(number, suffix, (amount, unit) => {
      const canonical = canonicalQuantity(`${amount}${unit}`);
      expect(canonicalQuantity(canonical)).to.equal(canonical);
    });
    fc.assert(property);
  });
});

describe('compareQuantities', () => {
  it('compares amounts exactly, in any notation', () => {
    expect(compareQuantities('1', '1000m')).to.equal(0);
    expect(compareQuantities('1Gi', '1024Mi')).to.equal(0);
    expect(compareQuantities('1Gi', '1G')).to.be.above(0);
    expect(compareQuantities('-1', '1n')).to.be.below(0);
    expect(compareQuantities('9007199254740993', '9007199254740992')).to.be.above(0);
  });

  it('orders a sum as addQuantities and subtractQuantities compute it', () => {
    const property = fc.property(fc.integer(), fc.integer(), (one, other) => {
      const sum = addQuantities(`${one}m`, `${other}Ki`);
      expect(compareQuantities(subtractQuantities(sum, `${other}Ki`), `${one}m`)).to.equal(0);
      expect(compareQuantities(sum, `${one}m`)).to.equal(Math.sign(other));
    });
    fc.assert(property);
  });
});
