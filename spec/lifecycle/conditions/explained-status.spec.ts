import { expect } from 'chai';
import { explainedStatus } from '../../../lib/lifecycle/conditions.js';
import type { Trouble } from '../../../lib/lifecycle/conditions.js';
import { phases } from '../../../lib/lifecycle/lifecycle-status.js';
import type { LifecycleStatus } from '../../../lib/lifecycle/index.js';
import { VirtualClock } from '../../../lib/system/virtual-clock.js';
import { seen } from '../suite/stage.js';

describe('explainedStatus', () => {
  const clock = new VirtualClock();
  const trouble = { reason: 'Broken', message: 'it is broken' };
  const versions = { operatorVersion: '2', targetVersion: '2', observedVersion: '1' };
  const table: Record<string, [well: string, failing: string, blocked: string]> = {
    '': ['-/-/-', 'F/T/T Broken', 'F/F/T Broken'],
    Deploying: ['F/T/F DeployStarted', 'F/T/T Broken', 'F/F/T Broken'],
    Deployed: [...(['T/F/F DeployCompleted', '-/-/T Broken', '-/-/T Broken'] as const)],
    Upgrading: ['T/T/T UpgradeStarted', 'T/T/T Broken', 'T/T/T Broken'],
    Error: ['-/-/-', 'F/F/T Broken', 'F/F/T Broken'],
    Deleting: ['F/T/F DeletionStarted', 'F/T/T Broken', 'F/F/T Broken'],
    Deleted: ['F/F/F', 'F/F/F', 'F/F/F'],
  };
  for (const phase of phases) {
    const [well, failing, blocked] = table[phase] ?? [];
    it(`sets Available/Progressing/Degraded in phase ${phase === '' ? '(none)' : phase} to ${well} if healthy, ${failing} if failing, ${blocked} if blocked`, () => {
      const status: LifecycleStatus = { ...versions, phase };
      const said = (why: Trouble | undefined): string =>
        seen(explainedStatus(status, { trouble: why, clock })).conditions;
      expect([said(undefined), said(trouble), said({ ...trouble, isBlocked: true })]).to.deep.equal(
        [...[well, failing, blocked]],
      );
    });
  }

  it('changes only conditions, and nothing when it is called again with its result', () => {
    for (const phase of phases) {
      for (const why of [undefined, trouble]) {
        const findings = { trouble: why, clock };
        const once = explainedStatus({ ...versions, phase }, findings);
        expect(explainedStatus(once, findings)).to.deep.equal(once);
        expect({ ...once, conditions: undefined }).to.deep.equal({
          ...{ ...versions, phase, conditions: undefined },
        });
      }
    }
  });

  for (const [type, status] of [
    ['Available', 'False'],
    ['Available', 'Unknown'],
    ['Progressing', 'True'],
  ] as const) {
    it(`corrects ${type}=${status} of a healthy Deployed status`, () => {
      const well = explainedStatus({ ...versions, phase: 'Deployed' }, { clock });
      const conditions = well.conditions?.map((one) =>
        one.type === type ? { ...one, status } : one,
      );
      const corrected = explainedStatus({ ...well, conditions: conditions ?? [] }, { clock });
      expect(seen(corrected).conditions).to.equal('T/F/F DeployCompleted');
    });
  }

  it('names ten of the objects that the configuration waits for, and counts the rest', () => {
    const waitingFor = Array.from({ length: 12 }, (_, place) => `Job shop/${place}: running`);
    const { conditions } = explainedStatus(
      { ...versions, phase: 'Upgrading' },
      { waitingFor, clock },
    );
    const { message } = conditions?.find(({ type }) => type === 'Degraded') ?? {};
    expect(message).to.match(/^upgrade from 1 to 2 has begun; waiting for Job shop\/0: running; /);
    expect(message).to.match(/; Job shop\/9: running; and 2 more$/);
  });

  it('keeps Available True while a Deployed configuration fails, and clears Degraded when the failure is gone', () => {
    const well = explainedStatus({ ...versions, phase: 'Deployed' }, { clock });
    const ill = explainedStatus(well, { trouble, clock });
    expect(seen(ill).conditions).to.equal('T/F/T DeployCompleted Broken');
    expect(explainedStatus(ill, { clock })).to.deep.equal(well);
  });
});
