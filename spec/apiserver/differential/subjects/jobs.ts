import { patch, post, put } from '../scenario.js';
import type { Request, Scenario } from '../scenario.js';

type Body = Readonly<Record<string, unknown>>;

const jobs = '/apis/batch/v1/namespaces/{{ns}}/jobs';
const cronJobs = '/apis/batch/v1/namespaces/{{ns}}/cronjobs';
const containers = [{ name: 'c', image: 'x' }];
const template = { spec: { restartPolicy: 'Never', containers } };

const jobOf = (name: string, spec: Body): Body => ({
  metadata: { name },
  spec: { template, ...spec },
});

/** Creates a Job of each spec, without storing it. */
const created = (specs: readonly Body[]): Request[] =>
  specs.map((spec) => post(`${jobs}?dryRun=All`, jobOf('one', spec)));

const indexed = { completionMode: 'Indexed', completions: 5, parallelism: 2 };
const many = { completionMode: 'Indexed', backoffLimitPerIndex: 1 };

/** The numbers of Indexed Jobs, at their limits and above. */
const numbers: readonly Body[] = [
  ...[{ completionMode: 'Indexed' }, { completionMode: 'Sometimes' }, { completionMode: '' }],
  ...[100_000, 100_001].flatMap((count) => [
    { ...indexed, parallelism: count },
    { ...many, completions: count, parallelism: 1 },
    { ...many, completions: count, parallelism: 1, maxFailedIndexes: 10_000 },
    { ...many, completions: count, parallelism: 10_000, maxFailedIndexes: 10_001 },
    { ...many, completions: count, parallelism: 10_001, maxFailedIndexes: 1 },
    { ...many, completions: 100_001, parallelism: 1, maxFailedIndexes: count },
    { ...indexed, completions: count },
  ]),
  ...[4, 5, 6].map((maxFailedIndexes) => ({
    ...{ ...indexed, backoffLimitPerIndex: 1, maxFailedIndexes },
  })),
  ...[{ ...indexed, maxFailedIndexes: 1 }, { backoffLimitPerIndex: 1 }],
  ...[{ maxFailedIndexes: 1, backoffLimitPerIndex: 1 }, { maxFailedIndexes: 1 }],
  ...[
    { backoffLimitPerIndex: 0, ...indexed },
    { backoffLimitPerIndex: -1, ...indexed },
  ],
];

const managers = [
  ...['', 'x', 'x/y', 'X.y/z', 'a.b/', '/a', 'a.b/c/d', 'a.b/c d', `a.b/${'c'.repeat(59)}`],
  `a.b/${'c'.repeat(60)}`,
];

const exits = { operator: 'In', values: [1] };
const ofExit = { action: 'FailJob', onExitCodes: exits };
const ofCondition = { action: 'Ignore', onPodConditions: [{ type: 'A' }] };
const failing = (...rules: readonly Body[]): Body => ({ podFailurePolicy: { rules } });

/** Policies for failed pods, replaced pods and the restart of containers. */
const policies: readonly Body[] = [
  ...managers.map((managedBy) => ({ managedBy })),
  ...['Failed', 'TerminatingOrFailed', 'x', ''].flatMap((podReplacementPolicy) => [
    { podReplacementPolicy },
    { podReplacementPolicy, ...failing(ofExit) },
  ]),
  failing({ ...ofExit, ...ofCondition }),
  ...[20, 21].map((length) => failing(...Array.from({ length }, () => ofExit))),
  ...[255, 256].map((length) =>
    failing({
      action: 'Count',
      onExitCodes: { operator: 'NotIn', values: Array.from({ length }, (_, code) => code) },
    }),
  ),
  ...[20, 21].map((length) =>
    failing({ action: 'Count', onPodConditions: Array.from({ length }, () => ({ type: 'A' })) }),
  ),
  ...['', 'FailIndex', 'x'].map((action) => failing({ ...ofCondition, action })),
  { ...indexed, backoffLimitPerIndex: 1, ...failing({ ...ofExit, action: 'FailIndex' }) },
  ...['', 'Exists', 'NotIn'].map((operator) =>
    failing({ action: 'Ignore', onExitCodes: { operator, values: [0, 2] } }),
  ),
  ...[
    [2, 2],
    [2, 1],
    [0, 1],
  ].map((values) => failing({ action: 'Ignore', onExitCodes: { operator: 'In', values } })),
  ...['c', 'i', 'd', ''].map((containerName) => ({
    template: { spec: { ...template.spec, initContainers: [{ name: 'i', image: 'x' }] } },
    ...failing({ action: 'Ignore', onExitCodes: { ...exits, containerName } }),
  })),
  ...[
    { type: '' },
    { type: 'a b' },
    { type: 'a/b', status: 'False' },
    { type: 'A', status: '' },
  ].map((condition) => failing({ action: 'Ignore', onPodConditions: [condition] })),
  ...['Always', 'OnFailure', 'Never', 'x', undefined].flatMap((restartPolicy) => [
    { template: { spec: { containers, restartPolicy } } },
    { template: { spec: { containers, restartPolicy } }, ...failing(ofExit) },
  ]),
];

const succeeding = (...rules: readonly Body[]): Body => ({
  ...{ ...indexed, successPolicy: { rules } },
});
const indexes = [
  ...[
    '',
    '0',
    '4',
    '5',
    '0,2-4',
    '0-5',
    '2-1',
    '2-2',
    '1,1',
    '3,1',
    '1-2-3',
    'a',
    '-1',
    '1,',
    '+1',
  ],
  ...['1-3,3', '1-3,4', ' 1', '99999999999999999999', '0-0', '-', '0,,1'],
];

/** Policies that end a Job early. */
const successes: readonly Body[] = [
  ...[{ successPolicy: { rules: [{ succeededCount: 1 }] } }, succeeding(), succeeding({})],
  ...[20, 21].map((length) => succeeding(...Array.from({ length }, () => ({ succeededCount: 1 })))),
  ...indexes.map((succeededIndexes) => succeeding({ succeededIndexes })),
  ...[-1, 0, 5, 6].map((succeededCount) => succeeding({ succeededCount })),
  ...[2, 3, 4].map((succeededCount) => succeeding({ succeededCount, succeededIndexes: '0,2-3' })),
  succeeding({ succeededCount: 1, succeededIndexes: 'x' }),
  succeeding({ succeededCount: 6, succeededIndexes: '0' }),
];

const startTime = '2026-01-01T00:00:00Z';
const later = '2026-01-02T00:00:00Z';
const are = (...types: readonly string[]): Body => ({
  conditions: types.map((text) => {
    const [type, status = 'True'] = text.split('=');
    return { type, status };
  }),
});

/** For each list of statuses, creates a Job with `spec` and writes the statuses one after the other. */
const written = (name: string, spec: Body, ...statuses: readonly (readonly Body[])[]): Request[] =>
  statuses.flatMap((steps, index) => {
    const one = `${jobs}/${name}${index}`;
    return [
      post(jobs, jobOf(`${name}${index}`, spec)),
      ...steps.map((status) => put(`${one}/status`, { metadata: {}, status })),
    ];
  });

const complete = { startTime, completionTime: later, ...are('SuccessCriteriaMet', 'Complete') };
const failed = { startTime, ...are('FailureTarget', 'Failed') };

/** Changes of a status that end a Job, and that try to undo the end. */
const ends: readonly (readonly Body[])[] = [
  [complete, {}, { ...complete, completionTime: startTime }, { ...complete, startTime: later }],
  [failed, {}, are('FailureTarget'), are('Failed'), { ...failed, completionTime: later }],
  [{ ...complete, completionTime: undefined }, { completionTime: later }, are('Complete')],
  [are('SuccessCriteriaMet', 'Complete'), { startTime, ...are('Failed') }, are('FailureTarget')],
  [
    { ...complete, startTime: undefined },
    { ...failed, startTime: undefined },
  ],
  [
    { ...complete, completionTime: '2025-01-01T00:00:00Z' },
    { startTime: later, completionTime: startTime },
  ],
  [{ startTime, completionTime: later, ...are('Complete') }],
  [{ startTime, completionTime: later, ...are('Complete', 'FailureTarget', 'SuccessCriteriaMet') }],
  [{ startTime, completionTime: later, ...are('Complete', 'Failed', 'FailureTarget') }],
  [{ startTime, ...are('SuccessCriteriaMet', 'Failed', 'FailureTarget') }],
  [{ startTime, ...are('SuccessCriteriaMet', 'FailureTarget') }],
  [
    are('SuccessCriteriaMet'),
    are('SuccessCriteriaMet=False'),
    are('SuccessCriteriaMet', 'FailureTarget'),
  ],
  [are('FailureTarget'), are('FailureTarget=False'), are('FailureTarget=Unknown'), {}],
  [
    complete,
    { ...complete, ...are('Complete') },
    { ...complete, ...are('Complete', 'SuccessCriteriaMet=False') },
  ],
  ...['active', 'terminating', 'ready'].map((counter) => [
    { ...complete, [counter]: 1 },
    { ...failed, [counter]: 1 },
    { ...complete, [counter]: 0 },
    { ...complete, [counter]: 1 },
  ]),
];

/** Changes of the numbers of a status. */
const counts: readonly (readonly Body[])[] = [
  ...['active', 'succeeded', 'failed', 'ready', 'terminating'].map((counter) => [
    { [counter]: -1 },
    { active: 2, [counter]: 1 },
    { active: 2, [counter]: 0 },
    { active: 2, [counter]: 2 },
    {},
  ]),
  [{ active: 1, ready: 1 }, { active: 1, ready: 2 }, { active: 0, ready: 1 }, { ready: 1 }],
  [{ startTime }, { startTime: later }, {}],
  [
    { startTime, ...are('Suspended') },
    { startTime: later, ...are('Suspended') },
    { startTime: later, ...are('Suspended=False') },
    { ...are('Suspended=False') },
  ],
  [{ uncountedTerminatedPods: { succeeded: ['a'] } }, {}],
  ...['succeeded', 'failed'].flatMap((list) => [
    [{ uncountedTerminatedPods: { [list]: ['', 'a', 'a'] } }],
    [
      { startTime, uncountedTerminatedPods: { [list]: ['a', 'b'] } },
      { ...complete, uncountedTerminatedPods: { [list]: ['a'] } },
    ],
  ]),
  [{ uncountedTerminatedPods: { succeeded: ['a'], failed: ['a', 'b'] } }],
];

/** Changes of the indexes of a status. */
const listed: readonly (readonly Body[])[] = [
  [
    { completedIndexes: '0' },
    { failedIndexes: '' },
    { failedIndexes: '1' },
    { failedIndexes: null },
  ],
  indexes.map((completedIndexes) => ({ completedIndexes })),
  indexes.map((failedIndexes) => ({ failedIndexes })),
  [
    { completedIndexes: '0,2-3', failedIndexes: '1' },
    { completedIndexes: '0,2-3', failedIndexes: '1,3' },
    { completedIndexes: '2-3', failedIndexes: '0-2' },
    { completedIndexes: '0-1', failedIndexes: '3-4' },
    { completedIndexes: '3-4', failedIndexes: '0-1' },
    { completedIndexes: '0,4', failedIndexes: '1,2,4' },
    { completedIndexes: '1-3', failedIndexes: 'x,2' },
  ],
];

const changed = (name: string, spec: Body, ...changes: readonly Body[]): Request[] => [
  post(jobs, jobOf(name, spec)),
  ...changes.map((change) => patch('merge', `${jobs}/${name}?dryRun=All`, { spec: change })),
];

const cronOf = (spec: Body, name = 'one'): Request =>
  post(`${cronJobs}?dryRun=All`, {
    metadata: { name },
    spec: { schedule: '@daily', jobTemplate: { spec: { template } }, ...spec },
  });

/** Checks of Jobs and CronJobs, and of the status of Jobs. */
export const jobScenarios: readonly Scenario[] = [
  { title: 'numbers of Jobs', requests: created(numbers) },
  { title: 'policies of Jobs', requests: created(policies) },
  { title: 'success policies of Jobs', requests: created(successes) },
  { title: 'ends of Jobs', requests: written('one', {}, ...ends) },
  {
    title: 'ends of Jobs without completions',
    requests: [
      ...written('one', { suspend: true, completions: 0 }, ...ends.slice(0, 5)),
      ...written('two', { suspend: true }, ...ends.slice(0, 2), ...counts.slice(-8)),
    ],
  },
  {
    title: 'ends of Jobs with a success policy',
    requests: written('one', succeeding({ succeededCount: 1 }), ...ends),
  },
  { title: 'counts of Jobs', requests: written('one', {}, ...counts) },
  {
    title: 'counts of Indexed Jobs',
    requests: [
      ...written('one', { ...indexed, parallelism: 5 }, ...counts.slice(0, 5)),
      ...written('two', indexed, ...counts.slice(0, 5)),
    ],
  },
  {
    title: 'indexes of Jobs',
    requests: [
      ...written('one', {}, ...listed),
      ...written('two', { completions: null, parallelism: 1 }, ...listed),
      ...written('three', indexed, ...listed),
      ...written('four', { ...indexed, backoffLimitPerIndex: 1 }, ...listed),
    ],
  },
  {
    title: 'changes of Jobs',
    requests: [
      ...changed(
        'one',
        indexed,
        { completions: 6 },
        { completions: 3, parallelism: 3 },
        { completions: null },
      ),
      ...changed(
        ...(['two', { ...indexed, backoffLimitPerIndex: 1 }] as const),
        ...[{ backoffLimitPerIndex: 2 }, { managedBy: 'a.b/c' }, { completionMode: null }],
        ...[failing(ofExit), { successPolicy: { rules: [{ succeededCount: 1 }] } }],
      ),
    ],
  },
  {
    title: 'checks of CronJobs',
    requests: [
      ...[52, 53].map((length) => cronOf({}, 'a'.repeat(length))),
      ...['', '* * * *', '60 * * * *', '@never', 'TZ=UTC * * * * *', 'CRON_TZ=UTC @daily'].map(
        (schedule) => cronOf({ schedule }),
      ),
      ...['', 'Local', 'local', 'Etc/UTC', 'Nowhere/City', '../UTC', 'Europe/Berlin'].map(
        (timeZone) => cronOf({ timeZone }),
      ),
      ...['Allow', 'Forbid', 'Replace', '', 'x'].map((concurrencyPolicy) =>
        cronOf({ concurrencyPolicy }),
      ),
      ...[
        'startingDeadlineSeconds',
        'successfulJobsHistoryLimit',
        'failedJobsHistoryLimit',
      ].flatMap((member) => [-1, 0].map((number) => cronOf({ [member]: number }))),
      ...[
        { manualSelector: true },
        { manualSelector: false },
        { selector: {} },
        { backoffLimit: -1 },
      ].map((spec) => cronOf({ jobTemplate: { spec: { template, ...spec } } })),
      ...[{}, { spec: {} }, null].map((jobTemplate) => cronOf({ jobTemplate })),
      cronOf({ jobTemplate: { spec: { template, ...failing(ofCondition) } } }),
    ],
  },
];
