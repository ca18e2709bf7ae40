import { expect } from 'chai';
import { ReconcileFailedError } from '../../lib/apply/index.js';
import type { ObjectResult, RolloutState } from '../../lib/apply/index.js';
import { ApiError } from '../../lib/object/api-error.js';
import type { Status } from '../../lib/object/api-error.js';
import { TerminalError } from '../../lib/controller/index.js';
import { defineResource, s } from '../../lib/crd/index.js';
import { deletingConditions, terminalReasonOf } from '../../lib/operator/conditions.js';
import { conditionsOf } from '../../lib/operator/index.js';
import { statusSettings } from '../../lib/operator/status-schema.js';
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

  it('changes reasons and messages to what metav1.Condition allows', () => {
    expect(readyAfter(403, { reason: 'no space: left,' })?.reason).to.equal('noSpace:Left');
    expect(readyAfter(403, { reason: '507 Insufficient' })?.reason).to.equal(
      'Reason507Insufficient',
    );
    expect(readyAfter(403, { reason: 'ä'.repeat(9) })?.reason).to.equal('Reason');
    expect(readyAfter(403, { reason: 'x'.repeat(9_999) })?.reason).to.have.length(1_024);
    expect(readyAfter(403, { message: 'x'.repeat(99_999) })?.message).to.have.length(1_000);
  });

  it('uses the reason of the original failure, not of objects that only failed because of it', () => {
    const skipped = new OperatorError('DependencyFailed', 'RoleBinding ns/a: it needs Role ns/a');
    const refused = new ApiError({}, { ...context, status: 403 });
    const [ready] = conditionsOf({ error: new ReconcileFailedError([skipped, refused], []) });
    expect(ready?.reason).to.equal('Forbidden');
    const [alone] = conditionsOf({ error: new ReconcileFailedError([skipped], []) });
    expect(alone?.reason).to.equal('DependencyFailed');
  });

  it('uses the reason in the response of the server if there is one', () => {
    expect(readyAfter(403, { reason: 'Quota' })?.reason).to.equal('Quota');
  });
});

describe('The conditions of a reconcile', () => {
  const told = (end: Parameters<typeof conditionsOf>[0]): string[] =>
    conditionsOf(end).map(({ type, status, reason, message }) =>
      `${type} ${status} ${reason}: ${message}`.trim(),
    );
  const result = (name: string, more: Partial<ObjectResult>): ObjectResult => ({
    ...{ operation: 'unchanged', changes: [], ...more },
    ref: { apiVersion: 'v1', kind: 'Secret', namespace: 'a', name, uid: '1' },
  });
  const pending = (name: string, reason?: string): ObjectResult =>
    result(name, { operation: 'pending', ...(reason !== undefined && { reason }) });
  const rolling = (message: string): ObjectResult =>
    result('r', { rollout: { state: 'progressing', message } });
  const stuck = (name: string, message?: string): ObjectResult =>
    result(name, {
      rollout: { state: 'stuck', ...(message !== undefined && { message }) } as never,
    });
  const failed = (name: string): ObjectResult =>
    result(name, { run: { state: 'failed', message: 'too often' } });

  for (const [what, end, reason, message] of [
    ['what the handler waits for', { waitsFor: 'the bucket' }, 'Waiting', 'the bucket'],
    [
      'three pending objects',
      { results: [pending('x', 'waits for y'), pending('y'), pending('z', 'no')] },
      ...(['Waiting', 'Secret a/x waits for y; Secret a/y pending; Secret a/z no'] as const),
    ],
    [
      'four pending objects',
      { results: ['w', 'x', 'y', 'z'].map((name) => pending(name)), waitsFor: 'it' },
      ...(['Waiting', 'it; Secret a/w pending; Secret a/x pending; 2 more'] as const),
    ],
    [
      'rollouts before the rest',
      { results: [pending('x'), rolling('1 of 3'), rolling('2 of 3')], waitsFor: 'it' },
      ...(['RollingOut', '1 of 3; 2 of 3; it; 1 more'] as const),
    ],
  ] as const) {
    it(`name ${what}`, () => {
      expect(told(end)).to.deep.equal([
        `Ready False ${reason}: ${message}`,
        `Progressing True ${reason}: ${message}`,
        'Degraded False Healthy:',
      ]);
    });
  }

  it('name stuck rollouts first and failed Jobs next, and no other objects', () => {
    const results = [failed('j'), pending('p'), stuck('s', 'no pod is ready'), stuck('t')];
    const message = 'no pod is ready; Secret a/t; Secret a/j: too often';
    expect(told({ results, waitsFor: 'it' })).to.deep.equal([
      `Ready False RolloutStuck: ${message}`,
      `Progressing False RolloutStuck: ${message}`,
      `Degraded True RolloutStuck: ${message}`,
    ]);
  });

  it('report success if there are no objects, with the observedGeneration that is passed', () => {
    expect(told({})).to.deep.equal([
      'Ready True Reconciled: reconciled',
      'Progressing False Reconciled:',
      'Degraded False Healthy:',
    ]);
    expect(conditionsOf({}).some((each) => 'observedGeneration' in each)).to.equal(false);
    const generations = conditionsOf({ observedGeneration: 7 }).map(
      (each) => each.observedGeneration,
    );
    expect(generations).to.deep.equal([7, 7, 7]);
  });

  const quota = new OperatorError('InvalidValue', 'no quota');
  for (const [what, error, reason, message, isRetried] of [
    ['any error', new Error('no'), 'ReconcileFailed', 'no', true],
    ['an error with a code', quota, 'InvalidValue', 'no quota', false],
    ['a terminal error', new TerminalError('no'), 'ReconcileFailed', 'no', false],
    [
      'a terminal error with a reason',
      new TerminalError('no', { reason: 'NoQuota' }),
      ...(['NoQuota', 'no', false] as const),
    ],
    [
      'a terminal error with a cause',
      new TerminalError('give up', { cause: quota }),
      ...(['InvalidValue', 'give up', false] as const),
    ],
  ] as const) {
    it(`report ${what}`, () => {
      const [ready, progressing, degraded] = told({ error });
      expect(ready).to.equal(`Ready False ${reason}: ${message}`);
      expect(progressing).to.equal(
        isRetried
          ? `Progressing True Retrying: ${message}`
          : `Progressing False ${reason}: ${message}`,
      );
      expect(degraded).to.equal(`Degraded True ${reason}: ${message}`);
    });
  }

  it('have the message of a clean-up that has not finished', () => {
    const deleting = deletingConditions('the bucket is being emptied');
    expect(deleting).to.deep.equal([
      {
        ...{ type: 'Ready', status: 'False', reason: 'Deleting' },
        message: 'the bucket is being emptied',
      },
      {
        ...{ type: 'Progressing', status: 'True', reason: 'Deleting' },
        message: 'the bucket is being emptied',
      },
      { type: 'Degraded', status: 'False', reason: 'Deleting', message: '' },
    ]);
  });

  it('have the reason that a TerminalError sets, and no reason from other errors', () => {
    expect(terminalReasonOf(new TerminalError('no', { reason: 'NoQuota' }))).to.equal('NoQuota');
    const others = [new TerminalError('no'), quota, new Error('no'), { reason: 'a' }, undefined];
    expect(others.map(terminalReasonOf)).to.deep.equal(others.map(() => undefined));
  });
});

describe('The status that an operator writes', () => {
  const refuse = (problem: string): never => {
    throw new Error(problem);
  };
  const typeWith = (status?: Parameters<typeof s.object>[0]) =>
    defineResource({
      ...{ group: 'front.example', kind: 'Box' },
      versions: [
        {
          ...{ name: 'v1', schema: s.object({ spec: s.object({}) }) },
          ...(status !== undefined && { status: s.object(status) }),
        },
      ],
    });
  const atomic = s.array(s.object({ type: s.string() }));
  const generation = { observedGeneration: s.optional(s.integer()) };
  const unknown = { apiVersion: 'v1', kind: 'Box' };

  for (const [what, type, wanted, settings] of [
    ['an unknown schema', unknown, undefined, undefined],
    ['an unknown schema', unknown, false, undefined],
    ['an unknown schema', unknown, true, { atomicConditions: undefined, generation: true }],
    [
      'conditions',
      typeWith({ conditions: s.conditions() }),
      undefined,
      { atomicConditions: false, generation: false },
    ],
    ['conditions', typeWith({ conditions: s.conditions() }), false, undefined],
    [
      'conditions and a generation',
      typeWith({ conditions: s.conditions(), ...generation }),
      true,
      { atomicConditions: false, generation: true },
    ],
    [
      'an atomic list of conditions',
      typeWith({ conditions: atomic, ...generation }),
      undefined,
      { atomicConditions: true, generation: true },
    ],
    ['no conditions', typeWith(generation), undefined, undefined],
    ['no status', typeWith(), undefined, undefined],
  ] as const) {
    it(`has the settings ${JSON.stringify(settings)} for a type with ${what} and the option status: ${String(wanted)}`, () => {
      expect(statusSettings(type, wanted, refuse)).to.deep.equal(settings);
    });
  }

  it('is refused with status: true if the schema of the status has no conditions', () => {
    for (const type of [typeWith(generation), typeWith()]) {
      expect(() => statusSettings(type, true, refuse)).to.throw(
        'the schema of the status has no conditions; give the version the status s.status(), or leave the option status out',
      );
    }
  });
});
