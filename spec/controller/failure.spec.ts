import { expect } from 'chai';
import { ReconcileFailedError } from '../../lib/apply/index.js';
import {
  failureKindOf,
  isBug,
  retryAfterMsOf,
  requeueAfter,
  TerminalError,
} from '../../lib/controller/result.js';
import type { FailureKind } from '../../lib/controller/result.js';
import { ApiError } from '../../lib/object/api-error.js';
import { OperatorError } from '../../lib/system/operator-error.js';

/** Wraps `cause` as the failure of a resource step. */
function inStep(cause: unknown): OperatorError {
  return new OperatorError('ResourceFailed', 'set v1, resource env: it failed', { cause });
}

function apiError(status: number, reason: string, causes: readonly string[] = []): ApiError {
  const details = { causes: causes.map((cause) => ({ reason: cause })) };
  return new ApiError({ code: status, reason, details }, { verb: 'update', kind: 'O', status });
}

const conflict = apiError(409, 'Conflict');
const terminal = new TerminalError('no');
const terminating = apiError(403, 'Forbidden', ['NamespaceTerminating']);
const dependencyOn = (cause: Error): OperatorError =>
  new OperatorError('DependencyFailed', 'the other one', { cause });
const immutable = new OperatorError('ImmutableField', 'x');
const other = new Error('other');

const untouched = {
  operation: 'unchanged',
  ref: { apiVersion: 'v1', kind: 'ConfigMap', name: 'env' },
  changes: [],
} as const;

const cases: readonly (readonly [string, unknown, FailureKind])[] = [
  ['a conflict', conflict, 'conflict'],
  ['AlreadyExists', apiError(409, 'AlreadyExists'), 'error'],
  ['a terminal error', terminal, 'terminal'],
  ['an error about a namespace that is being deleted', terminating, 'waiting'],
  ['another 403', apiError(403, 'Forbidden'), 'error'],
  ['any other error', other, 'error'],
  ['a thrown string', 'text', 'error'],
  ['two conflicts', new AggregateError([conflict, conflict]), 'conflict'],
  ['a conflict and another error', new AggregateError([conflict, other]), 'error'],
  [
    'a conflict and an error about a namespace that is being deleted',
    new AggregateError([terminating, conflict]),
    'conflict',
  ],
  ['terminal errors only', new AggregateError([terminal, terminal]), 'terminal'],
  ['a terminal error and a conflict', new AggregateError([terminal, conflict]), 'error'],
  [
    'a failed chain whose error needs a change',
    new ReconcileFailedError([immutable, dependencyOn(immutable)], []),
    'terminal',
  ],
  [
    'a failed chain with a requested requeue',
    new ReconcileFailedError([terminal], [{ ...untouched, requeueAfterMs: 1_000 }]),
    'error',
  ],
  [
    'a chain that would delete too many objects',
    new ReconcileFailedError([new OperatorError('TooManyDeletions', 'x')], [untouched]),
    'terminal',
  ],
  [
    'a conflict in a chain, with its skipped dependents',
    new ReconcileFailedError([conflict, dependencyOn(conflict)], []),
    'conflict',
  ],
  ['a conflict in a step of a resource', inStep(conflict), 'conflict'],
  ['a terminal error in a step', inStep(terminal), 'terminal'],
  ['an expired lease in a step', inStep(new OperatorError('Fenced', 'x')), 'waiting'],
  ['any other error in a step', inStep(other), 'error'],
  ['several conflicts in a step', inStep(new AggregateError([conflict, conflict])), 'conflict'],
  ['a chain in a step', inStep(new ReconcileFailedError([terminal], [])), 'terminal'],
];

const hopeless = [
  ...(['Terminal', 'DuplicateObject', 'UnknownReference', 'InvalidOwner'] as const),
  ...(['InvalidOption', 'TooManyDeletions'] as const),
];

describe('failureKindOf', () => {
  for (const code of hopeless) {
    it(`classifies ${code} as terminal, unless it is aggregated with a retryable error`, () => {
      const error = new OperatorError(code, 'x');
      expect(failureKindOf(error)).to.equal('terminal');
      expect(failureKindOf(new AggregateError([error, terminal]))).to.equal('terminal');
      expect(failureKindOf(new AggregateError([error, conflict]))).to.equal('error');
    });
  }

  it('classifies the error about an invalid delay for requeueAfter as retryable', () => {
    expect(() => requeueAfter(0))
      .to.throw(OperatorError)
      .with.property('code', 'InvalidOption');
    try {
      requeueAfter(-1);
    } catch (error) {
      expect(failureKindOf(error)).to.equal('error');
    }
  });

  it('classifies problems that can end without a change of the program as retryable errors', () => {
    const codes = [
      ...(['UnknownKind', 'ConnectionFailed', 'NotOurs', 'AlreadyOwned'] as const),
      ...(['InvalidObject', 'InvalidSelector'] as const),
    ];
    for (const code of codes) {
      expect(failureKindOf(new OperatorError(code, 'x')), code).to.equal('error');
    }
  });

  for (const [what, error, kind] of cases) {
    it(`classifies ${what} as ${kind}`, () => {
      expect(failureKindOf(error)).to.equal(kind);
    });
  }
});

describe('isBug', () => {
  it('is true for a TypeError or a thrown non-error, false for an expected failure', () => {
    expect([new TypeError('x'), 'text', undefined].map(isBug)).to.deep.equal([true, true, true]);
    expect([other, conflict, terminal].map(isBug)).to.deep.equal([false, false, false]);
    const inSteps = [new TypeError('x'), undefined, other].map(inStep);
    expect(inSteps.map(isBug)).to.deep.equal([true, true, false]);
  });

  it('is false for a call of fetch without a connection, true for a call of fetch with an invalid URL', async () => {
    const failureOf = (url: string): Promise<unknown> =>
      fetch(url).then(
        () => 'no failure',
        (error: unknown) => error,
      );
    expect(isBug(await failureOf('http://127.0.0.1:1/'))).to.equal(false);
    expect(isBug(await failureOf('not a URL'))).to.equal(true);
  });

  it('returns for an error that is its own cause, without an endless loop', () => {
    const circle = inStep(undefined);
    Object.defineProperty(circle, 'cause', { value: circle });
    expect([isBug(circle), failureKindOf(circle)]).to.deep.equal([false, 'error']);
  });
});

describe('requeueAfter', () => {
  it('accepts any finite delay of more than 0 ms', () => {
    for (const afterMs of [0.5, 1, 1e12]) {
      expect(requeueAfter(afterMs)).to.deep.equal({ type: 'requeueAfter', afterMs });
    }
    for (const afterMs of [0, -1, NaN, Infinity]) {
      expect(() => requeueAfter(afterMs)).to.throw(
        `requeueAfter: want a finite delay of more than 0 ms, got ${afterMs}; return done()`,
      );
    }
  });
});

describe('retryAfterMsOf', () => {
  it('returns the longest Retry-After of all errors, 0 without one', () => {
    const asked = (retryAfterMs: number): ApiError =>
      new ApiError({}, { verb: 'get', kind: 'O', status: 429, retryAfterMs });
    expect(retryAfterMsOf(new AggregateError([asked(5), asked(9), other]))).to.equal(9);
    expect(retryAfterMsOf(inStep(asked(7)))).to.equal(7);
    expect(retryAfterMsOf(other)).to.equal(0);
  });

  it('returns the field retryAfterMs of a custom error, if it is a valid delay', () => {
    const own = (retryAfterMs: unknown): Error =>
      Object.assign(new Error('slow down'), { retryAfterMs });
    expect(retryAfterMsOf(new AggregateError([own(5), inStep(own(8.5)), other]))).to.equal(8.5);
    for (const retryAfterMs of [0, -1, NaN, Infinity, '7', null, {}]) {
      expect(retryAfterMsOf(own(retryAfterMs))).to.equal(0);
    }
    for (const thrown of [null, undefined, 'text', { retryAfterMs: 7 }]) {
      expect(retryAfterMsOf(thrown)).to.equal(0);
    }
  });
});
