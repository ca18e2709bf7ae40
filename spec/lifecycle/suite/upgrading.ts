import { expect } from 'chai';
import omit from 'lodash/omit.js';
import { forwarding } from '../../../lib/client/client-wrappers.js';
import { configMap, deployment, nowhere, system } from './system.js';
import type { OpenStage, Stage } from './stage.js';

/** Declares upgrades by semantic version, releases without an upgrade, downgrades, and removals of unused objects. */
export function upgradingSuite(open: OpenStage): void {
  const upgrades = [
    { from: 'v1.9.4', to: 'v1.9.5' },
    { from: 'devel', to: 'v1.9.5' },
    { from: '1.9.4', to: '1.9.5' },
    { from: 'v1.9.4', to: '1.10.0' },
    { from: '', to: '1.9.5' },
  ];
  for (const { from, to } of upgrades) {
    it(`an upgrade from ${from === '' ? 'no version' : from} to ${to} changes observedVersion only when it is complete`, async () => {
      const stage = await open();
      await stage.deploy(from === '' ? '1.0' : from);
      if (from === '') await stage.setStatus({ observedVersion: '' });
      stage.resources = newer(stage);
      const old = from === '' ? '' : from;
      expect(await stage.pass(to)).to.deep.equal({
        ...{ phase: 'Upgrading', versions: `${to} ${to} ${old}` },
        conditions: 'T/T/T UpgradeStarted',
        events: ['UpgradeStarted', 'UpdateResourceSuccess Deployment web'],
      });
      await stage.rolledOut();
      expect(await stage.pass(to)).to.deep.equal({
        ...{ phase: 'Deployed', versions: `${to} ${to} ${to}` },
        ...{ conditions: 'T/F/F DeployCompleted', events: ['DeployCompleted'] },
      });
    });
  }

  for (const [one, other] of [
    ...[['v1.9.5', 'v1.9.5'] as const, ['devel', 'devel'] as const],
    ...[['latest', 'latest'] as const, ['v1.9.5', '1.9.5'] as const],
  ]) {
    it(`the reconciler does not upgrade from ${one} to ${other}`, async () => {
      const stage = await open();
      await stage.deploy(one);
      const seen = await stage.pass(other);
      expect(seen).to.include({ phase: 'Deployed', conditions: 'T/F/F DeployCompleted' });
      expect(seen.events).to.deep.equal([]);
    });
  }

  it('the reconciler refuses a downgrade with a condition and one event, and changes nothing else', async () => {
    const stage = await open();
    await stage.deploy('1.9.5');
    const before = await stage.status();
    stage.resources = newer(stage);
    const refused = { phase: 'Deployed', versions: '1.9.5 1.9.5 1.9.5' };
    expect(await stage.pass('1.9.4')).to.deep.equal({
      ...{ ...refused, conditions: 'T/F/F DeployCompleted Downgrade' },
      events: ['DowngradeRefused'],
    });
    const { conditions = [], ...rest } = await stage.status();
    expect(conditions.slice(0, -1)).to.deep.equal(before.conditions);
    expect(rest).to.deep.equal(omit(before, 'conditions'));
    expect(conditions.at(-1)).to.include({ type: 'DowngradeRefused', status: 'True' });
    await stage.operator.requests();
    expect(await stage.pass('1.9.4')).to.deep.include({ ...refused, events: [] });
    expect(await stage.writes()).to.deep.equal([]);
    expect(await imageOf(stage)).to.equal('nginx:1');
    // The next version of the operator removes the condition DowngradeRefused.
    stage.resources = () => system(stage.namespace);
    expect(await stage.pass('1.9.5')).to.include({ conditions: 'T/F/F DeployCompleted' });
  });

  it('the reconciler refuses a downgrade even after the phase was removed from the status', async () => {
    const stage = await open();
    await stage.deploy('1.9.5');
    await stage.setStatus({ phase: '' });
    expect((await stage.pass('1.9.4')).events).to.deep.equal(['DowngradeRefused']);
    const seen = await stage.pass('1.9.5');
    expect(seen).to.include({ phase: 'Deploying', versions: '1.9.5 1.9.5 1.9.5' });
    // The deployment continues from the deployed version, so an older operator refuses it, too.
    expect(await stage.pass('1.9.4')).to.deep.include({
      ...{ phase: 'Deploying', versions: '1.9.5 1.9.5 1.9.5', events: ['DowngradeRefused'] },
    });
    await stage.deploy('1.9.5');
  });

  it('an upgrade is not complete while an object to prune still exists', async () => {
    const stage = await open();
    stage.resources = () => [configMap(stage.namespace, 'old')];
    await stage.deploy('1.0.0');
    await stage.touch('ConfigMap', 'old', { metadata: { finalizers: ['example.com/held'] } });
    stage.resources = () => [];
    for (let pass = 0; pass < 3; pass++) {
      expect(await stage.pass('1.1.0')).to.include({ phase: 'Upgrading' });
    }
    await stage.touch('ConfigMap', 'old', { metadata: { finalizers: null } });
    await stage.deploy('1.1.0');
  });

  it('an upgrade prunes objects that are missing from the cache before it completes, and deletes them only with the UID it has read', async () => {
    const stage = await open();
    const { namespace } = stage;
    stage.resources = () => [configMap(namespace, 'old')];
    await stage.deploy('1.0.0');
    stage.resources = () => [];
    const { client: live } = stage.operator;
    const deleted: unknown[] = [];
    const client = Object.assign(forwarding(live), { live });
    client.list = () => Promise.resolve({ items: [], metadata: {} } as never);
    client.delete = (type, key, options) => {
      deleted.push(options?.preconditions?.uid);
      return live.delete(type, key, options);
    };
    const { uid } = (await stage.get('ConfigMap', 'old')).metadata;
    const reconciler = stage.newReconciler({ client });
    await stage.target.eventually(async () => {
      expect(await stage.pass('1.1.0', reconciler)).to.include({ phase: 'Deployed' });
    });
    expect(await stage.isGone('ConfigMap', 'old')).to.equal(true);
    expect(deleted).to.deep.equal([uid]);
  });

  it('a downgrade neither calls getAllResources nor changes objects', async () => {
    const stage = await open();
    await stage.deploy('1.9.5');
    stage.resources = () => {
      throw new Error('an older operator knows nothing of this configuration');
    };
    expect(await stage.pass('1.9.4')).to.not.have.property('error');
  });

  it('an upgrade prunes unused objects only at its end, after the rollout', async () => {
    const stage = await open();
    const { namespace } = stage;
    stage.resources = () => [configMap(namespace, 'old'), deployment(namespace)];
    await stage.deploy('1.0.0');
    stage.resources = () => [
      configMap(namespace, 'new'),
      deployment(namespace, { image: 'nginx:2' }),
    ];
    expect(await stage.pass('1.1.0')).to.include({ phase: 'Upgrading' });
    expect(await stage.isGone('ConfigMap', 'old')).to.equal(false);
    await stage.rolledOut();
    const events: string[] = [];
    await stage.target.eventually(async () => {
      const seen = await stage.pass('1.1.0');
      events.push(...seen.events);
      expect(seen.phase).to.equal('Deployed');
    });
    expect(events).to.deep.equal(['DeleteResourceSuccess ConfigMap old', 'DeployCompleted']);
    expect(await stage.isGone('ConfigMap', 'old')).to.equal(true);
    expect(await stage.isGone('ConfigMap', 'new')).to.equal(false);
  });

  it('the reconciler prunes objects that are no longer desired even if the version is the same', async () => {
    const stage = await open();
    const { namespace } = stage;
    stage.resources = () => [configMap(namespace, 'old'), configMap(namespace)];
    await stage.deploy('1.0.0');
    stage.resources = () => [configMap(namespace)];
    const events: string[] = [];
    await stage.target.eventually(async () => {
      events.push(...(await stage.pass('1.0.0')).events);
      expect(events).to.not.deep.equal([]);
    });
    expect(events).to.deep.equal(['DeleteResourceSuccess ConfigMap old']);
    expect(await stage.isGone('ConfigMap', 'old')).to.equal(true);
    expect(await stage.pass('1.0.0')).to.deep.equal({
      ...{ phase: 'Deployed', versions: '1.0.0 1.0.0 1.0.0' },
      ...{ conditions: 'T/F/F DeployCompleted', events: [] },
    });
  });

  it('the reconciler prunes no object that it does not own, or that it did not label', async () => {
    const stage = await open();
    const { namespace, admin } = stage;
    stage.resources = () => [
      configMap(namespace, 'a'),
      configMap(namespace, 'b'),
      configMap(namespace),
    ];
    await stage.deploy('1.0.0');
    await admin.create(configMap(namespace, 'of-somebody'));
    await stage.touch('ConfigMap', 'a', { metadata: { ownerReferences: null } });
    const labels = { 'operator-builder.io/create-version': null };
    await stage.touch('ConfigMap', 'b', { metadata: { labels } });
    stage.resources = () => [];
    await stage.deploy('1.1.0');
    const kept = await Promise.all(
      ['of-somebody', 'a', 'b'].map((name) => stage.isGone('ConfigMap', name)),
    );
    expect(kept).to.deep.equal([false, false, false]);
  });

  it('an upgrade does not complete in its first reconcile, even if nothing changes', async () => {
    const stage = await open();
    await stage.deploy('1.0.0');
    expect(await stage.pass('1.1.0')).to.deep.equal({
      ...{ phase: 'Upgrading', versions: '1.1.0 1.1.0 1.0.0' },
      ...{ conditions: 'T/T/T UpgradeStarted', events: ['UpgradeStarted'] },
    });
    expect((await stage.pass('1.1.0')).events).to.deep.equal(['DeployCompleted']);
  });

  it('a configuration is Upgrading and Degraded until the new pods are ready, and recovers through a newer version', async () => {
    const stage = await open();
    await stage.deploy('1.0.0');
    stage.resources = () => [deployment(stage.namespace, { image: 'nginx:2', pod: nowhere })];
    for (let pass = 0; pass < 3; pass++) {
      expect(await stage.pass('1.1.0')).to.include({
        ...{ phase: 'Upgrading', versions: '1.1.0 1.1.0 1.0.0' },
        conditions: 'T/T/T UpgradeStarted',
      });
    }
    stage.resources = newer(stage);
    const seen = await stage.pass('1.2.0');
    expect(seen).to.include({ phase: 'Upgrading', versions: '1.2.0 1.2.0 1.0.0' });
    expect(seen.events[0]).to.equal('UpgradeStarted');
    await stage.deploy('1.2.0');
  });

  it('an upgrade can be rolled back by the operator of the earlier version until the upgrade is complete', async () => {
    const stage = await open();
    await stage.deploy('1.0.0');
    stage.resources = () => [deployment(stage.namespace, { pod: nowhere })];
    await stage.pass('1.1.0');
    stage.resources = () => [deployment(stage.namespace)];
    expect(await stage.pass('1.0.0')).to.deep.include({
      ...{ phase: 'Upgrading', versions: '1.0.0 1.0.0 1.0.0' },
      conditions: 'T/T/T RollbackStarted',
      events: ['RollbackStarted', 'UpdateResourceSuccess Deployment web'],
    });
    const { conditions = [] } = await stage.status();
    const messages = conditions.flatMap(({ message }) => message ?? []);
    expect(messages.join()).to.match(/^rollback to 1\.0\.0 has begun/);
    await stage.deploy('1.0.0');
  });

  it('the reconciler records UpgradeStarted and one warning for each version if operators of two versions compete', async () => {
    const stage = await open();
    await stage.deploy('1.0.0');
    stage.resources = () => [deployment(stage.namespace, { image: 'nginx:2', pod: nowhere })];
    const [one, other] = [stage.newReconciler(), stage.newReconciler()];
    const events: string[] = [];
    for (let turn = 0; turn < 4; turn++) {
      events.push(...(await stage.pass('1.1.0', one)).events);
      events.push(...(await stage.pass('1.2.0', other)).events);
    }
    expect(events.filter((event) => !event.startsWith('UpdateResource'))).to.deep.equal([
      ...['UpgradeStarted', 'UpgradeStarted', 'OperatorsCompete', 'OperatorsCompete'],
    ]);
  });

  it('the reconciler records UpgradeStarted once although writing the status failed, and does not report a competing operator', async () => {
    let edits = 0;
    const stage = await open({
      perishablesSynchronizer: async () => {
        if (edits++ === 0) await stage.edit({ spec: { changed: 'yes' } });
      },
    });
    edits = 1;
    await stage.deploy('1.0.0');
    stage.resources = newer(stage);
    edits = 0;
    const passes = [await stage.pass('1.1.0'), await stage.pass('1.1.0')];
    const events = passes.flatMap((pass) => pass.events);
    expect(events.filter((event) => /^Upgrade|^Operators/.test(event))).to.deep.equal([
      'UpgradeStarted',
    ]);
  });

  it('the reconciler deploys again after the status was removed, even if the build metadata of the version differs', async () => {
    const stage = await open();
    await stage.deploy('1.1.0');
    const wiped = Object.fromEntries(Object.keys(await stage.status()).map((key) => [key, null]));
    await stage.setStatus(wiped);
    expect(await stage.pass('1.1.0+build.8')).to.deep.include({
      ...{ phase: 'Deploying', events: ['DeployStarted'] },
    });
    await stage.deploy('1.1.0+build.8');
  });

  it('the reconciler refuses to deploy an older version although the status was removed', async () => {
    const stage = await open();
    await stage.deploy('1.1.0');
    const wiped = Object.fromEntries(Object.keys(await stage.status()).map((key) => [key, null]));
    await stage.setStatus(wiped);
    await stage.operator.requests();
    for (const events of [['DowngradeRefused'], []]) {
      const seen = await stage.pass('1.0.0', stage.newReconciler());
      expect(seen).to.deep.include({ phase: undefined, events });
      expect(seen.conditions).to.equal('-/-/- Downgrade');
    }
    expect(await stage.writes()).to.deep.equal(['patch sampleconfigs']);
    await stage.deploy('1.1.0');
    const { conditions = [] } = await stage.status();
    expect(conditions.map(({ type }) => type)).to.not.include('DowngradeRefused');
  });

  it('the reconciler continues an incomplete first deployment in the new version, without an upgrade', async () => {
    const stage = await open();
    await stage.pass('1.0.0');
    stage.resources = newer(stage);
    const seen = await stage.pass('1.1.0');
    expect(seen).to.include({ phase: 'Deploying', versions: '1.1.0 1.1.0 -' });
    expect(seen.events).to.deep.equal(['UpdateResourceSuccess Deployment web']);
  });

  it('the reconciler labels objects that it creates or changes with the version', async () => {
    const stage = await open();
    await stage.deploy('1.0.0');
    stage.resources = newer(stage);
    await stage.deploy('1.1.0+build/7');
    const { metadata } = await stage.get('Deployment', 'web');
    expect(metadata.labels?.['operator-builder.io/create-version']).to.equal('1.0.0');
    expect(metadata.labels?.['operator-builder.io/update-version']).to.match(/^1\.1\.0-build-7-/);
  });
}

function newer({ namespace }: Stage): Stage['resources'] {
  return () => system(namespace, { image: 'nginx:2' });
}

async function imageOf(stage: Stage): Promise<unknown> {
  const { spec } = await stage.get('Deployment', 'web');
  return (spec as { template: { spec: { containers: [{ image: string }] } } }).template.spec
    .containers[0].image;
}
