import { inspect } from 'node:util';
import { expect } from 'chai';
import { ReconcileFailedError } from '../../lib/apply/results.js';
import { isInvalidConfig, PermanentError } from '../../lib/resource/errors.js';
import { processDelete, processUpdate } from '../../lib/resource/process.js';
import type { ResourceContext } from '../../lib/resource/resource-context.js';
import { withRetry } from '../../lib/resource/with-retry.js';
import { withLogging } from '../../lib/resource/wrap.js';
import { TerminalError } from '../../lib/controller/result.js';
import { ApiError } from '../../lib/object/api-error.js';
import { OperatorError } from '../../lib/system/operator-error.js';
import { seededRandom } from '../../lib/system/random.js';
import { VirtualClock } from '../../lib/system/virtual-clock.js';
import { rememberingLogger } from '../manager/manager-setup.js';
import type { LogLine } from '../manager/manager-setup.js';
import { Notes, failureOf, newPass, tenant, updateSteps } from './chain-setup.js';

const away = new Error('the cloud is away');
const failAlways = (): never => {
  throw away;
};

describe('withRetry', () => {
  let clock: VirtualClock;
  let lines: LogLine[];
  let notes: Notes;
  beforeEach(() => {
    clock = new VirtualClock();
    lines = [];
    notes = new Notes();
  });

  function pass(signal?: AbortSignal): ResourceContext {
    const random = { ...seededRandom(1), next: () => 0.5 };
    return newPass({ clock, random, signal, logger: rememberingLogger(lines) });
  }

  async function ended<R>(promise: Promise<R>): Promise<PromiseSettledResult<R>> {
    const settled = Promise.allSettled([promise]);
    await clock.advance(3_600_000);
    return (await settled)[0];
  }

  for (const step of updateSteps) {
    it(`repeats only ${step} if that step fails`, async () => {
      let left = 3;
      const resource = notes.crud('r', {
        [step]: () => {
          if (left-- > 0) throw away;
        },
      });
      const end = await ended(processUpdate(pass(), tenant, [withRetry(resource)]));
      expect(end.status).to.equal('fulfilled');
      const times = (each: string): number => notes.ran.filter((ran) => ran === `r.${each}`).length;
      expect(updateSteps.map(times)).to.deep.equal(
        updateSteps.map((each) => (each === step ? 4 : 1)),
      );
    });
  }

  it('waits 500, 750 and 1,125 ms, then throws the last error', async () => {
    const resource = notes.plain('r', { ensureDeleted: failAlways });
    const end = await ended(processDelete(pass(), tenant, [withRetry(resource)]));
    expect(notes.ran).to.have.length(4);
    expect(end).to.have.nested.property('reason.cause', away);
    expect(lines).to.deep.equal(
      [500, 750, 1_125].map((waitMs, n) => ({
        level: 'warn',
        message:
          `r, ensureDeleted: try ${n + 1} failed, ` +
          `the next one follows in ${waitMs} ms: the cloud is away`,
        fields: { resource: 'r', step: 'ensureDeleted', attempt: n + 1, waitMs },
      })),
    );
  });

  it('starts a new back-off in each step', async () => {
    let made = 0;
    const backOffFactory = () => {
      made++;
      let left = 1;
      return { next: () => (left-- > 0 ? 10 : undefined) };
    };
    const failed = new Set<string>();
    const failOnce = ({ step }: ResourceContext): void => {
      if (failed.has(step)) return;
      failed.add(step);
      throw away;
    };
    const acts = Object.fromEntries(updateSteps.map((step) => [step, failOnce]));
    const resource = withRetry(notes.crud('r', acts), { backOffFactory });
    const end = await ended(processUpdate(pass(), tenant, [resource]));
    expect(end.status).to.equal('fulfilled');
    expect([made, notes.ran.length]).to.deep.equal([6, 12]);
  });

  it('keeps the finalizer for a resource that runs at the same time as the wait before a retry', async () => {
    const context = pass();
    let isFirst = true;
    const failsOnce = notes.plain('a', {
      ensureDeleted: () => {
        if (!isFirst) return;
        isFirst = false;
        throw away;
      },
    });
    const both = {
      ...notes.plain('both'),
      ensureDeleted: async (own: ResourceContext): Promise<void> => {
        const retried = withRetry(failsOnce).ensureDeleted(own, tenant);
        await new Promise<void>((resolve) => clock.setTimer(resolve, 100));
        own.keepFinalizers('a backup runs');
        await retried;
      },
    };
    await ended(processDelete(context, tenant, [both]));
    expect(context.finalizersKept.map(({ reason }) => reason)).to.deep.equal(['a backup runs']);
  });

  it('keeps the calls of keepFinalizers and requeueAfter of code that runs at the same time as a failing attempt', async () => {
    const context = pass();
    const wait = (ms: number) => new Promise<void>((resolve) => clock.setTimer(resolve, ms));
    let isFirst = true;
    const failsOnce = notes.plain('a', {
      ensureDeleted: async (own) => {
        if (!isFirst) return;
        isFirst = false;
        own.keepFinalizers('no answer');
        own.requeueAfter(5);
        await wait(100);
        throw away;
      },
    });
    const both = {
      ...notes.plain('both'),
      ensureDeleted: async (own: ResourceContext): Promise<void> => {
        const retried = withRetry(withLogging(failsOnce)).ensureDeleted(own, tenant);
        await wait(50);
        own.keepFinalizers('a backup runs');
        own.requeueAfter(60_000);
        own.notReady('a backup runs');
        own.setDeletionAllowed();
        own.cancelResource('a backup runs');
        await retried;
      },
    };
    await ended(processDelete(context, tenant, [both]));
    const { requeueAfterMs, isDeletionAllowed, finalizersKept, notReadyFor } = context;
    expect([requeueAfterMs, isDeletionAllowed]).to.deep.equal([60_000, true]);
    const reasons = [...finalizersKept, ...notReadyFor].map(({ reason }) => reason);
    expect(reasons).to.deep.equal(['a backup runs', 'a backup runs']);
    expect(lines.map(({ message }) => message)).to.include('resource canceled: a backup runs');
  });

  it('discards the requeue time of a failed attempt, also if a nested withRetry requested it', async () => {
    const context = pass();
    let left = 1;
    const inner = withRetry(notes.plain('a', { ensureCreated: (own) => own.requeueAfter(5) }));
    const outer = {
      ...notes.plain('outer'),
      ensureCreated: async (own: ResourceContext): Promise<void> => {
        if (left-- === 0) return;
        await inner.ensureCreated(own, tenant);
        expect(own.requeueAfterMs).to.equal(5);
        throw away;
      },
    };
    await ended(processUpdate(context, tenant, [withRetry(outer)]));
    expect(context.requeueAfterMs).to.equal(undefined);
  });

  for (const kind of ['crud', 'plain'] as const) {
    it(`undoes what a failed attempt of a ${kind} resource requested from the context before it retries`, async () => {
      const step = kind === 'crud' ? 'applyUpdateChange' : 'ensureCreated';
      let isFirst = true;
      const failOnce = (context: ResourceContext): void => {
        if (!isFirst) return;
        isFirst = false;
        context.cancelReconciliation('no answer');
        context.cancelResource('no answer');
        context.keepFinalizers('no answer');
        context.notReady('no answer', { holdsChain: true });
        context.requeueAfter(5);
        context.setUpdateAllowed();
        throw away;
      };
      const first = notes.plain('first', {
        ensureCreated: (context) => {
          context.requeueAfter(60_000);
          context.notReady('warming up');
        },
      });
      const second = withRetry(notes[kind]('second', { [step]: failOnce }));
      const context = pass();
      await ended(processUpdate(context, tenant, [first, second, notes.plain('third')]));
      expect(notes.ran).to.include('third.ensureCreated');
      const { reconciliationCanceled, resourceCanceled, finalizersKept } = context;
      expect([reconciliationCanceled, resourceCanceled, finalizersKept]).to.deep.equal([
        ...[undefined, undefined, []],
      ]);
      const { notReadyFor, requeueAfterMs, isUpdateAllowed } = context;
      expect(notReadyFor.map(({ reason }) => reason)).to.deep.equal(['warming up']);
      expect([requeueAfterMs, isUpdateAllowed]).to.deep.equal([60_000, false]);
    });
  }

  it('stops at a PermanentError, and throws the error that it wraps', async () => {
    const act = (): Promise<never> => Promise.reject(new PermanentError(away));
    const resource = notes.crud('r', { getCurrentState: act });
    const end = await ended(processUpdate(pass(), tenant, [withRetry(resource)]));
    expect(end).to.have.nested.property('reason.cause', away);
    expect(notes.ran).to.have.length(1);
    const plain = withRetry(notes.plain('p', { ensureCreated: act }));
    expect(await failureOf(plain.ensureCreated(pass(), tenant))).to.equal(away);
  });

  const conflict = new ApiError(
    { status: 'Failure', reason: 'Conflict', message: 'it was modified', code: 409 },
    { verb: 'update', kind: 'ConfigMap', name: 'a', status: 409 },
  );
  const notOurs = new OperatorError('NotOurs', 'ConfigMap a has no owner');
  const twice = new OperatorError('DuplicateObject', 'ConfigMap b is desired twice');
  const futile: readonly [title: string, error: Error][] = [
    ['a TerminalError', new TerminalError('no such region')],
    ['an invalid option', new OperatorError('InvalidOption', 'list: limit: want a number')],
    ['a conflict', conflict],
    ['a lost leadership', new OperatorError('Fenced', 'the lease is not fresh')],
    ['an object that it does not own', notOurs],
    ['an object of another controller', new OperatorError('AlreadyOwned', 'owned by Shop a')],
    ['an unknown kind', new OperatorError('UnknownKind', 'v2 ConfigMap is not served')],
    ['an object desired twice', new OperatorError('DuplicateObject', 'desired twice')],
    ['several objects that all wait for a change', new ReconcileFailedError([notOurs, twice], [])],
  ];
  for (const [title, error] of futile) {
    it(`does not retry ${title} within the reconcile`, async () => {
      const resource = notes.plain('r', { ensureCreated: () => Promise.reject(error) });
      const end = await ended(processUpdate(pass(), tenant, [withRetry(resource)]));
      expect(end).to.have.nested.property('reason.cause', error);
      expect(notes.ran).to.have.length(1);
      expect(lines).to.deep.equal([]);
    });
  }

  it('retries if only some of several errors last until something is changed', async () => {
    let left = 1;
    const act = (): void => {
      if (left-- > 0) throw new ReconcileFailedError([notOurs, flaky], []);
    };
    const flaky = new OperatorError('ConnectionFailed', 'the connection was reset');
    const resource = notes.plain('r', { ensureCreated: act });
    const end = await ended(processUpdate(pass(), tenant, [withRetry(resource)]));
    expect(end.status).to.equal('fulfilled');
    expect(notes.ran).to.have.length(2);
  });

  for (const code of ['InvalidObject', 'InvalidSelector'] as const) {
    it(`retries ${code}, since the retry reads again what the failed call depended on`, async () => {
      let left = 1;
      const act = (): void => {
        if (left-- > 0) throw new OperatorError(code, 'the Pod has no node yet');
      };
      const resource = notes.plain('r', { ensureCreated: act });
      const end = await ended(processUpdate(pass(), tenant, [withRetry(resource)]));
      expect(end.status).to.equal('fulfilled');
      expect(notes.ran).to.have.length(2);
    });
  }

  it('ends a wait when the signal is aborted, with the reason of the signal', async () => {
    const stop = new AbortController();
    const resource = notes.plain('r', { ensureCreated: failAlways });
    const end = processUpdate(pass(stop.signal), tenant, [withRetry(resource)]);
    const failure = failureOf(end);
    await clock.advance(499);
    const reason = new OperatorError('Stopped', 'the manager stops');
    stop.abort(reason);
    expect((await failure).cause).to.equal(reason);
    expect([clock.pendingTimers, notes.ran.length]).to.deep.equal([0, 1]);
  });

  it('does not retry after the signal is aborted', async () => {
    const stop = new AbortController();
    const act = (): never => {
      stop.abort(new OperatorError('Stopped', 'the manager stops'));
      throw away;
    };
    const resource = notes.plain('r', { ensureCreated: act });
    const end = processUpdate(pass(stop.signal), tenant, [withRetry(resource)]);
    expect((await failureOf(end)).cause).to.equal(away);
  });

  it('waits as long as a Retry-After requests', async () => {
    const busy = new ApiError(
      { status: 'Failure', reason: 'TooManyRequests', message: 'busy', code: 429 },
      { verb: 'update', kind: 'ConfigMap', name: 'a', status: 429, retryAfterMs: 9_000 },
    );
    const resource = notes.plain('r', { ensureCreated: () => Promise.reject(busy) });
    await ended(processUpdate(pass(), tenant, [withRetry(resource)]));
    expect(lines.map(({ fields }) => fields['waitMs'])).to.deep.equal([9_000, 9_000, 9_000]);
  });

  it('waits for a Retry-After of up to a minute', async () => {
    const closed = new ApiError(
      { status: 'Failure', reason: 'ServiceUnavailable', message: 'closed', code: 503 },
      { verb: 'update', kind: 'ConfigMap', name: 'a', status: 503, retryAfterMs: 60_000 },
    );
    const resource = notes.plain('r', { ensureCreated: () => Promise.reject(closed) });
    await ended(processUpdate(pass(), tenant, [withRetry(resource)]));
    expect(lines.map(({ fields }) => fields['waitMs'])).to.deep.equal([60_000, 60_000, 60_000]);
  });

  it('does not wait for a Retry-After of more than a minute, but throws the error', async () => {
    const closed = new ApiError(
      { status: 'Failure', reason: 'ServiceUnavailable', message: 'closed', code: 503 },
      { verb: 'update', kind: 'ConfigMap', name: 'a', status: 503, retryAfterMs: 60_001 },
    );
    const resource = notes.plain('r', { ensureCreated: () => Promise.reject(closed) });
    const end = await ended(processUpdate(pass(), tenant, [withRetry(resource)]));
    expect(end).to.have.nested.property('reason.cause', closed);
    expect(notes.ran).to.have.length(1);
  });

  for (const odd of [NaN, -1, '5', null, {}]) {
    it(`throws the error of the step without a retry if a back-off returns ${inspect(odd)}`, async () => {
      const next = (): number => odd as number;
      const resource = notes.plain('r', { ensureCreated: failAlways });
      const backOffFactory = () => ({ next });
      const end = await ended(
        processUpdate(pass(), tenant, [withRetry(resource, { backOffFactory })]),
      );
      expect(end)
        .to.have.nested.property('reason.message')
        .that.includes('next(): want milliseconds');
      expect(end).to.have.nested.property('reason.cause.cause', away);
      expect(notes.ran).to.have.length(1);
    });
  }

  it('logs a thrown value that has no text, and retries', async () => {
    let left = 1;
    const resource = notes.plain('r', {
      ensureCreated: () => {
        if (left-- > 0) throw Object.create(null);
      },
    });
    await ended(processUpdate(pass(), tenant, [withRetry(resource)]));
    expect(notes.ran).to.have.length(2);
    expect(lines.map(({ message }) => message).join()).to.include('a value of type object');
  });

  it('rejects a backOffFactory that is not a function', () => {
    const backOffFactory = 3 as unknown as () => never;
    expect(() => withRetry(notes.plain('r'), { backOffFactory }))
      .to.throw('withRetry: backOffFactory')
      .that.satisfies(isInvalidConfig);
  });
});
