import { expect } from 'chai';
import { Api } from '../api.js';
import type { Answer } from '../api.js';
import { causeFields, causeMessages } from '../causes.js';

const container = { name: 'c', image: 'nginx:1.27' };
const podSpec = { containers: [container], restartPolicy: 'Never' };
const jobTemplate = { spec: { template: { spec: podSpec } } };

function create(spec: object): Promise<Answer> {
  const cronJob = { metadata: { name: 'a' }, spec: { schedule: '@daily', jobTemplate, ...spec } };
  return new Api().call('POST', '/apis/batch/v1/namespaces/default/cronjobs', cronJob);
}

/** Returns the problem of a refused value, without the value. */
async function problemOf(field: string, value: string): Promise<string> {
  const message = causeMessages(await create({ [field]: value }))[`spec.${field}`] ?? '';
  return message.replace(`Invalid value: ${JSON.stringify(value)}: `, '');
}

const nines = '9'.repeat(100_000);

// The messages are those of a real API server.
describe('schedules of CronJobs', () => {
  for (const schedule of [
    ...[', * * * *', '* * , * ,', '0 0 30 2 *', '*-5 * * * *', '*-1-2 * * * *', '?-x/2 * * * *'],
    ...['@every 1.s.5s', '@every -5s', `@every ${'0'.repeat(100_000)}1s`],
  ]) {
    it(`may be ${schedule.slice(0, 20)}`, async () => {
      expect((await create({ schedule })).code).to.equal(201);
    });
  }

  const refused: Readonly<Record<string, string>> = {
    '1-5-6 * * * *': 'too many hyphens: 1-5-6',
    'x-5-6 * * * *': 'failed to parse int from x: strconv.Atoi: parsing "x": invalid syntax',
    '1/2/3 * * * *': 'too many slashes: 1/2/3',
    '*-5/0 * * * *': 'step of range should be a positive number: *-5/0',
    '5-1 * * * *': 'beginning of range (5) beyond end of range (1): 5-1',
    '* * 0 * *': 'beginning of range (0) below minimum (1): 0',
    '* * * foo-x *': 'failed to parse int from foo: strconv.Atoi: parsing "foo": invalid syntax',
    '* * * * mon-7': 'end of range (7) above maximum (6): mon-7',
    '*/-1 * * * *': 'negative number (-1) not allowed: -1',
    '@Daily': 'unrecognized descriptor: @Daily',
    '@every ..s': 'failed to parse duration @every ..s: time: invalid duration "..s"',
    '@every 1': 'failed to parse duration @every 1: time: missing unit in duration "1"',
    [`@every ${nines}`]: `failed to parse duration @every ${nines}: time: invalid duration "${nines}"`,
  };
  for (const [schedule, problem] of Object.entries(refused)) {
    it(`may not be ${schedule.slice(0, 20)}`, async () => {
      expect(await problemOf('schedule', schedule)).to.equal(problem);
    });
  }
});

describe('templates of CronJobs', () => {
  it('must not set selector or manualSelector, and report selector first', async () => {
    const selector = { matchLabels: { app: 'a' } };
    const spec = { template: { spec: podSpec }, selector, manualSelector: true };
    const fields = causeFields(await create({ jobTemplate: { spec } }));
    expect(fields).to.deep.equal(
      ['selector', 'manualSelector'].map((field) => `spec.jobTemplate.spec.${field}`),
    );
  });
});

describe('time zones of CronJobs', () => {
  it('are refused if upper and lower case differ from the name of the time zone', async () => {
    for (const timeZone of ['Europe/Berlin', 'US/Pacific', 'UTC', 'EST5EDT']) {
      expect((await create({ timeZone })).code).to.equal(201);
    }
    for (const timeZone of ['europe/berlin', 'Europe/BERLIN', 'US/pacific', 'us/Pacific', 'utc']) {
      expect(await problemOf('timeZone', timeZone)).to.equal(`unknown time zone ${timeZone}`);
    }
  });
});
