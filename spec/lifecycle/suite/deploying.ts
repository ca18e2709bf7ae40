import { expect } from 'chai';
import { configMap, deployment, nowhere } from './system.js';
import type { OpenStage } from './stage.js';

const created = [
  ...['CreateResourceSuccess ServiceAccount web', 'CreateResourceSuccess Deployment web'],
  'CreateResourceSuccess Service web',
];

/** Declares what a deployment leads to: its phases, versions, conditions, its one finalizer, and the exact events. */
export function deployingSuite(open: OpenStage): void {
  it('a configuration starts without a phase, and is Deploying with versions and one finalizer after a reconcile', async () => {
    const stage = await open();
    expect((await stage.status()).phase).to.equal(undefined);
    expect(await stage.pass('1.0.0')).to.deep.equal({
      ...{ phase: 'Deploying', versions: '1.0.0 1.0.0 -', conditions: 'F/T/F DeployStarted' },
      events: ['DeployStarted', ...created],
    });
    const { metadata } = await stage.config();
    expect(metadata.finalizers).to.deep.equal(['operator-builder.io/lifecycle']);
  });

  it('the reconciler sets phase, conditions and all versions when the pods are rolled out, and records one event about it', async () => {
    const stage = await open();
    await stage.pass('1.0.0');
    await stage.rolledOut();
    const deployed = { phase: 'Deployed', versions: '1.0.0 1.0.0 1.0.0' };
    const conditions = 'T/F/F DeployCompleted';
    expect(await stage.pass('1.0.0')).to.deep.equal({
      ...{ ...deployed, conditions, events: ['DeployCompleted'] },
    });
    await stage.operator.requests();
    expect(await stage.pass('1.0.0')).to.deep.equal({ ...deployed, conditions, events: [] });
    expect(await stage.writes()).to.deep.equal([]);
    expect((await stage.config()).metadata.finalizers).to.have.length(1);
  });

  it('a configuration stays Deploying, not Degraded, while the pods are not ready', async () => {
    const stage = await open();
    stage.resources = () => [deployment(stage.namespace, { pod: nowhere })];
    const deploying = { phase: 'Deploying', conditions: 'F/T/F DeployStarted' };
    for (let pass = 0; pass < 3; pass++) {
      expect(await stage.pass('1.0.0')).to.include(deploying);
    }
    expect(stage.events).to.deep.equal([]);
  });

  it('a configuration is not Deployed after its first reconcile, even if there is no rollout to wait for', async () => {
    const stage = await open();
    stage.resources = () => [];
    expect(await stage.pass('1.0.0')).to.include({ phase: 'Deploying' });
    expect(await stage.pass('1.0.0')).to.include({ phase: 'Deployed' });
  });

  it('the reconciler writes the finalizer first, then each object, then the status, each of them once', async () => {
    const stage = await open();
    await stage.operator.requests();
    await stage.pass('1.0.0');
    expect(await stage.writes()).to.deep.equal([
      'patch sampleconfigs',
      ...['create serviceaccounts', 'create deployments', 'create services'],
      'patch sampleconfigs',
    ]);
  });

  it('the reconciler calls preCreateHook once before it creates objects, and again only if the hook failed', async () => {
    const calls: string[] = [];
    const stage = await open({
      preCreateHook: async (_, { client }) => {
        const { items } = await client.list(
          { apiVersion: 'apps/v1', kind: 'Deployment' },
          { namespace: stage.namespace },
        );
        calls.push(`${items.length} Deployments`);
        if (calls.length === 1) throw new Error('no licence');
      },
    });
    expect(await stage.pass('1.0.0')).to.deep.equal({
      ...{ phase: undefined, versions: '- - -', conditions: 'F/T/T ReconcileFailed' },
      ...{ events: ['ReconcileFailed'], error: 'no licence' },
    });
    const { conditions } = await stage.status();
    expect(conditions?.at(-1)?.message).to.equal('preCreateHook: no licence');
    await stage.deploy('1.0.0');
    expect(calls).to.deep.equal(['0 Deployments', '0 Deployments']);
  });

  it('the reconciler continues after a crash between finalizer, objects and status', async () => {
    const stage = await open();
    await stage.pass('1.0.0');
    await stage.setStatus({ phase: null, conditions: null } as never);
    await stage.setStatus({ operatorVersion: null, targetVersion: null } as never);
    const seen = await stage.pass('1.0.0', stage.newReconciler());
    expect(seen).to.include({ phase: 'Deploying', versions: '1.0.0 1.0.0 -' });
    expect(seen.events).to.deep.equal(['DeployStarted']);
  });

  it('the reconciler reports an object that cannot be created, creates the others, and recovers', async () => {
    const stage = await open();
    const bad = deployment(stage.namespace, { replicas: -1 });
    stage.resources = () => [bad, configMap(stage.namespace)];
    const seen = await stage.pass('1.0.0');
    expect(seen).to.include({ phase: 'Deploying', conditions: 'F/T/T ReconcileFailed' });
    expect(seen.events).to.deep.equal([
      'DeployStarted',
      'CreateResourceFailed Deployment web',
      'CreateResourceSuccess ConfigMap settings',
    ]);
    expect(seen.error).to.match(/replicas/);
    const degraded = (await stage.status()).conditions?.find(({ type }) => type === 'Degraded');
    expect(degraded?.message).to.match(/could not create Deployment .*web: .*replicas/);
    stage.resources = () => [deployment(stage.namespace), configMap(stage.namespace)];
    expect(await stage.pass('1.0.0')).to.include({ conditions: 'F/T/F DeployStarted' });
  });

  it('the reconciler throws all errors of a reconcile, with their causes', async () => {
    const stage = await open();
    stage.resources = () => [
      deployment(stage.namespace, { name: 'one', replicas: -1 }),
      deployment(stage.namespace, { name: 'two', replicas: -1 }),
    ];
    const failed = await stage.reconciler
      .reconcile({ key: stage.key }, '1.0.0')
      .catch((error: unknown) => error);
    expect(failed).to.be.instanceOf(AggregateError);
    expect((failed as AggregateError).errors).to.have.length(2);
  });

  it('the reconciler ends without an error if the configuration is deleted by force meanwhile', async () => {
    const stage = await open({
      perishablesSynchronizer: async () => {
        await stage.edit({ metadata: { finalizers: null } });
        await stage.delete();
      },
    });
    stage.resources = () => [];
    expect(await stage.pass('1.0.0'))
      .to.include({ phase: undefined })
      .and.not.have.key('error');
  });

  it('the reconciler ends without an error if the configuration is deleted before the finalizer is added', async () => {
    const stage = await open();
    stage.resources = async () => {
      await stage.delete();
      return [];
    };
    expect(await stage.pass('1.0.0'))
      .to.include({ phase: undefined })
      .and.not.have.key('error');
    expect(await stage.exists()).to.equal(false);
  });

  it('the reconciler fails if the version of the operator is empty', async () => {
    const stage = await open();
    expect((await stage.pass('')).error).to.match(/operatorVersion is empty/);
  });

  it('the reconciler does nothing for a missing configuration', async () => {
    const stage = await open({ config: null });
    expect(await stage.pass('1.0.0')).to.deep.equal({
      ...{ phase: undefined, versions: '- - -', conditions: '-/-/-', events: [] },
    });
  });
}
