import { expect } from 'chai';
import type { ReportedError } from '../../../lib/declarative/runtime/reported-errors.js';
import { Redaction, ReportedErrors } from '../../../lib/declarative/runtime/reported-errors.js';
import { VirtualClock } from '../../../lib/system/virtual-clock.js';

const redaction = new Redaction(() => false);

describe('ReportedErrors', () => {
  it('keeps the last ten errors, and notifies of each', () => {
    const told: ReportedError[] = [];
    const onError = (error: ReportedError): void => void told.push(error);
    const clock = new VirtualClock();
    const errors = new ReportedErrors({
      operator: 'op',
      controller: 'c',
      clock,
      onError,
      redaction,
    });
    for (let n = 0; n < 12; n++) {
      errors.report({ stage: 'target', subject: `ns/a${n}` }, new Error(`no ${n}`));
    }
    expect(errors.all()).to.deep.equal(told.slice(2));
    expect(told).to.have.length(12);
    const message = 'op/c: target of ns/a11: no 11';
    expect(errors.all().at(-1)).to.include({ message, atMs: clock.now(), controller: 'c' });
  });

  it('keeps only the last error of a repeatedly failing object', () => {
    const told: ReportedError[] = [];
    const errors = new ReportedErrors({
      ...{ operator: 'op', controller: 'c', clock: new VirtualClock(), redaction },
      onError: (error) => void told.push(error),
    });
    errors.report({ stage: 'target', subject: 'ns/other' }, new Error('no'));
    errors.report({ stage: 'source Pod' }, new Error('lost'));
    for (let n = 0; n < 20; n++) {
      errors.report({ stage: 'target', subject: 'ns/a' }, new Error(`no ${n}`));
      errors.report({ stage: 'source Pod' }, new Error('lost'));
    }
    expect(told).to.have.length(42);
    const messages = () => errors.all().map(({ message }) => message);
    const [other, ...later] = [
      'op/c: target of ns/other: no',
      'op/c: target of ns/a: no 19',
      'op/c: source Pod: lost',
    ];
    expect(messages()).to.deep.equal([other, ...later]);
    errors.report({ stage: 'target', subject: 'ns/other' }, new Error('no'));
    expect(messages()).to.deep.equal([...later, other]);
  });

  it('keeps valid object names where values are hidden, including capital letters', () => {
    const errors = new ReportedErrors({
      ...{ operator: 'op', controller: 'c', clock: new VirtualClock() },
      ...{ redaction: new Redaction(() => true), onError: () => undefined },
    });
    for (const subject of ['ns/web-TCP-80', 'ns/with_underscore', 'a text of words']) {
      errors.report({ stage: 'target', subject }, new Error('no'));
    }
    expect(errors.all().map(({ subject }) => subject)).to.deep.equal([
      ...['ns/web-TCP-80', 'ns/with_underscore', 'an object whose name is left out'],
    ]);
  });

  it('trims long messages in the middle', () => {
    const clock = new VirtualClock();
    const onError = (): void => undefined;
    const errors = new ReportedErrors({
      operator: 'op',
      controller: 'c',
      clock,
      onError,
      redaction,
    });
    errors.report({ stage: 'source Pod' }, new Error(`begin ${'x'.repeat(5_000)} end`));
    const [error] = errors.all();
    expect(error?.message).to.match(/^op\/c: source Pod: begin x+ … x+ end$/);
    expect(error?.message).to.have.length(1_000);
  });
});
