import { expect } from 'chai';
import { Registry } from 'prom-client';
import { controllerFor } from '../../lib/controller/controller.js';
import { done, requeueAfter, TerminalError } from '../../lib/controller/result.js';
import { labelRequirementsOf } from '../../lib/object/label-selector.js';
import { keyOf } from '../../lib/object/object-key.js';
import { OperatorError } from '../../lib/system/operator-error.js';
import { promMetrics } from '../../lib/prometheus/index.js';
import { Thing, apiError } from '../cache/fake-server.js';
import { ControllerSetup } from './controller-setup.js';
import { deferred } from './deferred.js';

describe('A controller whose reconciles fail', () => {
  it('retries a failing reconcile with back-off, and resets the back-off after a success', async () => {
    const setup = new ControllerSetup();
    const timesMs: number[] = [];
    const controller = controllerFor(Thing).complete(async () => {
      timesMs.push(setup.clock.monotonicMs());
      if (timesMs.length === 4) return requeueAfter(1_000);
      throw new Error('not yet');
    });
    setup.things.put('a');
    const running = await setup.start(controller);
    await setup.clock.advance(1_050);
    expect(timesMs).to.deep.equal([0, 5, 15, 35, 1_035, 1_040, 1_050]);
    expect(setup.lines('error')[0]).to.equal('reconcile failed: error');
    await setup.stop(running);
  });

  it('retries a conflict without an error log, and does not retry a terminal error', async () => {
    const registry = new Registry();
    const setup = new ControllerSetup();
    const outcomes = [apiError(409, 'Conflict', 'update'), new TerminalError('bad spec')];
    const controller = controllerFor(Thing).complete(async () => {
      throw outcomes.shift() ?? new Error('one too many');
    });
    setup.things.put('a');
    const running = await setup.start(controller, { metrics: promMetrics(registry) });
    await setup.clock.advance(100_000);
    expect(outcomes).to.deep.equal([]);
    expect(setup.lines('error')).to.deep.equal(['reconcile failed: terminal']);
    const text = await registry.metrics();
    for (const line of [
      'controller_runtime_reconcile_total{controller="thing",result="requeue"} 1',
      'controller_runtime_reconcile_total{controller="thing",result="error"} 1',
      'controller_runtime_reconcile_total{controller="thing",result="success"} 0',
      'controller_runtime_reconcile_errors_total{controller="thing"} 1',
      'controller_runtime_terminal_reconcile_errors_total{controller="thing"} 1',
      'controller_runtime_max_concurrent_reconciles{controller="thing"} 1',
      'operator_builder_reconcile_conflicts_total{controller="thing"} 1',
    ]) {
      expect(text).to.include(line);
    }
    await setup.stop(running);
  });

  it('lists the retry as the last trigger, also when many changes came before the failure', async () => {
    const setup = new ControllerSetup();
    const seen: unknown[] = [];
    const first = deferred();
    const controller = controllerFor(Thing).complete(async ({ triggers, moreTriggers }) => {
      seen.push([triggers.length, moreTriggers, triggers.at(-1)?.type]);
      if (seen.length > 1) return done();
      await first.promise;
      throw new Error('busy');
    });
    setup.things.put('a');
    const running = await setup.start(controller);
    for (let n = 0; n < 12; n++) setup.things.put('a');
    await setup.clock.advance(0);
    first.resolve();
    await setup.clock.advance(1_000);
    expect(seen).to.deep.equal([
      [1, 0, 'event'],
      [10, 3, 'retry'],
    ]);
    await setup.stop(running);
  });

  it('waits as long as Retry-After says before it retries', async () => {
    const setup = new ControllerSetup();
    const context = { verb: 'list', kind: 'Part', status: 429, retryAfterMs: 9_000 };
    const tooMany = Object.assign(apiError(429, 'TooManyRequests'), { context });
    let runs = 0;
    const controller = controllerFor(Thing).complete(async () => {
      if (++runs === 1) throw new AggregateError([new Error('other'), tooMany]);
      return done();
    });
    setup.things.put('a');
    const running = await setup.start(controller);
    await setup.clock.advance(8_999);
    expect(runs).to.equal(1);
    await setup.clock.advance(1);
    expect(runs).to.equal(2);
    await setup.stop(running);
  });

  it('logs the delay of a retry in whole milliseconds', async () => {
    const setup = new ControllerSetup();
    const controller = controllerFor(Thing).complete(async () => {
      throw Object.assign(new Error('not yet'), { retryAfterMs: 309_478.153 });
    });
    setup.things.put('a');
    const running = await setup.start(controller);
    await setup.clock.advance(1);
    const [line] = setup.logged.filter(({ level }) => level === 'error');
    expect(line?.fields['againInMs']).to.equal(309_478);
    await setup.stop(running);
  });

  it('logs an error DuplicateObject as terminal, and retries only after a change of the object', async () => {
    const setup = new ControllerSetup();
    let runs = 0;
    const controller = controllerFor(Thing).complete(async () => {
      runs++;
      throw new OperatorError('DuplicateObject', 'twice');
    });
    setup.things.put('a');
    const running = await setup.start(controller);
    await setup.clock.advance(100_000);
    expect(runs).to.equal(1);
    setup.things.put('a', { spec: { size: 2 } });
    await setup.clock.advance(100_000);
    expect(runs).to.equal(2);
    const line = 'reconcile failed: terminal';
    expect(setup.lines('error')).to.deep.equal([line, line]);
    await setup.stop(running);
  });

  // The value may come from a field that an object does not have yet, such as `spec.nodeName` of an unscheduled Pod.
  const early: Readonly<Record<string, (value: string) => unknown>> = {
    'an object without a name': (name) =>
      keyOf({ apiVersion: 'v1', kind: 'Node', metadata: { name } }),
    'a selector without a value': (value) => labelRequirementsOf({ matchLabels: { a: value } }),
  };
  for (const [title, call] of Object.entries(early)) {
    it(`retries a failure due to ${title}, because a later read may return a complete object`, async () => {
      const setup = new ControllerSetup();
      let runs = 0;
      const controller = controllerFor(Thing).complete(async () => {
        call(++runs === 1 ? (undefined as unknown as string) : 'a');
        return done();
      });
      setup.things.put('a');
      const running = await setup.start(controller);
      await setup.clock.advance(100_000);
      expect(runs).to.equal(2);
      expect(setup.lines('error')).to.deep.equal(['reconcile failed: error']);
      await setup.stop(running);
    });
  }

  it('fails a reconcile that returns nothing, and retries it', async () => {
    const setup = new ControllerSetup();
    let runs = 0;
    const controller = controllerFor(Thing).complete(async () => {
      return (++runs === 1 ? undefined : done()) as never;
    });
    setup.things.put('a');
    const running = await setup.start(controller);
    await setup.clock.advance(10);
    expect(runs).to.equal(2);
    await setup.stop(running);
  });
});
