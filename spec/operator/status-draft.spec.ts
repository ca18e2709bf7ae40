import { expect } from 'chai';
import { Draft } from '../../lib/operator/contexts.js';
import { FinalizerWriter } from '../../lib/operator/finalizer-writer.js';
import { UnshownFailures } from '../../lib/operator/failures.js';
import type { Failure } from '../../lib/operator/failures.js';
import type { Client } from '../../lib/client/index.js';
import { TerminalError } from '../../lib/controller/index.js';
import type { ReconcileContext } from '../../lib/controller/index.js';
import type { ConditionUpdate } from '../../lib/object/conditions.js';
import type { KubernetesObject, ObjectMeta } from '../../lib/object/kubernetes-object.js';
import { rememberingLogger } from '../manager/manager-setup.js';
import type { LogLine } from '../manager/manager-setup.js';

function shop(metadata: ObjectMeta = {}, more: object = {}): KubernetesObject {
  return {
    apiVersion: 'v1',
    kind: 'Shop',
    metadata: { name: 'a', uid: 'u', ...metadata },
    ...more,
  };
}

const condition = (type: string, status: 'True' | 'False', reason = 'Own'): ConditionUpdate => ({
  ...{ type, status, reason },
});

describe('The status that a handler sets', () => {
  const ready = condition('Ready', 'True', 'Reconciled');
  const degraded = condition('Degraded', 'False', 'Healthy');

  it('overrides conditions that the operator sets, and adds other conditions and fields', () => {
    const draft = new Draft(shop({ generation: 7 }));
    expect(draft.isEmpty).to.equal(true);
    draft.set({ url: 'a', size: 1, gone: undefined });
    expect(draft.isEmpty).to.equal(false);
    draft.set({ size: 2, url: undefined, list: [] });
    draft.setCondition(condition('Ready', 'False'));
    draft.setCondition(condition('BackedUp', 'True'));
    const own = { ...condition('Ready', 'False'), observedGeneration: 7 };
    const backedUp = { ...condition('BackedUp', 'True'), observedGeneration: 7 };
    expect(draft.over({ conditions: [ready, degraded] })).to.deep.equal({
      ...{ conditions: [degraded, own, backedUp], fields: { size: 2, list: [] } },
    });
    expect(draft.over({})).to.deep.equal({
      ...{ conditions: [own, backedUp], fields: { size: 2, list: [] } },
    });
  });

  it('is combined with the conditions of a failure, which decide unless the handler reports the same status', () => {
    const draft = new Draft(shop());
    draft.setCondition(condition('Ready', 'True'));
    draft.setCondition(condition('Degraded', 'True', 'Broken'));
    draft.setCondition(condition('BackedUp', 'True'));
    const failed = [condition('Ready', 'False', 'No'), condition('Degraded', 'True', 'No')];
    expect(draft.overFailure({ conditions: failed })).to.deep.equal({
      conditions: [
        condition('Degraded', 'True', 'Broken'),
        condition('BackedUp', 'True'),
        condition('Ready', 'False', 'No'),
      ],
      fields: {},
    });
    expect(new Draft(shop()).overFailure({ conditions: failed })).to.deep.equal({
      ...{ conditions: failed, fields: {} },
    });
  });

  it('records whether the handler has set Ready to False, and what it waits for', () => {
    const draft = new Draft(shop());
    expect([draft.isUnready, draft.waitsFor(undefined)]).to.deep.equal([false, undefined]);
    draft.setCondition(condition('BackedUp', 'False'));
    draft.setCondition(condition('Ready', 'True'));
    expect(draft.isUnready).to.equal(false);
    draft.setCondition(condition('Ready', 'False'));
    expect(draft.isUnready).to.equal(true);
    expect(draft.waitsFor('a Pod')).to.equal('a Pod');
    for (const message of ['the bucket', 'the queue', 'the bucket']) draft.setWaiting(message);
    expect(draft.waitsFor('a Pod')).to.equal('a Pod; the bucket; the queue');
    expect(draft.waitsFor(undefined)).to.equal('the bucket; the queue');
  });

  it('ignores calls after the handler has returned, and warns once', () => {
    const lines: LogLine[] = [];
    const draft = new Draft(shop());
    draft.close(rememberingLogger(lines));
    draft.set({ url: 'a' });
    draft.setCondition(condition('Ready', 'True'));
    draft.setWaiting('a Pod');
    expect([draft.isEmpty, draft.waitsFor(undefined)]).to.deep.equal([true, undefined]);
    expect(lines.map(({ level, message }) => `${level} ${message}`)).to.deep.equal([
      'warn status.set was called after the handler had returned; await each call',
    ]);
  });

  it('calls onLost for each set and setCondition that has no effect, but not for setWaiting', () => {
    const lost: string[] = [];
    const draft = new Draft(shop(), (method) => void lost.push(method));
    draft.setWaiting('a Pod');
    draft.set({});
    draft.setCondition(condition('Ready', 'True'));
    expect(lost).to.deep.equal(['set', 'setCondition']);
  });

  for (const [given, problem] of [
    [null, 'status.setCondition: want an object, got null'],
    [Promise.resolve({}), 'status.setCondition: type: want a string, got undefined'],
    [{ type: 1 }, 'status.setCondition: type: want a string, got 1'],
    [{ type: '' }, 'status.setCondition: type: want a name in CamelCase, such as BackedUp, got ""'],
    [
      { type: 'A', status: true },
      "status.setCondition A: status: want 'True', 'False' or 'Unknown', got true",
    ],
    [
      { type: 'A', status: 'Unknown', reason: '-' },
      'status.setCondition A: reason: want a word in CamelCase, such as Done, got "-"',
    ],
    [
      { type: 'A', status: 'False', reason: 'B', message: null },
      'status.setCondition A: message: want a string, got null',
    ],
    [
      { type: 'A', status: 'True', reason: 'B', mesage: '' },
      'status.setCondition A: unknown option "mesage"; did you mean "message"?',
    ],
  ] as const) {
    it(`refuses an invalid condition: ${problem}`, () => {
      expect(() => new Draft(shop()).setCondition(given as never)).to.throw(problem);
    });
  }

  it('accepts a condition that is copied from another object', () => {
    const draft = new Draft(shop({ generation: 1 }));
    const time = '2026-01-01T00:00:00Z';
    const copied = {
      ...{ ...condition('Copied', 'True', '_'), message: '', observedGeneration: 9 },
      ...{ lastTransitionTime: time, lastUpdateTime: time, lastProbeTime: time },
      lastHeartbeatTime: time,
    };
    draft.setCondition(copied);
    expect(draft.over({}).conditions).to.deep.equal([{ ...copied, observedGeneration: 1 }]);
  });

  for (const [given, problem] of [
    ['a', 'status.set: want fields of the status, got a value of type string'],
    [undefined, 'status.set: want fields of the status, got a value of type undefined'],
    [{ conditions: [] }, "status.set: conditions can't be set; use setCondition"],
    [
      { observedGeneration: 1 },
      "status.set: observedGeneration can't be set; the operator sets it",
    ],
  ] as const) {
    it(`refuses invalid fields: ${problem}`, () => {
      expect(() => new Draft(shop()).set(given as never)).to.throw(problem);
    });
  }
});

describe('A failure that is not yet in the status of the object', () => {
  const contextOf = (types: readonly string[], more: Partial<ReconcileContext> = {}) =>
    ({
      ...{ planning: false, moreTriggers: 0, ...more },
      triggers: types.map((type) => ({ type })),
    }) as unknown as ReconcileContext;
  const terminal: Failure = { error: new TerminalError('no'), generation: 1, updates: [] };
  const timeout: Failure = { ...terminal, error: new Error('late'), isTimeout: true };
  const retried: Failure = { ...terminal, error: new Error('no') };
  const planning = { planning: true };

  for (const [what, failure, kept, context, taken] of [
    [
      'a terminal failure, if only a retry started the reconcile',
      terminal,
      true,
      contextOf(['retry', 'requeue']),
      true,
    ],
    [
      'no terminal failure, if an event started the reconcile',
      terminal,
      true,
      contextOf(['retry', 'event']),
      false,
    ],
    [
      'no terminal failure, if the reconcile has triggers that are not listed',
      terminal,
      true,
      contextOf(['retry'], { moreTriggers: 1 }),
      false,
    ],
    [
      'a time-out, if a retry is among the triggers',
      timeout,
      true,
      contextOf(['event', 'retry']),
      true,
    ],
    [
      'no time-out, if no retry is among the triggers',
      timeout,
      true,
      contextOf(['requeue']),
      false,
    ],
    ['no failure that the controller retries', retried, false, contextOf(['retry']), false],
    [
      'no failure, if the reconcile is a plan',
      terminal,
      true,
      contextOf(['retry'], planning),
      false,
    ],
  ] as const) {
    it(`is passed to the next reconcile of the object if it still applies there: ${what}`, () => {
      const failures = new UnshownFailures();
      expect(failures.keep(shop(), failure, contextOf([]))).to.equal(kept);
      expect(failures.take(shop({ uid: 'other' }), context)).to.equal(undefined);
      expect(failures.take(shop(), context)).to.equal(taken ? failure : undefined);
      const isLeft = context.planning;
      expect(failures.take(shop(), contextOf(['retry']))).to.equal(isLeft ? failure : undefined);
    });
  }

  it('is not kept if it occurred in a plan', () => {
    const failures = new UnshownFailures();
    expect(failures.keep(shop(), terminal, contextOf([], planning))).to.equal(false);
    expect(failures.take(shop(), contextOf(['retry']))).to.equal(undefined);
  });
});

describe('The finalizer of an operator', () => {
  const finalizer = 'example.com/a';
  const { signal } = new AbortController();
  const clientThat = (answer: () => Promise<KubernetesObject>): Client =>
    ({ patch: answer, get: answer }) as unknown as Client;
  const old = shop({ resourceVersion: '1', finalizers: ['example.com/b'] }, { spec: 1 });
  const added = shop(
    { resourceVersion: '2', finalizers: ['example.com/b', finalizer] },
    { spec: 1 },
  );

  it('is added once, and isOwnWrite recognizes the watch event of this write', async () => {
    const writer = new FinalizerWriter(finalizer);
    expect(writer.isOwnWrite(old, added)).to.equal(false);
    let isOwnMeanwhile = false;
    const client = clientThat(async () => {
      isOwnMeanwhile = writer.isOwnWrite(old, {
        ...added,
        metadata: { ...added.metadata, resourceVersion: '3' },
      });
      return Promise.resolve(added);
    });
    expect(await writer.add(client, old, signal)).to.deep.equal(added);
    expect(isOwnMeanwhile).to.equal(true);
    expect(writer.isOwnWrite(old, added)).to.equal(true);
    const variants = [
      shop({ resourceVersion: '2', finalizers: [finalizer, 'example.com/b'] }, { spec: 1 }),
      shop({ resourceVersion: '2', finalizers: ['example.com/b', finalizer] }, { spec: 2 }),
      shop({ resourceVersion: '3', finalizers: ['example.com/b', finalizer] }, { spec: 1 }),
      shop({ resourceVersion: '2', finalizers: ['example.com/b'] }, { spec: 1 }),
      shop(
        { uid: 'v', resourceVersion: '2', finalizers: ['example.com/b', finalizer] },
        { spec: 1 },
      ),
    ];
    expect(variants.map((each) => writer.isOwnWrite(old, each))).to.deep.equal(
      variants.map(() => false),
    );
    const none = clientThat(() => Promise.reject(new Error('no request')));
    expect(await writer.add(none, added, signal)).to.equal(added);
  });

  it('is not recognized as an own write after its request failed', async () => {
    const writer = new FinalizerWriter(finalizer);
    const client = clientThat(() => Promise.reject(new Error('no')));
    expect(await writer.add(client, old, signal).catch(String)).to.equal('Error: no');
    expect(writer.isOwnWrite(old, added)).to.equal(false);
  });
});
