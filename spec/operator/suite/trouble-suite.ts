import { expect } from 'chai';
import { ensureCrd, getIfExists } from '../../../lib/client/index.js';
import { TerminalError, requeueAfter } from '../../../lib/controller/index.js';
import { defineResource, s } from '../../../lib/crd/index.js';
import { isInvalid } from '../../../lib/object/api-error.js';
import { findCondition } from '../../../lib/object/conditions.js';
import type { Condition } from '../../../lib/object/conditions.js';
import { ConfigMap, Event } from '../../../lib/object/kinds.js';
import type { KubernetesObject } from '../../../lib/object/kubernetes-object.js';
import type { ReconcileHandler, StatusDraft } from '../../../lib/operator/index.js';
import { pinoLogger } from '../../../lib/system/pino-logger.js';
import { VirtualClock } from '../../../lib/system/virtual-clock.js';
import type { BuilderTarget, NewTarget } from '../../builder/suite/target.js';
import { rememberingLogger } from '../../manager/manager-setup.js';
import type { LogLine } from '../../manager/manager-setup.js';
import { Stage, Tenant, operatorName } from './stage.js';

/** A kind whose conditions are a plain list. */
const Crate = defineResource({
  ...{ group: 'trouble.example', kind: 'Crate' },
  versions: [
    {
      ...{ name: 'v1', schema: s.object({ spec: s.object({}) }) },
      status: s.object({
        observedGeneration: s.optional(s.integer()),
        conditions: s.array(
          s.object({
            ...{ type: s.string(), status: s.string(), reason: s.string() },
            ...{ message: s.string(), lastTransitionTime: s.string() },
            observedGeneration: s.optional(s.integer()),
          }),
        ),
      }),
    },
  ],
});

/** Specs about failures around an operator, on the embedded and the real server. */
export function operatorTroubleSuite(newTarget: NewTarget): void {
  let target: BuilderTarget;
  let stage: Stage;

  before(async () => {
    target = await newTarget();
  });

  beforeEach(async () => {
    stage = await Stage.open(target);
  });

  afterEach(() => stage.stop());

  after(() => target.close());

  const touch = (name = 'acme') =>
    stage.reconciledAfter(() =>
      stage.change(name, { metadata: { annotations: { touched: `${stage.reconciles}` } } }),
    );

  const setsStatus = (set: (status: StatusDraft<Tenant>) => void): void => {
    stage.operator.for(Tenant).reconciles(({ status }) => {
      set(status);
      return undefined;
    });
    stage.start();
  };

  it('the operator reports a status field that the server rejects', async () => {
    setsStatus((status) => status.set({ endpoint: 5 as never }));
    await stage.create('acme');
    const { message } = await stage.condition('acme', 'Ready', 'False');
    expect(message).to.contain('status.endpoint');
  });

  for (const [name, remedy] of [
    ['conditions', 'use setCondition'],
    ['observedGeneration', 'the operator sets it'],
  ] as const) {
    it(`the operator reports that status.set cannot set ${name}, and what to do instead`, async () => {
      setsStatus((status) => status.set({ [name]: 5 }));
      await stage.create('acme');
      const { reason, message } = await stage.condition('acme', 'Ready', 'False');
      expect(reason).to.equal('InvalidOption');
      expect(message).to.equal(`status.set: ${name} can't be set; ${remedy}`);
    });
  }

  it('the operator logs a rejected object in one short line with the verb, the object and the reason', async () => {
    const lines: string[] = [];
    const destination = { write: (line: string) => void lines.push(line) };
    stage.operator
      .for(Tenant)
      .owns(ConfigMap)
      .builds(({ builder }) => builder.configMap({ name: 'env', data: { 'a key': 'x' } }));
    stage.start({ logger: pinoLogger({ destination, level: 'error' }) });
    await stage.create('acme');
    await stage.condition('acme', 'Ready', 'False');
    await target.eventually(async () => expect(lines).to.not.be.empty);
    const [line = ''] = lines;
    expect(line.length, line).to.be.below(1_500);
    const what = `apply ConfigMap ${stage.namespace}/env: 422 Invalid`;
    expect(line.split(what)).to.have.length(2);
    expect(line).to.contain('data[a key]');
  });

  it('the operator reports a handler that returns an invalid result', async () => {
    stage.operator.for(Tenant).reconciles(() => ({ requeue: true }) as never);
    stage.start();
    await stage.create('acme');
    const { message } = await stage.condition('acme', 'Ready', 'False');
    expect(message).to.equal(
      `reconciles for Tenant ${stage.namespace}/acme: want nothing or a result, got an object with requeue; return nothing, done() or requeueAfter(ms, message)`,
    );
  });

  it('the operator writes conditions that fit metav1.Condition, although the server would reject what the handler caused', async () => {
    setsStatus((status) => {
      const message = 'x'.repeat(40_000);
      status.setCondition({ type: 'BackedUp', status: 'False', reason: 'no space', message });
    });
    await stage.create('acme');
    const { reason, message } = await stage.condition('acme', 'BackedUp', 'False');
    expect({ reason, length: message.length }).to.deep.equal({ reason: 'noSpace', length: 32_768 });
    const { status } = await stage.get('acme');
    const [condition] = status?.conditions ?? [];
    for (const wrong of [
      ...[{ reason: 'no space' }, { reason: '' }, { status: 'Maybe' }, { type: 'a b' }],
      ...[{ message: 'x'.repeat(32_769) }, { observedGeneration: -1 }],
    ]) {
      const body = { status: { conditions: [{ ...condition, ...wrong }] } };
      const patch = { type: 'merge', body } as const;
      const refused = await target.admin
        .patch(Tenant, stage.key('acme'), patch, { subresource: 'status' })
        .then(
          () => undefined,
          (error: unknown) => error,
        );
      expect(isInvalid(refused), JSON.stringify(wrong).slice(0, 40)).to.equal(true);
    }
  });

  it('the operator writes the status fields that the schema has, and warns once about fields that it lacks', async () => {
    const Shed = defineResource({
      ...{ group: 'front.example', kind: 'Shed' },
      versions: [
        {
          name: 'v1',
          schema: s.object({}),
          status: s.object({ endpoint: s.optional(s.string()) }),
        },
      ],
    });
    const { admin, clock } = target;
    const { namespace } = stage;
    await ensureCrd(admin, Shed.crd, clock instanceof VirtualClock ? {} : { clock });
    const warnings: string[] = [];
    const write = (line: string) => void warnings.push(line);
    // The operator has no schema of this kind.
    stage.operator
      .for({ apiVersion: 'front.example/v1', kind: 'Shed' }, { status: true })
      .reconciles(({ status }) => {
        status.set({ endpoint: 'https://shed' } as never);
        status.setCondition({ type: 'Painted', status: 'True', reason: 'Red' });
        return undefined;
      });
    stage.start({ logger: pinoLogger({ destination: { write }, level: 'warn' }) });
    for (const name of ['one', 'two']) {
      await admin.create(Shed.object({ metadata: { namespace, name } }));
      await target.eventually(async () => {
        const { status } = await admin.get(Shed, { namespace, name });
        expect(status).to.deep.equal({ endpoint: 'https://shed' });
      });
    }
    expect(warnings, warnings.join('')).to.have.length(1);
    expect(warnings[0])
      .to.contain('the schema of Shed has no status.conditions and status.observedGeneration')
      .and.contain('s.status()');
  });

  it('the operator reports a failure even if the handler has set Ready', async () => {
    setsStatus((status) => {
      status.setCondition({ type: 'Ready', status: 'True', reason: 'AllFine' });
      throw new Error('the licence server does not answer');
    });
    await stage.create('acme');
    const { message } = await stage.condition('acme', 'Ready', 'False');
    expect(message).to.equal('the licence server does not answer');
  });

  it('the operator reports the reason of a terminal error in the conditions and in the Event', async () => {
    setsStatus((status) => {
      status.set({ endpoint: 'https://acme.example' });
      throw new TerminalError('spec.env: not that one', { reason: 'InvalidSpec' });
    });
    await stage.create('acme');
    for (const [type, status] of [
      ...[['Ready', 'False'] as const, ['Progressing', 'False'] as const],
      ['Degraded', 'True'] as const,
    ]) {
      const { reason, message } = await stage.condition('acme', type, status);
      expect({ reason, message }).to.deep.equal({
        reason: 'InvalidSpec',
        message: 'spec.env: not that one',
      });
    }
    expect((await stage.get('acme')).status?.endpoint).to.equal('https://acme.example');
    await target.eventually(async () => {
      const events = await stage.events('acme');
      expect(events).to.deep.equal(['Warning InvalidSpec: spec.env: not that one']);
    });
  });

  it('the operator writes a message only once although it is cut within a character of several bytes', async () => {
    setsStatus(() => {
      throw new Error(`${'x'.repeat(999)}\u{1F600} is not known`);
    });
    await stage.create('acme');
    await stage.condition('acme', 'Ready', 'False');
    await stage.requests();
    await touch();
    expect(await stage.writes()).to.deep.equal([]);
  });

  it('the operator keeps the observedGeneration of a paused object', async () => {
    stage.operator
      .for(Tenant)
      .owns(ConfigMap)
      .builds(({ builder }) => builder.configMap({ name: 'env' }));
    stage.start();
    await stage.create('acme');
    await stage.condition('acme', 'Ready', 'True');
    await stage.change('acme', {
      spec: { env: { A: '1' } },
      metadata: { annotations: { 'operator-builder.io/paused': 'true' } },
    });
    await stage.condition('acme', 'Paused', 'True');
    const { status, metadata } = await stage.get('acme');
    expect({ at: status?.observedGeneration, is: metadata.generation }).to.deep.equal({
      at: 1,
      is: 2,
    });
  });

  const paused = (value: string | null): object => ({
    metadata: { annotations: { 'operator-builder.io/paused': value } },
  });

  const unready: Record<string, ReconcileHandler<Tenant, never>> = {
    fails: () => {
      throw new Error('the licence server does not answer');
    },
    waits: () => requeueAfter(60_000, 'waits for the bank'),
  };
  for (const [how, handle] of Object.entries(unready)) {
    it(`the operator sets Paused to False after the pause of an object whose handler ${how}`, async () => {
      stage.operator.for(Tenant).reconciles(handle);
      stage.start();
      await stage.create('acme');
      await stage.condition('acme', 'Ready', 'False');
      await stage.change('acme', paused('true'));
      await stage.condition('acme', 'Paused', 'True');
      await stage.change('acme', paused(null));
      const { reason } = await stage.condition('acme', 'Paused', 'False');
      expect(reason).to.equal('NotPaused');
    });
  }

  it('the operator sets Paused to False after a pause if conditions are an atomic list', async () => {
    const { admin, clock } = target;
    await ensureCrd(admin, Crate.crd, clock instanceof VirtualClock ? {} : { clock });
    const key = stage.key('acme');
    const pausedIs = (wanted: string) =>
      target.eventually(async () => {
        const { status } = (await admin.get(Crate, key)) as KubernetesObject & {
          readonly status?: { readonly conditions?: readonly Condition[] };
        };
        expect(findCondition(status?.conditions, 'Paused')?.status).to.equal(wanted);
      });
    stage.operator
      .for({ apiVersion: 'trouble.example/v1', kind: 'Crate' }, { status: true })
      .reconciles(() => undefined);
    stage.start();
    await admin.create(Crate.object({ metadata: key, spec: {} }));
    await admin.patch(Crate, key, { type: 'merge', body: paused('true') });
    await pausedIs('True');
    await admin.patch(Crate, key, { type: 'merge', body: paused(null) });
    await pausedIs('False');
  });

  it('the operator does not reconcile endlessly although every reconcile writes another status', async () => {
    let count = 0;
    setsStatus((status) => {
      status.set({ endpoint: `https://${++count}` });
    });
    await stage.create('acme');
    await stage.condition('acme', 'Ready', 'True');
    for (let round = 0; round < 10; round++) await touch();
    await target.eventually(() => Promise.resolve());
    expect(count).to.be.within(11, 13);
  });

  it('the operator keeps the finalizer of another controller of the same kind', async () => {
    let cleaned = 0;
    stage.operator
      .for(Tenant)
      .reconciles(() => undefined)
      .finalizes(() => {
        cleaned++;
        return requeueAfter(10_000, 'waits for the backups');
      });
    stage.operator.for(Tenant, { name: 'second', status: false }).reconciles(() => undefined);
    stage.start();
    await stage.create('acme');
    await stage.condition('acme', 'Ready', 'True');
    await target.admin.delete(Tenant, stage.key('acme'));
    await stage.condition('acme', 'Ready', 'False');
    await touch();
    expect(cleaned).to.be.above(0);
    expect((await stage.get('acme')).metadata.finalizers).to.have.length(1);
  });

  it('the operator reports a kind without a status subresource if the option status is true', async () => {
    const type = { apiVersion: 'v1', kind: 'ConfigMap' } as const;
    stage.operator.for(type, { status: true }).reconciles(() => undefined);
    stage.start();
    const metadata = stage.key('settings');
    await target.admin.create<ConfigMap>({ ...type, metadata });
    await target.eventually(async () => {
      const { items } = await target.admin.list(Event, { namespace: stage.namespace });
      const notes = items.map(({ note = '' }) => note);
      expect(notes).to.include(
        `status of ConfigMap ${stage.namespace}/settings: the server has no subresource status for the kind; add it to the CRD, or give for(…) the option status: false`,
      );
    });
  });

  for (const [method, call] of [
    ['set', (status) => status.set({ endpoint: 'https://acme.example' })],
    ['setCondition', (status) => status.setCondition({ type: 'Up', status: 'True', reason: 'Up' })],
  ] satisfies [string, (status: StatusDraft<Tenant>) => void][]) {
    it(`the operator refuses status.${method} in a controller with status: false`, async () => {
      stage.operator.for(Tenant, { status: false }).reconciles(({ status }) => call(status));
      stage.start();
      await stage.create('acme');
      await target.eventually(async () => {
        const { items } = await target.admin.list(Event, { namespace: stage.namespace });
        const notes = items.map(({ note = '' }) => note);
        expect(notes).to.include(
          `status.${method}: this controller does not write the status of Tenant; give for(…) the option status: true, or call patchStatus with a fieldManager other than ${operatorName}`,
        );
      });
    });
  }

  it('the operator warns once, and goes on, if the handler of finalizes() sets a status in a controller with status: false', async () => {
    stage.operator
      .for(Tenant, { status: false })
      .reconciles(() => undefined)
      .finalizes(({ status }) => {
        status.set({ endpoint: 'none' });
        status.setCondition({ type: 'Up', status: 'False', reason: 'Down' });
      });
    const lines: LogLine[] = [];
    stage.start({ logger: rememberingLogger(lines) });
    for (const name of ['acme', 'bolt']) {
      await stage.create(name);
      await target.eventually(async () => {
        const { metadata } = await target.admin.get(Tenant, stage.key(name));
        expect(metadata.finalizers).to.have.length(1);
      });
      await target.admin.delete(Tenant, stage.key(name));
      await target.eventually(async () => {
        expect(await getIfExists(target.admin, Tenant, stage.key(name))).to.equal(undefined);
      });
    }
    const warnings = lines.filter(({ level }) => level === 'warn');
    expect(warnings.map(({ message }) => message)).to.deep.equal([
      `finalizes: status.set: this controller does not write the status of Tenant; give for(…) the option status: true, or call patchStatus with a fieldManager other than ${operatorName}`,
    ]);
  });

  it('the operator sends nothing for an unchanged status whose schema has defaults', async () => {
    const Box = defineResource({
      ...{ group: 'trouble.example', kind: 'Box' },
      versions: [
        {
          ...{ name: 'v1', schema: s.object({ spec: s.object({}) }) },
          status: s.status({
            parts: s.array(s.object({ name: s.string(), state: s.defaulted(s.string(), 'new') })),
          }),
        },
      ],
    });
    const { clock } = target;
    await ensureCrd(target.admin, Box.crd, clock instanceof VirtualClock ? {} : { clock });
    stage.operator.for(Box).reconciles(({ status }) => {
      status.set({ parts: [{ name: 'a' }] } as never);
      return undefined;
    });
    stage.start();
    await target.admin.create(Box.object({ metadata: stage.key('acme'), spec: {} }));
    await target.eventually(async () => {
      const { status } = await target.admin.get(Box, stage.key('acme'));
      expect(findCondition(status?.conditions as never, 'Ready')).to.not.equal(undefined);
    });
    await stage.requests();
    await stage.reconciledAfter(() =>
      target.admin.patch(Box, stage.key('acme'), {
        type: 'merge',
        body: { metadata: { labels: { a: 'b' } } },
      }),
    );
    expect(await stage.writes()).to.deep.equal([]);
  });

  it('the operator keeps conditions of other managers if conditions are an atomic list', async () => {
    const { clock } = target;
    await ensureCrd(target.admin, Crate.crd, clock instanceof VirtualClock ? {} : { clock });
    const key = stage.key('acme');
    await target.admin.create(Crate.object({ metadata: key, spec: {} }));
    const backup = {
      ...{ type: 'BackedUp', status: 'True', reason: 'Done', message: '' },
      lastTransitionTime: '2026-01-01T00:00:00Z',
    };
    await target.admin.patch(
      Crate,
      key,
      { type: 'merge', body: { status: { conditions: [backup] } } },
      { subresource: 'status' },
    );
    stage.operator
      .for({ apiVersion: 'trouble.example/v1', kind: 'Crate' }, { status: true })
      .reconciles(() => undefined);
    stage.start();
    await target.eventually(async () => {
      const crate: KubernetesObject = await target.admin.get(Crate, key);
      const { conditions } = (crate as never as { status: { conditions: { type: string }[] } })
        .status;
      expect(conditions.map(({ type }) => type))
        .to.include('Ready')
        .and.to.include('BackedUp');
    });
  });

  it('the operator does not remove the finalizer if finalizes returns an invalid result', async () => {
    stage.operator
      .for(Tenant)
      .reconciles(() => undefined)
      .finalizes(() => ({ requeueAfter: 5_000 }) as never);
    stage.start();
    await stage.create('acme');
    await stage.condition('acme', 'Ready', 'True');
    await target.admin.delete(Tenant, stage.key('acme'));
    const { message } = await stage.condition('acme', 'Ready', 'False');
    expect(message).to.equal(
      `finalizes for Tenant ${stage.namespace}/acme: want nothing or a result, got an object with requeueAfter; return nothing, done() or requeueAfter(ms, message)`,
    );
  });
}
