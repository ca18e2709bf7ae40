import { expect } from 'chai';
import { ReconcileFailedError } from '../../lib/builder/reconcile-failed-error.js';
import { failureKindOf, isBug, retryAfterMsOf } from '../../lib/controller/failure.js';
import type { FailureKind } from '../../lib/controller/failure.js';
import { TerminalError } from '../../lib/controller/terminal-error.js';
import { ApiError } from '../../lib/object/api-error.js';
import { OperatorError } from '../../lib/system/operator-error.js';

function apiError(status: number, reason: string, causes: readonly string[] = []): ApiError {
  const details = { causes: causes.map((cause) => ({ reason: cause })) };
  return new ApiError({ code: status, reason, details }, { verb: 'update', kind: 'O', status });
}

const conflict = apiError(409, 'Conflict');
const terminal = new TerminalError('no');
const terminating = apiError(403, 'Forbidden', ['NamespaceTerminating']);
const dependency = new OperatorError('DependencyFailed', 'the other one');
const other = new Error('other');

const cases: readonly (readonly [string, unknown, FailureKind])[] = [
  ['a conflict', conflict, 'conflict'],
  ['AlreadyExists', apiError(409, 'AlreadyExists'), 'error'],
  ['a terminal error', terminal, 'terminal'],
  ['a namespace that is being deleted', terminating, 'waiting'],
  ['another 403', apiError(403, 'Forbidden'), 'error'],
  ['anything else', other, 'error'],
  ['what is no error', 'text', 'error'],
  ['two conflicts', new AggregateError([conflict, conflict]), 'conflict'],
  ['a conflict and another', new AggregateError([conflict, other]), 'error'],
  ['a conflict in a namespace that goes', new AggregateError([terminating, conflict]), 'conflict'],
  ['terminal errors only', new AggregateError([terminal, terminal]), 'terminal'],
  ['a terminal one and a conflict', new AggregateError([terminal, conflict]), 'error'],
  [
    'a chain that can not succeed',
    new ReconcileFailedError([new OperatorError('ImmutableField', 'x'), dependency], []),
    'terminal',
  ],
  [
    'a conflict in a chain, with what depends on it',
    new ReconcileFailedError([conflict, dependency], []),
    'conflict',
  ],
];

describe('failureKindOf', () => {
  for (const [what, error, kind] of cases) {
    it(`takes ${what} for ${kind}`, () => {
      expect(failureKindOf(error)).to.equal(kind);
    });
  }
});

describe('isBug', () => {
  it('is a TypeError or what is no error, but no failure', () => {
    expect([new TypeError('x'), 'text', undefined].map(isBug)).to.deep.equal([true, true, true]);
    expect([other, conflict, terminal].map(isBug)).to.deep.equal([false, false, false]);
  });
});

describe('retryAfterMsOf', () => {
  it('is the longest of all errors, 0 where none says', () => {
    const asked = (retryAfterMs: number): ApiError =>
      new ApiError({}, { verb: 'get', kind: 'O', status: 429, retryAfterMs });
    expect(retryAfterMsOf(new AggregateError([asked(5), asked(9), other]))).to.equal(9);
    expect(retryAfterMsOf(other)).to.equal(0);
  });
});
