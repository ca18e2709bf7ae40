import { expect } from 'chai';
import fc from 'fast-check';
import { formatMicroTime, formatTime, parseTime } from '../../lib/object/micro-time.js';

const moment = Date.UTC(2026, 1, 3, 4, 5, 6, 78);

describe('formatMicroTime', () => {
  it('has six fractional digits', () => {
    expect(formatMicroTime(moment)).to.equal('2026-02-03T04:05:06.078000Z');
    expect(formatMicroTime(moment + 0.901)).to.equal('2026-02-03T04:05:06.078901Z');
    expect(formatMicroTime(moment + 0.9999)).to.equal('2026-02-03T04:05:06.079000Z');
    expect(formatMicroTime(-0.001)).to.equal('1969-12-31T23:59:59.999999Z');
  });

  it('keeps the microseconds of a text that parseTime has read', () => {
    const property = fc.property(fc.integer({ min: 0, max: 4e12 }), fc.nat(999), (ms, micros) => {
      const text = formatMicroTime(ms + micros / 1000);
      expect(formatMicroTime(parseTime(text))).to.equal(text);
      expect(Math.floor(parseTime(text))).to.equal(ms);
    });
    fc.assert(property);
  });
});

describe('formatTime', () => {
  it('truncates to whole seconds', () => {
    expect(formatTime(moment + 921.9)).to.equal('2026-02-03T04:05:06Z');
  });
});

describe('parseTime', () => {
  const cases = [
    ['2026-02-03T04:05:06Z', moment - 78],
    ['2026-02-03t04:05:06z', moment - 78],
    ['2026-02-03T04:05:06.078Z', moment],
    ['2026-02-03T04:05:06.0789012345Z', moment + 0.901],
    ['2026-02-03T06:05:06.078+02:00', moment],
    ['2026-02-02T22:35:06.078-05:30', moment],
  ] as const;
  for (const [text, expected] of cases) {
    it(`parses ${text}`, () => {
      expect(parseTime(text)).to.equal(expected);
    });
  }

  const bad = [
    '',
    '2026-02-03',
    '2026-02-03T04:05:06',
    '2026-02-30T00:00:00Z',
    '2026-13-01T00:00:00Z',
  ];
  for (const text of [
    ...bad,
    '2026-02-03T24:00:00Z',
    '2026-02-03 04:05:06Z',
    '2026-02-03T04:05:06.Z',
  ]) {
    it(`rejects ${JSON.stringify(text)}`, () => {
      expect(() => parseTime(text))
        .to.throw()
        .with.property('code', 'InvalidValue');
    });
  }
});
