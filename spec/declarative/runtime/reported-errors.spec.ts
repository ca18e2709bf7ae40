import { expect } from 'chai';
import type { Client } from '../../../lib/client/index.js';
import { DataError } from '../../../lib/declarative/expression/operands.js';
import type { ReportedError } from '../../../lib/declarative/runtime/reported-errors.js';
import {
  ControllerHealth,
  describe as describeError,
  hotLoopError,
  Redaction,
  ReportedErrors,
} from '../../../lib/declarative/runtime/reported-errors.js';
import type { Condition } from '../../../lib/object/conditions.js';
import { ConfigMap } from '../../../lib/object/kinds.js';
import { VirtualClock } from '../../../lib/system/virtual-clock.js';

const redaction = new Redaction(() => false);

describe('ReportedErrors', () => {
  it('keeps the last ten errors, and passes each one to its listener', () => {
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

  it('keeps only the last error of an object that fails repeatedly', () => {
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

  it('contains valid names of objects, also with capital letters, when values are left out', () => {
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

  it('cuts out the middle of long messages', () => {
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

describe('The text of an error of a declarative controller', () => {
  const data = new DataError('@add', 'want a number', 'hunter2');
  const path = ['pipeline', 0, '@project'];
  for (const [place, hides, text] of [
    [{ stage: 'target' }, false, 'target: @add: want a number, got "hunter2"'],
    [
      { stage: '@project', path, subject: 'ns/a' },
      false,
      '@project (pipeline[0]["@project"]) of ns/a: @add: want a number, got "hunter2"',
    ],
    [{ stage: 'target' }, true, 'target: @add: want a number, got a string'],
    [
      { stage: 'target', subject: 'Pod ns/a, Node b' },
      true,
      'target of Pod ns/a, Node b: @add: want a number, got a string',
    ],
    [
      { stage: 'target', subject: 'ns/a b c' },
      true,
      'target of an object whose name is left out: @add: want a number, got a string',
    ],
  ] as const) {
    it(`is ${text}`, () => {
      expect(describeError(place, data, new Redaction(() => hides))).to.equal(text);
    });
  }
});

describe('The conditions of a declarative controller', () => {
  const fine = {
    ...{ refused: undefined, trouble: undefined, troubleCount: 0 },
    ...{ held: undefined, waiting: undefined, throttled: undefined },
  };
  const all = {
    ...{ refused: 'no such kind', trouble: 'it fails', troubleCount: 3 },
    ...{ held: 'a view lacks', waiting: 'it starts', throttled: undefined },
  };
  const told = (conditions: readonly Condition[]): string[] =>
    conditions.map(({ type, status, reason, message }) =>
      `${type} ${status} ${reason}: ${message}`.trim(),
    );

  for (const [facts, ready] of [
    [all, 'Ready False NotReady: no such kind'],
    [{ ...all, refused: undefined }, 'Ready Unknown ReconciliationFailed: it fails (and 2 more)'],
    [
      { ...fine, trouble: 'it fails', troubleCount: 1 },
      'Ready Unknown ReconciliationFailed: it fails',
    ],
    [
      { ...fine, trouble: 'it fails', troubleCount: 2, held: 'x' },
      'Ready Unknown ReconciliationFailed: it fails (and 1 more)',
    ],
    [
      { ...fine, held: 'a view lacks', waiting: 'it starts' },
      'Ready Unknown Waiting: a view lacks',
    ],
    [{ ...fine, waiting: 'it starts' }, 'Ready Unknown Starting: it starts'],
    [fine, 'Ready True Ready: it follows its sources'],
  ] as const) {
    it(`begin with ${ready}`, () => {
      const health = new ControllerHealth(new VirtualClock());
      expect(health.update(facts)).to.equal(true);
      expect(told(health.conditions)).to.deep.equal([ready]);
      expect(health.update(facts)).to.equal(false);
    });
  }

  it('contain Throttled after the controller was slowed down, with status False when it runs normally again', () => {
    const health = new ControllerHealth(new VirtualClock());
    health.update(fine);
    expect(health.update({ ...fine, throttled: 'it feeds itself' })).to.equal(true);
    const ready = 'Ready True Ready: it follows its sources';
    expect(told(health.conditions)).to.deep.equal([
      ...[ready, 'Throttled True Feedback: it feeds itself'],
    ]);
    expect(health.update(fine)).to.equal(true);
    expect(told(health.conditions)).to.deep.equal([ready, 'Throttled False NotThrottled:']);
    expect(health.update(fine)).to.equal(false);
  });
});

describe('The error about a controller that reacts to its own writes', () => {
  const key = { namespace: 'ns', name: 'a' };
  const object = (name: string, managers: readonly string[], data: object): ConfigMap => ({
    ...{ apiVersion: 'v1', kind: 'ConfigMap', data: { ...data } },
    metadata: {
      ...{ namespace: 'ns', name },
      managedFields: managers.map((manager) => ({ manager, operation: 'Apply' })),
    },
  });
  const clientOf = (...objects: readonly ConfigMap[]): Client =>
    ({
      get: async (_: unknown, { name }: { name: string }) => {
        const found = objects.find(({ metadata }) => metadata.name === name);
        if (found === undefined) throw new Error('it is gone');
        return Promise.resolve(found);
      },
    }) as unknown as Client;
  const slowed = { key, object: 'a', delayMs: 2_000, writesPerMinute: 40 };
  const letters = ['a', 'b', 'c', 'd', 'e', 'f'];
  const numbered = (value: string): object => Object.fromEntries(letters.map((n) => [n, value]));

  it('names the changed fields and the field managers that wrote the object and its source object', async () => {
    const cause = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'ns', name: 'b' };
    const client = clientOf(
      object('a', ['op/one', 'other', 'op/one'], numbered('2')),
      object('b', ['op/two', 'user'], {}),
    );
    const trigger = { type: 'event', object: cause, event: 'updated' } as never;
    const live = object('a', ['op/one', 'former'], numbered('1'));
    const error = await hotLoopError({ ...slowed, trigger, live }, ConfigMap, client);
    expect(error.code).to.equal('HotLoop');
    expect(error.message).to.equal(
      'its own writes cause further writes, 40 times a minute, most recently of ConfigMap ns/a, ' +
        'changing data.a, data.b, data.c, data.d, data.e; ' +
        'the object is written by op/one, other, former; ' +
        'caused by ConfigMap ns/b, which is written by op/two, user. ' +
        'Such writes now wait 2000 ms, and longer if this continues',
    );
  });

  it('contains "unknown writer" if the object and its source object cannot be read', async () => {
    const trigger = { type: 'source', source: 'pipeline' } as const;
    const error = await hotLoopError(
      { ...slowed, trigger, live: undefined },
      ConfigMap,
      clientOf(),
    );
    expect(error.message).to.equal(
      'its own writes cause further writes, 40 times a minute, most recently of ConfigMap ns/a; ' +
        'the object is written by an unknown writer. ' +
        'Such writes now wait 2000 ms, and longer if this continues',
    );
    const cause = { apiVersion: 'v1', kind: 'Secret', namespace: '', name: 'b' };
    const event = { type: 'event', object: cause, event: 'updated' } as never;
    const live = object('a', ['op/one'], {});
    const caused = await hotLoopError({ ...slowed, trigger: event, live }, ConfigMap, clientOf());
    expect(caused.message).to.equal(
      'its own writes cause further writes, 40 times a minute, most recently of ConfigMap ns/a; ' +
        'the object is written by op/one; caused by Secret b. ' +
        'Such writes now wait 2000 ms, and longer if this continues',
    );
  });
});
