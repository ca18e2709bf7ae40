import { expect } from 'chai';
import fc from 'fast-check';
import { contextKey } from '../../lib/resource/resource-context.js';
import { isExecutionFailed } from '../../lib/resource/errors.js';
import { newResourceContext } from '../../lib/resource/pass-context.js';
import { processDelete, processUpdate } from '../../lib/resource/process.js';
import type { ResourceContext } from '../../lib/resource/resource-context.js';
import { isOperatorError } from '../../lib/system/operator-error.js';
import { seededRandom } from '../../lib/system/random.js';
import { VirtualClock } from '../../lib/system/virtual-clock.js';
import type { Client } from '../../lib/client/client.js';
import { rememberingLogger } from '../manager/manager-setup.js';
import type { LogLine } from '../manager/manager-setup.js';
import { Notes, newPass, tenant } from './chain-setup.js';

describe('ResourceContext', () => {
  it('contains what is passed to newResourceContext', () => {
    const parts = {
      client: {} as Client,
      signal: new AbortController().signal,
      recorder: { record: () => undefined },
      clock: new VirtualClock(),
      random: seededRandom(1),
      resourceSet: 'v1',
    };
    expect(newResourceContext(parts)).to.include({ ...parts, resource: '', step: 'initContext' });
  });

  it('has defaults for everything except the client', () => {
    const context = newResourceContext({ client: {} as Client });
    expect(context.signal.aborted).to.be.false;
    expect(context.clock.now()).to.be.a('number');
    expect(context.resourceSet).to.equal('');
    context.logger.info('goes nowhere');
    context.recorder.record({
      ...{ regarding: tenant, type: 'Normal', reason: 'A', action: 'B', note: 'C' },
    });
  });

  it('is frozen, even when it is passed to resources', async () => {
    const seen: ResourceContext[] = [newPass()];
    const look = (context: ResourceContext): void => void seen.push(context);
    await processUpdate(seen[0]!, tenant, [
      new Notes().plain('r1', { ensureCreated: look }),
      new Notes().crud('r2', { getCurrentState: look }),
    ]);
    expect(seen).to.have.length(3);
    for (const context of seen) {
      expect(context).to.be.frozen;
      expect(() => Object.assign(context, { client: undefined })).to.throw(TypeError);
    }
  });

  it('adds set, resource and step to log lines', async () => {
    const lines: LogLine[] = [];
    const log = (context: ResourceContext): void => context.logger.info('here');
    const context = newPass({ logger: rememberingLogger(lines), resourceSet: 'v1' });
    log(context);
    await processUpdate(context, tenant, [
      new Notes().plain('r1', { ensureCreated: log }),
      new Notes().crud('r2', { getDesiredState: log }),
    ]);
    expect(lines.map(({ fields }) => fields)).to.deep.equal([
      { resourceSet: 'v1' },
      { resourceSet: 'v1', resource: 'r1', step: 'ensureCreated' },
      { resourceSet: 'v1', resource: 'r2', step: 'getDesiredState' },
    ]);
  });

  it('passes flags and values to later resources and to the caller', async () => {
    const region = contextKey<string>('region');
    const seen: unknown[] = [];
    const r1 = new Notes().crud('r1', {
      getCurrentState: (context) => {
        context.set(region, 'north');
        context.setUpdateAllowed();
        context.requeueAfter(50);
      },
    });
    const look = (context: ResourceContext): void => {
      seen.push(context.need(region), context.isUpdateAllowed, context.isDeletionAllowed);
      context.requeueAfter(70);
    };
    const root = newPass();
    await processUpdate(root, tenant, [r1, new Notes().plain('r2', { ensureCreated: look })]);
    expect(seen).to.deep.equal(['north', true, false]);
    expect([root.get(region), root.isUpdateAllowed, root.requeueAfterMs]).to.deep.equal([
      ...['north', true, 50],
    ]);
  });

  it('shares no flags or values with another context', () => {
    const key = contextKey<number>('n');
    const before = newPass();
    before.set(key, 1);
    before.setDeletionAllowed();
    before.keepFinalizers();
    const after = newPass();
    expect([after.get(key), after.isDeletionAllowed, after.finalizersKept]).to.deep.equal([
      ...[undefined, false, []],
    ]);
  });

  it('records each resource that keeps the finalizer once, with its first reason, and runs the remaining resources', async () => {
    const notes = new Notes();
    const keep =
      (...reasons: string[]) =>
      (context: ResourceContext): void =>
        reasons.forEach((reason) => context.keepFinalizers(reason));
    const root = newPass();
    await processDelete(root, tenant, [
      notes.plain('r3'),
      notes.crud('r2', { applyDeleteChange: keep('dump'), applyUpdateChange: keep('later') }),
      notes.plain('r1', { ensureDeleted: keep('the disk is busy', 'still') }),
    ]);
    expect(root.finalizersKept).to.deep.equal([
      { resource: 'r1', step: 'ensureDeleted', reason: 'the disk is busy' },
      { resource: 'r2', step: 'applyDeleteChange', reason: 'dump' },
    ]);
    expect(notes.ran.at(-1)).to.equal('r3.ensureDeleted');
    expect(root.reconciliationCanceled).to.equal(undefined);
  });

  it('keeps the first cancellation of the chain, with its reason', () => {
    const context = newPass();
    context.cancelReconciliation('first');
    context.cancelReconciliation('second');
    expect(context.reconciliationCanceled).to.deep.equal({
      ...{ resource: '', step: 'initContext', reason: 'first' },
    });
  });

  it('keeps the first cancellation of a resource, with its step', async () => {
    const seen: ResourceContext[] = [];
    const cancel = (context: ResourceContext): void => {
      seen.push(context);
      context.cancelResource('first');
      context.cancelResource('second');
    };
    await processUpdate(newPass(), tenant, [new Notes().crud('r', { getDesiredState: cancel })]);
    expect(seen[0]!.resourceCanceled).to.deep.equal({
      ...{ resource: 'r', step: 'getDesiredState', reason: 'first' },
    });
  });

  it('keeps the shortest of the requested requeue times, in whatever order they are requested', () => {
    const property = fc.property(fc.array(fc.integer({ min: 1 }), { minLength: 1 }), (times) => {
      const context = newPass();
      for (const time of times) context.requeueAfter(time);
      expect(context.requeueAfterMs).to.equal(Math.min(...times));
    });
    fc.assert(property);
    expect(newPass().requeueAfterMs).to.equal(undefined);
  });

  for (const wrong of [0, -1, NaN, Infinity, '5' as unknown as number]) {
    it(`rejects ${JSON.stringify(wrong)} ms for requeueAfter`, () => {
      expect(() => newPass().requeueAfter(wrong))
        .to.throw('requeueAfter: want a finite delay of more than 0 ms')
        .that.satisfies((error: unknown) => isOperatorError(error, 'InvalidOption'));
    });
  }

  describe('a value in the context', () => {
    it("is undefined if it was never set, and then need() throws an error with the key's name", () => {
      const context = newPass();
      const key = contextKey<number>('region');
      expect(context.get(key)).to.equal(undefined);
      expect(() => context.need(key))
        .to.throw('no value of region was set')
        .that.satisfies(isExecutionFailed);
    });

    it('can be undefined', () => {
      const context = newPass();
      const key = contextKey<string | undefined>('nothing');
      context.set(key, undefined);
      expect(context.need(key)).to.equal(undefined);
    });

    it('is found by the key object with which it was set, not by the name of the key', () => {
      const context = newPass();
      const [one, other] = [contextKey<number>('n'), contextKey<number>('n')];
      context.set(one, 1);
      context.set(other, 2);
      expect([context.get(one), context.get(other)]).to.deep.equal([1, 2]);
    });
  });
});
