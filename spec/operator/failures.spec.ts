import { expect } from 'chai';
import { TerminalError, requeueAfter } from '../../lib/controller/index.js';
import type { ReconciledEvent } from '../../lib/controller/index.js';
import { isNotFound } from '../../lib/object/api-error.js';
import { findCondition } from '../../lib/object/conditions.js';
import { sleep } from '../../lib/system/index.js';
import { VirtualClock } from '../../lib/system/virtual-clock.js';
import { embeddedTarget } from '../builder/suite/embedded-target.js';
import { Stage, Tenant } from './suite/stage.js';

describe('The status of a failed reconcile', () => {
  let target: Awaited<ReturnType<typeof embeddedTarget>>;
  let stage: Stage;

  before(async () => {
    target = await embeddedTarget();
  });

  beforeEach(async () => {
    stage = await Stage.open(target);
  });

  afterEach(async () => {
    target.cluster.faults.clear();
    await stage.stop();
  });

  after(() => target.close());

  /** Advances the clock by a second before each check, so that retries run. */
  const eventually = <T>(check: () => Promise<T>): Promise<T> =>
    target.eventually(async () => {
      const { clock } = target;
      if (clock instanceof VirtualClock) await clock.advance(1_000);
      return check();
    });

  const refuseStatus = (code = 503, times = Infinity) =>
    target.cluster.faults.add({
      match: { resource: 'tenants', subresource: 'status', namespace: stage.namespace },
      effect: { type: 'status', code },
      times,
    });

  /** Starts an operator that accepts only the mode `fast`, and returns the modes that its handler has received. */
  const startStrict = (): { readonly seen: string[]; readonly ended: ReconciledEvent[] } => {
    const [seen, ended]: [string[], ReconciledEvent[]] = [[], []];
    stage.operator.for(Tenant).reconciles(({ object }) => {
      const mode = object.metadata.annotations?.['mode'] ?? object.spec.env['MODE'] ?? '';
      seen.push(mode);
      if (mode === 'fast') return undefined;
      throw new TerminalError(`mode ${mode} is unknown`, { reason: 'BadMode' });
    });
    stage.start({
      onEvent: (event) => {
        if (event.type === 'reconciled') ended.push(event);
      },
    });
    return { seen, ended };
  };

  it('is written as soon as the server accepts it again if the failure is terminal', async () => {
    const { seen, ended } = startStrict();
    await stage.create('acme', { env: { MODE: 'fast' } });
    await stage.condition('acme', 'Ready', 'True');
    const fault = refuseStatus();
    await stage.change('acme', { spec: { env: { MODE: 'slow' } } });
    await eventually(async () => expect(fault.struck).to.be.above(8));
    fault.remove();
    await eventually(async () => {
      const { reason, message } = await stage.condition('acme', 'Ready', 'False');
      expect([reason, message]).to.deep.equal(['BadMode', 'mode slow is unknown']);
    });
    // The retries only wrote the status. The handler did not run again.
    expect(seen).to.deep.equal(['fast', 'slow']);
    expect(ended.at(-1)).to.include({ outcome: 'terminal', againInMs: undefined });
  });

  it('tells what to do if the reconciler modified an object of the cache', async () => {
    stage.operator.for(Tenant).reconciles(({ object }) => {
      Object.assign(object.spec.env, { MODE: 'slow' });
      return undefined;
    });
    stage.start();
    await stage.create('acme', { env: { MODE: 'fast' } });
    await eventually(async () => {
      const { message } = await stage.condition('acme', 'Ready', 'False');
      expect(message).to.include("read only property 'MODE'").and.include('change a copy');
    });
  });

  for (const [wrong, problem] of [
    [{ type: 'Fed', status: 'True' }, ' Fed: reason: want a string, got undefined'],
    [
      { type: 'Fed', status: true, reason: 'Full' },
      " Fed: status: want 'True', 'False' or 'Unknown', got true",
    ],
    [{ status: 'True', reason: 'Full' }, ': type: want a string, got undefined'],
    [
      { type: 'Fed', status: 'True', reason: 'Full', message: 5 },
      ' Fed: message: want a string, got 5',
    ],
    [
      { type: 'Fed', status: 'True', reason: 'Full', mesage: 'to the brim' },
      ' Fed: unknown option "mesage"; did you mean "message"?',
    ],
    [
      { type: 'Fed', status: 'True', reason: ' ' },
      ' Fed: reason: want a word in CamelCase, such as Done, got " "',
    ],
    [
      { type: '', status: 'True', reason: 'Full' },
      ': type: want a name in CamelCase, such as BackedUp, got ""',
    ],
    [null, ': want an object, got null'],
  ] as const) {
    it(`names the invalid field of a condition:${problem}`, async () => {
      stage.operator.for(Tenant).reconciles(({ status }) => {
        status.setCondition(wrong as never);
      });
      stage.start();
      await stage.create('acme');
      await eventually(async () => {
        const { reason, message } = await stage.condition('acme', 'Ready', 'False');
        expect([reason, message]).to.deep.equal(['InvalidOption', `status.setCondition${problem}`]);
      });
    });
  }

  it('refuses a status that is not an object', async () => {
    stage.operator.for(Tenant).reconciles(({ status }) => {
      status.set('ready' as never);
    });
    stage.start();
    await stage.create('acme');
    await eventually(async () => {
      const { message } = await stage.condition('acme', 'Ready', 'False');
      expect(message).to.equal('status.set: want fields of the status, got a value of type string');
    });
  });

  it('accepts conditions copied from a Deployment, a Pod or a Node, with the additional times that they have', async () => {
    const time = '2026-01-01T00:00:00Z';
    const times = { lastUpdateTime: time, lastProbeTime: time, lastHeartbeatTime: time };
    const copied = { type: 'Fed', status: 'True', reason: 'Full', message: 'to the brim' } as const;
    stage.operator.for(Tenant).reconciles(({ status }) => {
      status.setCondition({ ...copied, ...times });
    });
    stage.start();
    await stage.create('acme');
    await eventually(async () => {
      expect(await stage.condition('acme', 'Fed', 'True')).to.include(copied);
    });
    expect(await stage.condition('acme', 'Fed', 'True')).to.not.have.any.keys(times);
  });

  it('is replaced by the status after the next change of the object if the server has not accepted it before', async () => {
    const { seen } = startStrict();
    await stage.create('acme', { env: { MODE: 'fast' } });
    await stage.condition('acme', 'Ready', 'True');
    const fault = refuseStatus();
    await stage.change('acme', { spec: { env: { MODE: 'slow' } } });
    await target.eventually(async () => expect(fault.struck).to.be.above(0));
    await stage.change('acme', { spec: { env: { MODE: 'odd' } } });
    await target.eventually(async () => expect(seen).to.include('odd'));
    fault.remove();
    await eventually(async () => {
      const { message } = await stage.condition('acme', 'Ready', 'False');
      expect(message).to.equal('mode odd is unknown');
    });
    expect(seen).to.deep.equal(['fast', 'slow', 'odd']);
  });

  /** Refuses the next patch of a Tenant. */
  const refuseOnce = (code: number) =>
    target.cluster.faults.add({
      match: { verb: 'patch', resource: 'tenants', namespace: stage.namespace },
      ...{ effect: { type: 'status', code }, times: 1 },
    });

  it('is written if adding the finalizer fails, before the handler is called', async () => {
    let runs = 0;
    stage.operator
      .for(Tenant)
      .reconciles(() => {
        runs++;
      })
      .finalizes(() => undefined);
    stage.start();
    refuseOnce(403);
    await stage.create('acme');
    expect(await stage.condition('acme', 'Ready', 'False')).to.include({ reason: 'Forbidden' });
    expect(runs).to.equal(0);
    await eventually(() => stage.condition('acme', 'Ready', 'True'));
    const [warning = '', ...others] = await stage.events('acme');
    expect(warning).to.match(/^Warning ReconcileFailed: /);
    expect(others).to.deep.equal([]);
  });

  it('is written if removing the finalizer fails', async () => {
    stage.operator
      .for(Tenant)
      .reconciles(() => undefined)
      .finalizes(() => undefined);
    stage.start();
    await stage.create('acme');
    await stage.condition('acme', 'Ready', 'True');
    refuseOnce(403);
    await target.admin.delete(Tenant, stage.key('acme'));
    expect(await stage.condition('acme', 'Ready', 'False')).to.include({ reason: 'Forbidden' });
    await eventually(async () => {
      const error: unknown = await stage.get('acme').catch((thrown: unknown) => thrown);
      expect(isNotFound(error)).to.equal(true);
    });
  });

  it('is written if the server rejects a status field that a clean-up set before it waits', async () => {
    stage.operator
      .for(Tenant)
      .reconciles(() => undefined)
      .finalizes(({ status }) => {
        status.set({ endpoint: 5 as never });
        return requeueAfter(60_000, 'waits for the bank');
      });
    stage.start();
    await stage.create('acme');
    await stage.condition('acme', 'Ready', 'True');
    await target.admin.delete(Tenant, stage.key('acme'));
    const { message } = await stage.condition('acme', 'Ready', 'False');
    expect(message).to.contain('status.endpoint');
  });

  it('is not written if the object is deleted before its finalizer is added', async () => {
    const outcomes: string[] = [];
    stage.operator
      .for(Tenant)
      .reconciles(() => undefined)
      .finalizes(() => undefined);
    stage.start({
      onEvent: (event) => {
        if (event.type === 'reconciled') outcomes.push(event.outcome);
      },
    });
    refuseOnce(404);
    await stage.create('acme');
    await target.eventually(async () => expect(outcomes).to.deep.equal(['success']));
    expect(await stage.events('acme')).to.deep.equal([]);
  });

  it('is written once per attempt if the handler has set nothing', async () => {
    const { ended } = startStrict();
    const fault = refuseStatus();
    await stage.create('acme', { env: { MODE: 'slow' } });
    await target.eventually(async () => expect(ended).to.have.length(1));
    expect(fault.struck).to.equal(1);
  });

  it('is sent once per attempt, with the fields of the handler, if the server is unavailable', async () => {
    const ended: ReconciledEvent[] = [];
    stage.operator.for(Tenant).reconciles(({ status }) => {
      status.set({ endpoint: 'here' });
      throw new Error('no storage');
    });
    stage.start({
      onEvent: (event) => {
        if (event.type === 'reconciled') ended.push(event);
      },
    });
    const fault = refuseStatus();
    await stage.create('acme');
    await target.eventually(async () => expect(ended).to.have.length(1));
    expect(fault.struck).to.equal(1);
    fault.remove();
    await eventually(async () => {
      const { message } = await stage.condition('acme', 'Ready', 'False');
      expect(message).to.equal('no storage');
    });
    expect((await stage.get('acme')).status?.endpoint).to.equal('here');
  });

  it('is sent again without the fields of the handler after a 500 that these fields may have caused', async () => {
    stage.operator.for(Tenant).reconciles(({ status }) => {
      status.set({ endpoint: 'too large for etcd' });
      throw new TerminalError('no storage');
    });
    stage.start();
    refuseStatus(500, 1);
    await stage.create('acme');
    const { message } = await stage.condition('acme', 'Ready', 'False');
    expect(message).to.equal('no storage');
    expect((await stage.get('acme')).status?.endpoint).to.equal(undefined);
  });

  it('is written by the next reconcile if the handler timed out, and stays until a reconcile succeeds', async () => {
    let [runs, isSlow] = [0, true];
    stage.operator
      .for(Tenant)
      .withOptions({ reconcileTimeoutMs: 1_000 })
      .reconciles(async ({ clock, signal, status }) => {
        runs++;
        status.setCondition({ type: 'Ready', status: 'True', reason: 'Fine' });
        if (isSlow) await sleep(clock, 60_000, signal);
      });
    stage.start();
    await stage.create('acme');
    await target.eventually(async () => expect(runs).to.equal(1));
    await stage.change('acme', { metadata: { annotations: { touched: 'yes' } } });
    expect((await stage.get('acme')).status).to.equal(undefined);
    if (target.clock instanceof VirtualClock) await target.clock.advance(1_000);
    const message = `reconcile of ${stage.namespace}/acme: not over after 1000 ms (reconcileTimeoutMs)`;
    const shown = await stage.condition('acme', 'Ready', 'False');
    expect(shown).to.include({ reason: 'Timeout', message });
    // The change of the object caused the second reconcile, which wrote the time-out.
    expect(runs).to.equal(2);
    await eventually(async () => {
      expect(await stage.events('acme')).to.include(`Warning ReconcileFailed: ${message}`);
    });
    isSlow = false;
    await eventually(() => stage.condition('acme', 'Ready', 'True'));
    // Each reconcile has called the handler, also those that wrote a time-out.
    await target.eventually(async () => expect(stage.reconciles).to.equal(runs));
    expect(runs).to.be.greaterThan(1);
  });

  it('no longer shows a time-out after the next reconcile succeeds', async () => {
    let runs = 0;
    stage.operator
      .for(Tenant)
      .withOptions({ reconcileTimeoutMs: 1_000 })
      .reconciles(async ({ clock, signal }) => {
        if (++runs === 2) await sleep(clock, 60_000, signal);
      });
    stage.start();
    await stage.create('acme');
    await stage.condition('acme', 'Ready', 'True');
    await stage.change('acme', { metadata: { annotations: { touched: 'yes' } } });
    await eventually(async () => expect(stage.reconciles).to.equal(3));
    await stage.condition('acme', 'Ready', 'True');
    expect(await stage.events('acme')).to.have.length(1);
  });

  it('shows a time-out that belongs to an earlier generation until the next reconcile ends', async () => {
    const seen: unknown[] = [];
    stage.operator
      .for(Tenant)
      .withOptions({ reconcileTimeoutMs: 1_000, backoff: { baseDelayMs: 60_000 } })
      .reconciles(async ({ clock, object: { metadata, status }, signal }) => {
        const { generation } = metadata;
        const ready = findCondition(status?.conditions, 'Ready');
        seen.push([generation, status?.observedGeneration, ready?.reason]);
        if (generation === 2) await sleep(clock, 60_000, signal);
      });
    stage.start();
    await stage.create('acme');
    await stage.condition('acme', 'Ready', 'True');
    await stage.change('acme', { spec: { replicas: 1 } });
    await target.eventually(async () => expect(seen).to.have.length(2));
    if (target.clock instanceof VirtualClock) await target.clock.advance(1_000);
    await stage.change('acme', { spec: { replicas: 2 } });
    await stage.condition('acme', 'Ready', 'True');
    expect(seen).to.deep.equal([
      [1, undefined, undefined],
      [2, 1, 'Reconciled'],
      [3, 1, 'Timeout'],
    ]);
  });

  it('is not sent again if the failure is not terminal, because the handler is called again', async () => {
    let runs = 0;
    const ended: ReconciledEvent[] = [];
    stage.operator.for(Tenant).reconciles(() => {
      runs++;
      throw new Error('the bank is closed');
    });
    stage.start({
      onEvent: (event) => {
        if (event.type === 'reconciled') ended.push(event);
      },
    });
    refuseStatus();
    await stage.create('acme');
    await eventually(async () => expect(runs).to.be.above(3));
    expect(ended).to.have.length(runs);
    for (const { error } of ended) expect(error).to.have.property('message', 'the bank is closed');
  });

  it('shows the message of another terminal failure within five seconds, although the generation is the same', async () => {
    const { seen, ended } = startStrict();
    await stage.create('acme', { env: { MODE: 'slow' } });
    await stage.condition('acme', 'Ready', 'False');
    await stage.change('acme', { metadata: { annotations: { mode: 'odd' } } });
    await target.eventually(async () => expect(seen).to.include('odd'));
    await eventually(async () => {
      const { message } = await stage.condition('acme', 'Ready', 'False');
      expect(message).to.equal('mode odd is unknown');
    });
    expect(seen).to.deep.equal(['slow', 'odd']);
    const delays = ended.map(({ outcome, againInMs = 0 }) => [outcome, againInMs > 0]);
    expect(delays).to.deep.equal([
      ...[['terminal', false] as const, ['terminal', true] as const],
      ['terminal', false] as const,
    ]);
  });

  const failures: readonly (readonly [string, Error, string])[] = [
    ['an error without a message', new Error(''), 'Error'],
    [
      'several errors',
      new AggregateError([new Error('no till'), new Error('no shelf')]),
      'no till; no shelf',
    ],
    [
      'a failed fetch',
      new TypeError('fetch failed', { cause: new Error('bad port') }),
      'fetch failed: bad port',
    ],
  ];
  for (const [what, error, text] of failures) {
    it(`has the same text as the Event after ${what}`, async () => {
      stage.operator.for(Tenant).reconciles(() => {
        throw error;
      });
      stage.start();
      await stage.create('acme');
      expect((await stage.condition('acme', 'Ready', 'False')).message).to.equal(text);
      await eventually(async () => {
        expect(await stage.events('acme')).to.deep.equal([`Warning ReconcileFailed: ${text}`]);
      });
    });
  }
});
