import { expect } from 'chai';
import { done, requeueAfter } from '../../lib/controller/index.js';
import { ConfigMap, NetworkPolicy, Service } from '../../lib/object/kinds.js';
import type { OperatorContext, ReconcileHandler } from '../../lib/operator/contexts.js';
import { embeddedTarget } from '../builder/suite/embedded-target.js';
import { rememberingLogger } from '../manager/manager-setup.js';
import type { LogLine } from '../manager/manager-setup.js';
import { Stage, Tenant } from './suite/stage.js';

describe('An operator whose handler does not await the reconcile of its builder chain', () => {
  let target: Awaited<ReturnType<typeof embeddedTarget>>;
  let stage: Stage;

  before(async () => {
    target = await embeddedTarget();
  });

  beforeEach(async () => {
    stage = await Stage.open(target);
  });

  afterEach(() => stage.stop());

  after(() => target.close());

  it('shows the failure of the chain in the status', async () => {
    const lines: LogLine[] = [];
    const labels = { 'not a label': 'x' };
    stage.operator
      .for(Tenant)
      .owns(ConfigMap)
      .reconciles(({ object, builder }) => {
        const isBad = object.spec.env['MODE'] === 'bad';
        void builder
          .configMap({ name: 'first' })
          .configMap({ name: 'second', ...(isBad && { labels }) })
          .reconcile();
      });
    stage.start({ logger: rememberingLogger(lines) });
    await stage.create('acme');
    await stage.condition('acme', 'Ready', 'True');
    const { namespace } = stage;
    await target.admin.get(ConfigMap, { namespace, name: 'second' });
    expect(lines.map(({ message }) => message)).to.include(
      'the handler returned before its chain had ended; await each reconcile method of a chain',
    );
    await stage.change('acme', { spec: { env: { MODE: 'bad' } } });
    const { message } = await stage.condition('acme', 'Ready', 'False');
    expect(message).to.include('ConfigMap').and.to.include('not a label');
  });

  it('waits for each stage of the chain', async () => {
    stage.operator
      .for(Tenant)
      .owns(ConfigMap)
      .owns(Service)
      .owns(NetworkPolicy)
      .reconciles(({ builder }) => {
        const chain = builder
          .configMap({ name: 'first' })
          .service({ name: 'second', spec: { selector: {}, ports: [{ port: 80 }] } })
          .networkPolicy({ name: 'third', spec: { podSelector: {} } });
        const inStages = async (): Promise<void> => {
          await chain.reconcileConfigMap();
          await chain.reconcileService();
          await chain.reconcileNetworkPolicy();
        };
        void inStages();
      });
    stage.start();
    await stage.create('acme');
    await stage.condition('acme', 'Ready', 'True');
    const { namespace } = stage;
    await target.admin.get(NetworkPolicy, { namespace, name: 'third' });
  });

  it('shows the error that the handler throws while the chain still runs', async () => {
    const labels = { 'not a label': 'x' };
    stage.operator
      .for(Tenant)
      .owns(ConfigMap)
      .reconciles(({ builder }) => {
        void builder.configMap({ name: 'first' }).configMap({ name: 'second', labels }).reconcile();
        throw new Error('another problem');
      });
    stage.start();
    await stage.create('acme');
    const { message } = await stage.condition('acme', 'Ready', 'False');
    expect(message).to.equal('another problem');
  });

  describe('with a chain in the handler reconciles', () => {
    const handlers: readonly (readonly [string, ReconcileHandler<Tenant, 'ConfigMap'>])[] = [
      ['nothing of it ran', ({ builder }) => void builder.configMap({ name: 'env' })],
      [
        'only another chain ran',
        async ({ builder }) => {
          await builder.configMap({ name: 'files' }).reconcile();
          builder.configMap({ name: 'env' });
        },
      ],
      [
        'only its first links ran',
        async ({ builder }) => {
          const chain = builder.configMap({ name: 'files' });
          await chain.reconcileConfigMap();
          chain.configMap({ name: 'env' });
        },
      ],
    ];
    for (const [title, handle] of handlers) {
      it(`names the object of the chain that is never reconciled, and what to call: ${title}`, async () => {
        stage.operator.for(Tenant).owns(ConfigMap).reconciles(handle);
        stage.start();
        await stage.create('acme');
        const ready = await stage.condition('acme', 'Ready', 'False');
        expect(ready.message).to.match(/ConfigMap env: .* await chain\.reconcile\(\)/);
      });
    }

    it('reports that reconciles returned a chain instead of awaiting it, and what to do', async () => {
      stage.operator
        .for(Tenant)
        .owns(ConfigMap)
        .reconciles((({ builder }: OperatorContext<Tenant>) =>
          builder.configMap({ name: 'env' })) as never);
      stage.start();
      await stage.create('acme');
      const { message } = await stage.condition('acme', 'Ready', 'False');
      expect(message).to.contain('got a chain; return the chain in builds(…)');
    });

    it('reports no problem with the chain if the handler returns a result, makes a plan or sets Ready to False', async () => {
      stage.operator
        .for(Tenant)
        .owns(ConfigMap)
        .reconciles(async ({ object, builder, status }) => {
          const chain = builder.configMap({ name: 'env' });
          if (object.metadata.name === 'waiting') return requeueAfter(60_000, 'not yet');
          if (object.metadata.name === 'suspended') return done();
          if (object.metadata.name === 'invalid') {
            status.setCondition({ type: 'Ready', status: 'False', reason: 'InvalidSpec' });
            return done();
          }
          if (object.metadata.name === 'planned') await chain.plan();
          else await chain.reconcileConfigMap();
          return undefined;
        });
      stage.start();
      for (const name of ['staged', 'planned', 'suspended']) {
        await stage.create(name);
        await stage.condition(name, 'Ready', 'True');
      }
      await stage.create('waiting');
      const ready = await stage.condition('waiting', 'Ready', 'False');
      expect(ready.message).to.contain('not yet');
      await stage.create('invalid');
      const invalid = await stage.condition('invalid', 'Ready', 'False');
      expect(invalid.reason).to.equal('InvalidSpec');
      await stage.condition('invalid', 'Degraded', 'False');
    });
  });
});
