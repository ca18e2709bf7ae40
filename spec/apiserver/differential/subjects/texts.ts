import { get, patch, post } from '../scenario.js';
import type { Request, Scenario } from '../scenario.js';

type Body = Readonly<Record<string, unknown>>;

const core = '/api/v1/namespaces/{{ns}}';
const configMaps = `${core}/configmaps`;
const pods = `${core}/pods`;
const services = `${core}/services`;
const batch = '/apis/batch/v1/namespaces/{{ns}}';
const jobs = `${batch}/jobs`;
const cronJobs = `${batch}/cronjobs`;
const autoscalers = '/apis/autoscaling/v2/namespaces/{{ns}}/horizontalpodautoscalers';
const requestsOfCertificates = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const dry = '?dryRun=All';

const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'x' }] } };

const named = (rest: Body, name = 'one'): Body => ({ metadata: { name }, ...rest });
const jobOf = (spec: Body): Body => named({ spec: { template, ...spec } });
const cronJobOf = (spec: Body): Body =>
  named({ spec: { jobTemplate: { spec: { template } }, ...spec } });

const numbers = [
  ...[
    '',
    '1',
    '0',
    '1,2',
    '1-2',
    '1-3,5',
    '5,003',
    '1_000',
    '1,',
    ',1',
    '1-',
    '-1',
    '2-1',
    '1-1',
    '2,1',
    '1,1',
  ],
  ...[
    '+1',
    '01',
    '1 ,2',
    ' 1',
    '0x1',
    '1e3',
    '99',
    '100',
    '1-99',
    '1-100',
    '2147483648',
    '99999999999',
    '1-3,2',
    'x',
    '1.0',
  ],
];

const jobStatus = (status: Body): Request =>
  patch('merge', `${jobs}/one/status${dry}`, {
    status: { startTime: '2026-01-01T00:00:00Z', ...status },
  });

const schedules = [
  ...[
    '@midnight',
    '@hourly',
    '@daily',
    '@weekly',
    '@monthly',
    '@yearly',
    '@annually',
    '@Midnight',
    '@reboot',
    '@',
  ],
  ...[
    '@every 1s',
    '@every .5s',
    '@every 1.5h',
    '@every 1h30m',
    '@every 0',
    '@every 0s',
    '@every -1s',
    '@every +1s',
  ],
  ...[
    '@every 1',
    '@every',
    '@every ',
    '@every 1d',
    '@every 1us',
    '@every 1µs',
    '@every 1μs',
    '@every 1ns',
    '@every 1ms',
  ],
  ...[
    '@every  1s',
    '@every 1s ',
    '@every 1 s',
    '@every 1.s',
    '@every .s',
    '@every 9999999h',
    '@every 1h1',
    '@every 1.2.3s',
  ],
  ...[
    '@every 1.s.5s',
    '@every ..s',
    '@every 99999999999999999999',
    '@every 99999999999999999999x',
    '@every 9223372036854775808x',
    `@every ${'9'.repeat(1000)}s`,
    '@every -5s',
  ],
  ...[
    'TZ=UTC 0 0 * * *',
    'CRON_TZ=UTC 0 0 * * *',
    'TZ=UTC @daily',
    'TZ=Nowhere 0 0 * * *',
    'TZ= 0 0 * * *',
    'TZ=UTC',
  ],
  ...[
    'TZ=Europe/Berlin 0 0 * * *',
    'tz=UTC 0 0 * * *',
    ' TZ=UTC 0 0 * * *',
    'CRON_TZ=x',
    'TZ=UTC  0 0 * * *',
  ],
  ...[
    '0 0 * * *',
    '0 0 * *',
    '0 0 * * * *',
    '60 * * * *',
    '* 24 * * *',
    '* * 0 * *',
    '* * 32 * *',
    '* * * 13 *',
    '* * * * 7',
  ],
  ...[
    '* * * * 8',
    '*/0 * * * *',
    '*/5 * * * *',
    '5/15 * * * *',
    '5-1 * * * *',
    '1-5/2 * * * *',
    '1,2,3 * * * *',
    ', * * * *',
  ],
  ...[
    '0 0 30 2 *',
    '* * , * ,',
    '*-5 * * * *',
    '*-1-2 * * * *',
    '?-x/2 * * * *',
    '*-5/0 * * * *',
    '1-*/x/y * * * *',
  ],
  ...[
    '? ? ? ? ?',
    '* * ? * ?',
    '* * * JAN-MAR MON',
    '* * * jan sun',
    '* * * foo *',
    '* * * * mon-sun',
    '* * L * *',
    '* * 15W * *',
  ],
  ...[
    '1--2 * * * *',
    '-1 * * * *',
    '+1 * * * *',
    '1/2/3 * * * *',
    '*/-1 * * * *',
    '0x1 * * * *',
    '1.5 * * * *',
    '* * * * * ',
    ' * * * * *',
  ],
  ...[
    '',
    ' ',
    '\t* * * * *',
    '*\t*\t*\t*\t*',
    '* * * * *\n',
    '*  *  *  *  *',
    '1-5-6 * * * *',
    '* * * * #2',
    '00 00 * * *',
    '*,1 * * * *',
    '99999999999999999999 * * * *',
    '*-5 * * * *',
    '?/5 * * * *',
    '1-*  * * * *',
  ],
];

const selectors = [
  ...[
    'a=b,c=d',
    'c=d,a=b',
    'a=b,metadata.name=x,c=d',
    'z=1,b=2,a=3',
    'spec.b!=x,spec.a==y',
    'a=b,c',
    'a,c=d',
    'a=b,c=d',
  ],
  ...[
    'metadata.name=x,zz=1,aa=2',
    'a=1,a=2',
    'a!=1,A=2',
    'b=2,a=1,metadata.namespace=x',
    '=x',
    'a=b,=x',
    'a==b=c,d=e',
    'z\\,=1,a=2',
    'a=\\x,b=1',
  ],
];

const behaviors: Body[] = [
  ...[
    { policies: [] },
    { policies: null },
    {},
    { selectPolicy: 'Disabled' },
    { selectPolicy: 'x', policies: [] },
  ].flatMap((rules) => [
    { scaleUp: rules },
    { scaleDown: rules },
    { scaleUp: rules, scaleDown: rules },
  ]),
  ...[
    { policies: [{ type: 'Pods', value: 0, periodSeconds: 0 }] },
    { stabilizationWindowSeconds: 3601 },
    { tolerance: '-1' },
    { tolerance: '0.1' },
  ].flatMap((rules) => [{ scaleUp: rules }, { scaleDown: rules }]),
  {},
];

const autoscalerOf = (behavior: Body): Body =>
  named({
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' },
      maxReplicas: 3,
      behavior,
    },
  });

const csr = '{{ns}}-csr';
const request = Buffer.from(
  [
    '-----BEGIN CERTIFICATE REQUEST-----',
    'MIHGMG4CAQAwDDEKMAgGA1UEAwwBYTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IA',
    'BAA8MYZfa5LWwyAZaIdHx8zwTdhVIvbykAv09fpbywpauKuxflASXpFTPKjlphRX',
    'MzwlW6fHbYV4fu3e7D9jO4OgADAKBggqhkjOPQQDAgNIADBFAiAaQeqrOtG2z61L',
    'ZkAuOKypzZwPAtaWZ4Wyqtn+8p2mMQIhAJmpN8IeX3msGNczyYAHHcu1tol/3Ns/',
    'MDbSLLPqI8Nu',
    '-----END CERTIFICATE REQUEST-----',
    '',
  ].join('\n'),
).toString('base64');

/** Texts in numbers, schedules, names and selectors. */
export const texts: readonly Scenario[] = [
  {
    title: 'numbers in the status of Jobs',
    requests: [
      post(
        jobs,
        jobOf({
          completions: 100,
          parallelism: 2,
          completionMode: 'Indexed',
          backoffLimitPerIndex: 1,
        }),
      ),
      ...numbers.flatMap((text) => [
        jobStatus({ completedIndexes: text }),
        jobStatus({ failedIndexes: text }),
      ]),
      jobStatus({ completedIndexes: '1,5', failedIndexes: '5,7' }),
      ...[{}, { succeededCount: 2 }].flatMap((rule) =>
        numbers.map((text) =>
          post(
            `${jobs}${dry}`,
            jobOf({
              completions: 100,
              parallelism: 2,
              completionMode: 'Indexed',
              successPolicy: { rules: [{ succeededIndexes: text, ...rule }] },
            }),
          ),
        ),
      ),
      ...[-1, 0, 1, '1,000', '5', 1.5].flatMap((limit) => [
        post(
          `${jobs}${dry}`,
          jobOf({ completions: 100, completionMode: 'Indexed', backoffLimitPerIndex: limit }),
        ),
        post(
          `${jobs}${dry}`,
          jobOf({
            completions: 100,
            completionMode: 'Indexed',
            backoffLimitPerIndex: 1,
            maxFailedIndexes: limit,
          }),
        ),
      ]),
    ],
  },
  {
    title: 'schedules',
    requests: [
      ...schedules.map((schedule) => post(`${cronJobs}${dry}`, cronJobOf({ schedule }))),
      ...[
        'UTC',
        'utc',
        'Local',
        'local',
        '',
        'Europe/Berlin',
        'europe/berlin',
        'US/Pacific',
        'US/pacific',
        'us/Pacific',
        'US/PACIFIC',
        'Australia/ACT',
        'Nowhere',
        ' UTC',
        '../UTC',
        '/UTC',
        'UTC+1',
        'EST',
        'Etc/GMT+1',
      ].map((timeZone) => post(`${cronJobs}${dry}`, cronJobOf({ schedule: '@daily', timeZone }))),
      post(`${cronJobs}${dry}`, cronJobOf({ schedule: 'TZ=UTC 0 0 * * *', timeZone: 'UTC' })),
      post(`${cronJobs}${dry}`, cronJobOf({ schedule: 'TZ=UTC 0 0 * * *', timeZone: '' })),
      post(cronJobs, cronJobOf({ schedule: '@daily' })),
      ...schedules.map((schedule) =>
        patch('merge', `${cronJobs}/one${dry}`, { spec: { schedule } }),
      ),
    ],
  },
  {
    title: 'terms of field selectors',
    requests: [configMaps, pods, services, '/api/v1/nodes', cronJobs].flatMap((path) =>
      selectors.map((selector) => get(`${path}?fieldSelector=${encodeURIComponent(selector)}`)),
    ),
  },
  {
    title: 'behaviors of autoscalers',
    requests: [
      ...behaviors.map((behavior) => post(`${autoscalers}${dry}`, autoscalerOf(behavior))),
      post(autoscalers, autoscalerOf({})),
      ...behaviors.map((behavior) =>
        patch('merge', `${autoscalers}/one${dry}`, { spec: { behavior } }),
      ),
    ],
  },
  {
    title: 'managers of requests for certificates',
    requests: [
      post(`${requestsOfCertificates}?fieldManager=a`, {
        metadata: { name: csr },
        spec: { request, signerName: 'example.com/s', usages: ['digital signature'] },
      }),
      ...['approval', 'status', ''].flatMap((part) => {
        const path = `${requestsOfCertificates}/${csr}${part === '' ? '' : `/${part}`}`;
        const conditions = [{ type: 'Approved', status: 'True', reason: 'R', message: part }];
        return [
          patch('merge', `${path}?fieldManager=m`, {
            metadata: { labels: { [`l${part}`]: 'x' }, annotations: { [`n${part}`]: 'x' } },
            spec: { expirationSeconds: 700 },
            status: { conditions },
          }),
          patch('merge', `${path}?fieldManager=n`, { status: { conditions } }),
          patch('strategic', `${path}?fieldManager=n`, {
            status: { conditions: [{ type: 'Other', status: 'True', reason: 'R', message: part }] },
          }),
          patch('apply', `${path}?fieldManager=o&force=true`, {
            ...{ apiVersion: 'certificates.k8s.io/v1', kind: 'CertificateSigningRequest' },
            metadata: { labels: { [`l${part}`]: 'y' } },
            spec: { signerName: 'example.com/s', request },
            status: { conditions: [{ ...conditions[0], message: 'applied' }] },
          }),
          patch('merge', `${path}?fieldManager=p`, { metadata: { labels: { only: part } } }),
          patch('merge', `${path}?fieldManager=q`, { status: { conditions: null } }),
          get(path),
        ];
      }),
    ],
  },
];
