import { expect } from 'chai';
import type { ReportedError } from '../../../lib/declarative/runtime/controller-status.js';
import { ReportedErrors } from '../../../lib/declarative/runtime/reported-errors.js';
import { VirtualClock } from '../../../lib/system/virtual-clock.js';

const showValues = (): boolean => true;

describe('ReportedErrors', () => {
  it('keeps ten, the newest last, and tells of each', () => {
    const told: ReportedError[] = [];
    const onError = (error: ReportedError): void => void told.push(error);
    const clock = new VirtualClock();
    const errors = new ReportedErrors({
      operator: 'op',
      controller: 'c',
      clock,
      onError,
      showValues,
    });
    for (let n = 0; n < 12; n++) {
      errors.report({ stage: 'target', subject: 'ns/a' }, new Error(`no ${n}`));
    }
    expect(errors.all()).to.deep.equal(told.slice(2));
    expect(told).to.have.length(12);
    const message = 'op/c: target of ns/a: no 11';
    expect(errors.all().at(-1)).to.include({ message, atMs: clock.now(), controller: 'c' });
  });

  it('trims long messages in the middle', () => {
    const clock = new VirtualClock();
    const onError = (): void => undefined;
    const errors = new ReportedErrors({
      operator: 'op',
      controller: 'c',
      clock,
      onError,
      showValues,
    });
    errors.report({ stage: 'source Pod' }, new Error(`begin ${'x'.repeat(5_000)} end`));
    const [error] = errors.all();
    expect(error?.message).to.match(/^op\/c: source Pod: begin x+ … x+ end$/);
    expect(error?.message).to.have.length(1_000);
  });
});
