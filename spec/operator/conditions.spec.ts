import { expect } from 'chai';
import { ReconcileFailedError } from '../../lib/apply/index.js';
import type { ObjectResult, RolloutState } from '../../lib/apply/index.js';
import { ApiError } from '../../lib/object/api-error.js';
import type { Status } from '../../lib/object/api-error.js';
import { conditionsOf } from '../../lib/operator/index.js';
import { OperatorError } from '../../lib/system/operator-error.js';

const context = { verb: 'apply', kind: 'ConfigMap', namespace: 'shop', name: 'env' };

/** Returns the condition `Ready` after a response of the API server. */
function readyAfter(status: number, body: Status = {}) {
  const [ready] = conditionsOf({ error: new ApiError(body, { ...context, status }) });
  return ready;
}

describe('conditionsOf', () => {
  for (const [status, reason] of [
    [400, 'BadRequest'],
    [401, 'Unauthorized'],
    [403, 'Forbidden'],
    [404, 'NotFound'],
    [405, 'MethodNotAllowed'],
    [406, 'NotAcceptable'],
    [409, 'Conflict'],
    [410, 'Gone'],
    [413, 'RequestEntityTooLarge'],
    [415, 'UnsupportedMediaType'],
    [422, 'Invalid'],
    [429, 'TooManyRequests'],
    [500, 'InternalError'],
    [502, 'BadGateway'],
    [503, 'ServiceUnavailable'],
    [504, 'Timeout'],
    [418, 'ApiError'],
  ] as const) {
    it(`sets the reason ${reason} for a ${status} response without a reason`, () => {
      expect(readyAfter(status)?.reason).to.equal(reason);
      expect(readyAfter(status, { reason: 'Unknown' })?.reason).to.equal(reason);
    });
  }

  for (const [what, rollout, expected] of [
    [
      'a stuck rollout',
      { state: 'stuck', message: 'StatefulSet a/b: no pod is ready' },
      [
        'Ready False RolloutStuck StatefulSet a/b: no pod is ready',
        'Progressing False RolloutStuck StatefulSet a/b: no pod is ready',
        'Degraded True RolloutStuck StatefulSet a/b: no pod is ready',
      ],
    ],
    [
      'a rollout in progress',
      { state: 'progressing', message: 'StatefulSet a/b: 1 of 3 pods' },
      [
        'Ready False RollingOut StatefulSet a/b: 1 of 3 pods',
        'Progressing True RollingOut StatefulSet a/b: 1 of 3 pods',
        'Degraded False Healthy ',
      ],
    ],
    [
      'a complete rollout',
      { state: 'complete', message: '3 of 3 pods' },
      [
        'Ready True Reconciled all objects are as desired',
        'Progressing False Reconciled ',
        'Degraded False Healthy ',
      ],
    ],
  ] as const satisfies readonly (readonly [string, RolloutState, readonly string[]])[]) {
    it(`sets all three conditions for ${what}`, () => {
      const ref = {
        apiVersion: 'apps/v1',
        kind: 'StatefulSet',
        namespace: 'a',
        name: 'b',
        uid: '1',
      };
      const result: ObjectResult = { operation: 'unchanged', ref, changes: [], rollout };
      const texts = conditionsOf({ results: [result] }).map(
        ({ type, status, reason, message }) => `${type} ${status} ${reason} ${message}`,
      );
      expect(texts).to.deep.equal(expected);
    });
  }

  it('says nothing about objects of an operator that applies none', () => {
    const [ready] = conditionsOf({ results: [] });
    expect(ready).to.include({ status: 'True', reason: 'Reconciled', message: 'reconciled' });
  });

  it('sets all three conditions for a failed Job', () => {
    const ref = { apiVersion: 'batch/v1', kind: 'Job', namespace: 'a', name: 'b', uid: '1' };
    const run = { state: 'failed', message: 'too late (DeadlineExceeded)' } as const;
    const result: ObjectResult = { operation: 'unchanged', ref, changes: [], run };
    const texts = conditionsOf({ results: [result] }).map(
      ({ type, status, reason, message }) => `${type} ${status} ${reason} ${message}`,
    );
    expect(texts).to.deep.equal([
      'Ready False JobFailed Job a/b: too late (DeadlineExceeded)',
      'Progressing False JobFailed Job a/b: too late (DeadlineExceeded)',
      'Degraded True JobFailed Job a/b: too late (DeadlineExceeded)',
    ]);
  });

  it('sanitizes reasons and messages for metav1.Condition', () => {
    expect(readyAfter(403, { reason: 'no space: left,' })?.reason).to.equal('noSpace:Left');
    expect(readyAfter(403, { reason: '507 Insufficient' })?.reason).to.equal(
      'Reason507Insufficient',
    );
    expect(readyAfter(403, { reason: 'ä'.repeat(9) })?.reason).to.equal('Reason');
    expect(readyAfter(403, { reason: 'x'.repeat(9_999) })?.reason).to.have.length(1_024);
    expect(readyAfter(403, { message: 'x'.repeat(99_999) })?.message).to.have.length(1_000);
  });

  it('uses the reason of the failure that others follow from', () => {
    const skipped = new OperatorError('DependencyFailed', 'RoleBinding ns/a: it needs Role ns/a');
    const refused = new ApiError({}, { ...context, status: 403 });
    const [ready] = conditionsOf({ error: new ReconcileFailedError([skipped, refused], []) });
    expect(ready?.reason).to.equal('Forbidden');
    const [alone] = conditionsOf({ error: new ReconcileFailedError([skipped], []) });
    expect(alone?.reason).to.equal('DependencyFailed');
  });

  it('uses the reason of the server if there is one', () => {
    expect(readyAfter(403, { reason: 'Quota' })?.reason).to.equal('Quota');
  });
});
