import { expect } from 'chai';
import type { CommandContext } from '../../../lib/cli/command-context.js';
import { printPlans } from '../../../lib/cli/plan/print-plans.js';
import type { ResourcePlan } from '../../../lib/plan/index.js';
import { OperatorError } from '../../../lib/system/index.js';

const failedPlan = (name: string, message: string): ResourcePlan => ({
  owner: { apiVersion: 'teams.example/v1', kind: 'Team', name },
  ...{ objects: [], rollouts: [], changed: false, steps: [], manifests: [], settled: false },
  error: new OperatorError('TooManyDeletions', message),
});

describe('printPlans', () => {
  it('names each resource with an error only once, even if the error names it as well', async () => {
    const plans = [
      failedPlan('red', 'Team red: pruning would delete 3 of 3 objects'),
      failedPlan('red', "Team red can't own objects"),
      failedPlan('re', 'Team red is in the way'),
      failedPlan('blue', 'no quota'),
    ];
    const context = { stdout: { write: () => true }, env: {}, setExitCode: () => undefined };
    const error: unknown = await printPlans(
      plans,
      { output: 'json', color: false },
      context as unknown as CommandContext,
    ).catch((thrown: unknown) => thrown);
    expect((error as Error).message.split('\nerror: ')).to.deep.equal([
      'Team red: pruning would delete 3 of 3 objects',
      "Team red can't own objects",
      'Team re: Team red is in the way',
      'Team blue: no quota',
    ]);
  });
});
