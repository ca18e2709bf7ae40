import { expect } from 'chai';
import { parseCronSchedule } from '../../../../lib/apiserver/controllers/cron-schedule.js';

/** Returns the next three due times after a moment, in UTC. */
function nextOf(schedule: string, from: string, timeZone?: string): string[] {
  const parsed = parseCronSchedule(schedule, timeZone);
  const times: string[] = [];
  let ms = Date.parse(from);
  for (let n = 0; n < 3; n++) {
    ms = parsed.next(ms) ?? NaN;
    times.push(Number.isNaN(ms) ? 'never' : new Date(ms).toISOString().slice(0, 16));
  }
  return times;
}

describe('parseCronSchedule', () => {
  const cases: readonly [schedule: string, from: string, times: string[]][] = [
    [
      '*/15 * * * *',
      '2026-01-01T00:00:00Z',
      ['2026-01-01T00:15', '2026-01-01T00:30', '2026-01-01T00:45'],
    ],
    [
      '0 0 * * *',
      '2026-02-27T12:00:00Z',
      ['2026-02-28T00:00', '2026-03-01T00:00', '2026-03-02T00:00'],
    ],
    [
      '30 9 * * mon-fri',
      '2026-01-02T10:00:00Z',
      ['2026-01-05T09:30', '2026-01-06T09:30', '2026-01-07T09:30'],
    ],
    [
      '0 12 1,15 * *',
      '2026-01-01T12:00:00Z',
      ['2026-01-15T12:00', '2026-02-01T12:00', '2026-02-15T12:00'],
    ],
    [
      '0 0 13 * 5',
      '2026-01-01T00:00:00Z',
      ['2026-01-02T00:00', '2026-01-09T00:00', '2026-01-13T00:00'],
    ],
    [
      '0 0 29 2 ?',
      '2026-01-01T00:00:00Z',
      ['2028-02-29T00:00', '2032-02-29T00:00', '2036-02-29T00:00'],
    ],
    [
      '5/20 1-2 * JAN *',
      '2026-01-01T00:00:00Z',
      ['2026-01-01T01:05', '2026-01-01T01:25', '2026-01-01T01:45'],
    ],
    [
      '@hourly',
      '2026-01-01T00:59:59Z',
      ['2026-01-01T01:00', '2026-01-01T02:00', '2026-01-01T03:00'],
    ],
    [
      '@weekly',
      '2026-01-01T00:00:00Z',
      ['2026-01-04T00:00', '2026-01-11T00:00', '2026-01-18T00:00'],
    ],
    [
      '@every 1h30m',
      '2026-01-01T00:00:00Z',
      ['2026-01-01T01:30', '2026-01-01T03:00', '2026-01-01T04:30'],
    ],
    ['0 0 31 2 *', '2026-01-01T00:00:00Z', ['never', 'never', 'never']],
    [
      '*-5 0 1 1 *',
      '2026-01-01T00:00:00Z',
      ['2026-01-01T00:01', '2026-01-01T00:02', '2026-01-01T00:03'],
    ],
    [
      '0 0 , * 1',
      '2026-01-01T00:00:00Z',
      ['2026-01-05T00:00', '2026-01-12T00:00', '2026-01-19T00:00'],
    ],
  ];
  for (const [schedule, from, times] of cases) {
    it(`parses ${schedule}`, () => {
      expect(nextOf(schedule, from)).to.deep.equal(times);
    });
  }

  const never = [
    ...['0 0 31 2 *', '0 0 30 2 *', '0 0 31 4,6,9,11 ,', '0 0 31 4,6,9,11 *'],
    ...[', * * * *', '* , * * *', '* * , * *', '* * * , *', '* * * * ,', '* * , * ,'],
  ];
  for (const schedule of never) {
    it(`finds at once that ${schedule} never occurs in a time zone`, () => {
      const parsed = parseCronSchedule(schedule, 'Europe/Berlin');
      // If each call searched through five years, the spec would time out.
      const times = Array.from({ length: 10_000 }, (_, day) => parsed.next(day * 86_400_000));
      expect(new Set(times)).to.deep.equal(new Set([undefined]));
    });
  }

  it('applies a time zone across a daylight saving change', () => {
    expect(nextOf('30 12 * * *', '2026-03-27T12:00:00Z', 'Europe/Berlin')).to.deep.equal([
      '2026-03-28T11:30',
      '2026-03-29T10:30',
      '2026-03-30T10:30',
    ]);
  });

  it('finds midnight after a day on which the clocks change by half an hour', () => {
    const zone = 'Australia/Lord_Howe';
    expect(nextOf('0 0 5 10 *', '2026-10-03T14:00:00Z', zone)[0]).to.equal('2026-10-04T13:00');
    expect(nextOf('0 0 6 4 *', '2026-04-04T14:00:00Z', zone)[0]).to.equal('2026-04-05T13:30');
  });

  it('skips an hour that does not exist in a time zone', () => {
    expect(nextOf('30 2 * * *', '2026-03-27T12:00:00Z', 'Europe/Berlin').slice(0, 2)).to.deep.equal(
      ['2026-03-28T01:30', '2026-03-30T00:30'],
    );
  });

  for (const schedule of [
    '',
    '* * * *',
    '60 * * * *',
    '* * 0 * *',
    '*/0 * * * *',
    '5-1 * * * *',
    'x * * * *',
    '@every x',
    ' @daily',
    '@every  1s',
    '@every 1s ',
  ]) {
    it(`refuses ${JSON.stringify(schedule)}`, () => {
      expect(() => parseCronSchedule(schedule))
        .to.throw()
        .with.property('code', 'InvalidValue');
    });
  }

  it('refuses an unknown time zone', () => {
    const parse = () => parseCronSchedule('@daily', 'Mars/Olympus');
    expect(parse).to.throw('Mars/Olympus').with.property('code', 'InvalidValue');
  });
});
