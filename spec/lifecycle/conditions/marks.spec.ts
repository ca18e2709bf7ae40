import { expect } from 'chai';
import {
  markDeploying,
  markFailed,
  markFailedHealing,
  markHealthy,
  markUpgradeHealingDegraded,
} from '../../../lib/lifecycle/index.js';
import { VirtualClock } from '../../../lib/system/virtual-clock.js';

describe('the functions that mark a status', () => {
  const why = { reason: 'Because', message: 'so it is' };
  const table = [
    { mark: markHealthy, values: 'T/F/F', on: 'Available', event: 'Normal' },
    { mark: markUpgradeHealingDegraded, values: 'T/T/T', on: 'Degraded', event: 'Normal' },
    { mark: markFailed, values: 'F/F/T', on: 'Degraded', event: 'Warning' },
    { mark: markFailedHealing, values: 'F/T/T', on: 'Degraded', event: 'Warning' },
    { mark: markDeploying, values: 'F/T/F', on: 'Progressing', event: 'Normal' },
  ];
  for (const { mark, values, on, event } of table) {
    it(`${mark.name} sets Available/Progressing/Degraded to ${values}, the reason on ${on}, and returns a ${event} Event`, () => {
      const marked = mark({ operatorVersion: '1' }, why, new VirtualClock());
      const { conditions = [], ...rest } = marked.status;
      expect(conditions.map(({ type }) => type)).to.deep.equal([
        ...['Available', 'Progressing', 'Degraded'],
      ]);
      expect(conditions.map(({ status }) => status.slice(0, 1)).join('/')).to.equal(values);
      const reasons = conditions.filter(({ reason }) => reason !== undefined);
      expect(reasons.map(({ type, reason, message }) => ({ type, reason, message }))).to.deep.equal(
        [{ type: on, ...why }],
      );
      expect(marked.event).to.deep.equal({ ...why, type: event });
      expect(rest).to.deep.equal({ operatorVersion: '1' });
    });
  }

  it('set the reason on one condition, and remove it from the others', () => {
    const clock = new VirtualClock();
    const { status } = markFailed({}, why, clock);
    const { conditions = [] } = markHealthy(status, why, clock).status;
    expect(conditions.map(({ reason }) => reason)).to.deep.equal(['Because', undefined, undefined]);
  });
});
