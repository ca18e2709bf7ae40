import { expect } from 'chai';
import { jobPlan } from '../../../../lib/apiserver/controllers/job-status.js';
import type { JobView } from '../../../../lib/apiserver/controllers/job-status.js';

const job: JobView = {
  parallelism: 2,
  completions: 3,
  backoffLimit: 1,
  suspended: false,
  deadlineMs: undefined,
  active: 0,
  terminating: 0,
  replaceOnlyFailed: false,
  succeeded: 0,
  failed: 0,
  restarts: 0,
  decided: undefined,
  nowMs: 1_000,
};

describe('jobPlan', () => {
  const scaling: readonly [when: string, more: Partial<JobView>, by: number][] = [
    ['nothing runs', {}, 2],
    ['enough run', { active: 2 }, 0],
    ['one completion is left', { succeeded: 2 }, 1],
    ['parallelism shrank', { active: 2, parallelism: 1 }, -1],
    ['it is suspended', { active: 2, suspended: true }, -2],
    ['one pod failed within the limit', { active: 1, failed: 1 }, 1],
    ['one pod is terminating', { active: 1, terminating: 1 }, 1],
    [
      'one pod is terminating and only failed ones are replaced',
      { active: 1, terminating: 1, replaceOnlyFailed: true },
      0,
    ],
    ['completions are undefined', { completions: undefined }, 2],
    [
      'completions are undefined and one pod succeeded',
      { completions: undefined, succeeded: 1, active: 1 },
      0,
    ],
    ['the deadline is in the future', { deadlineMs: 1_001 }, 2],
    ['no pod may fail and no container has restarted', { backoffLimit: 0 }, 2],
  ];
  for (const [when, more, by] of scaling) {
    it(`changes the number of pods by ${by} when ${when}`, () => {
      expect(jobPlan({ ...job, ...more })).to.deep.equal({ type: 'scale', by });
    });
  }

  const ends: readonly [when: string, more: Partial<JobView>, outcome: object][] = [
    ['all completions are reached', { succeeded: 3 }, { type: 'succeeded' }],
    [
      'completions are undefined, one pod succeeded and none runs',
      { completions: undefined, succeeded: 1 },
      { type: 'succeeded' },
    ],
    [
      'too many pods failed',
      { failed: 2, active: 2 },
      { type: 'failed', reason: 'BackoffLimitExceeded' },
    ],
    [
      'its containers have restarted as often as pods may fail',
      { restarts: 1, active: 1 },
      { type: 'failed', reason: 'BackoffLimitExceeded' },
    ],
    ['the deadline passed', { deadlineMs: 1_000 }, { type: 'failed', reason: 'DeadlineExceeded' }],
    ['it had already failed', { decided: 'failed', succeeded: 3 }, { type: 'failed' }],
    ['it had already succeeded', { decided: 'succeeded', failed: 9 }, { type: 'succeeded' }],
  ];
  for (const [when, more, outcome] of ends) {
    it(`ends ${Object.values(outcome).join(' ')} when ${when}`, () => {
      const plan = jobPlan({ ...job, ...more });
      expect(plan.type === 'end' && plan.outcome).to.include(outcome);
    });
  }
});
