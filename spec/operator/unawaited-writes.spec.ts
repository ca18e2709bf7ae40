import { expect } from 'chai';
import type { Client } from '../../lib/client/index.js';
import { ConfigMap } from '../../lib/object/kinds.js';
import { embeddedTarget } from '../builder/suite/embedded-target.js';
import { rememberingLogger } from '../manager/manager-setup.js';
import type { LogLine } from '../manager/manager-setup.js';
import { Stage, Tenant } from './suite/stage.js';

describe('A write that a handler does not await', () => {
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

  const make = (client: Client, name: string): Promise<unknown> =>
    client.create({
      ...{ apiVersion: 'v1', kind: 'ConfigMap' },
      metadata: { name, namespace: stage.key('acme').namespace },
    });

  it('ends before the reconcile does, with a warning', async () => {
    const lines: LogLine[] = [];
    stage.operator.for(Tenant).reconciles(({ client, object }) => {
      if (object.metadata.name !== 'acme') return;
      void make(client, 'one').then(() => make(client, 'two'));
    });
    stage.start({ logger: rememberingLogger(lines) });
    await stage.create('acme');
    await stage.condition('acme', 'Ready', 'True');
    await target.admin.get(ConfigMap, { ...stage.key('acme'), name: 'two' });
    const { namespace } = stage.key('acme');
    expect(lines.filter(({ level }) => level === 'warn').map(({ message }) => message)).to.include(
      `the handler returned before a write had ended: create ConfigMap ${namespace}/one; await each call`,
    );
  });

  it('fails the reconcile if it fails', async () => {
    stage.operator.for(Tenant).reconciles(({ client }) => void make(client, 'NOT_A_NAME'));
    stage.start();
    await stage.create('acme');
    const { message } = await stage.condition('acme', 'Ready', 'False');
    expect(message).to.include('/NOT_A_NAME: 422');
  });

  it('gives way to the error of the handler', async () => {
    stage.operator.for(Tenant).reconciles(({ client }) => {
      void make(client, 'NOT_A_NAME');
      throw new Error('the handler failed');
    });
    stage.start();
    await stage.create('acme');
    const { message } = await stage.condition('acme', 'Ready', 'False');
    expect(message).to.equal('the handler failed');
  });

  it('keeps the finalizer if it fails in a clean-up', async () => {
    stage.operator
      .for(Tenant)
      .reconciles(() => undefined)
      .finalizes(({ client }) => void make(client, 'NOT_A_NAME'));
    stage.start();
    await stage.create('acme');
    await stage.condition('acme', 'Ready', 'True');
    await target.admin.delete(Tenant, stage.key('acme'));
    const { message } = await stage.condition('acme', 'Ready', 'False');
    expect(message).to.include('/NOT_A_NAME: 422');
  });
});
