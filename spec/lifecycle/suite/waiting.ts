import { expect } from 'chai';
import { configMap, deployment, nowhere } from './system.js';
import type { OpenStage, Stage } from './stage.js';

/** Declares that the conditions name the objects waited for. */
export function waitingSuite(open: OpenStage): void {
  for (const [kind, apiVersion, state] of [
    ['Deployment', 'apps/v1', 'rolling out'],
    ['StatefulSet', 'apps/v1', 'rolling out'],
    ['Job', 'batch/v1', 'running'],
  ] as const) {
    it(`the reconciler names a ${kind} that is not ready, in a deployment and in an upgrade`, async () => {
      const stage = await open();
      stage.resources = () => [hanging(stage, kind, apiVersion)];
      await stage.pass('1.0.0');
      await stage.pass('1.0.0');
      const waits = `waiting for ${kind} ${stage.namespace}/hanging: ${state}`;
      expect(await messageOf(stage, 'Progressing')).to.equal(
        `deployment of 1.0.0 has begun; ${waits}`,
      );
      stage.resources = () => [configMap(stage.namespace)];
      await stage.deploy('1.0.0');
      stage.resources = () => [hanging(stage, kind, apiVersion)];
      await stage.pass('1.1.0');
      await stage.pass('1.1.0');
      expect(await messageOf(stage, 'Degraded')).to.equal(
        `upgrade from 1.0.0 to 1.1.0 has begun; ${waits}`,
      );
    });
  }

  it('the reconciler names a pruned object that a finalizer holds, and reports its deletion when it is gone', async () => {
    const stage = await open();
    const { namespace } = stage;
    stage.resources = () => [configMap(namespace, 'old'), configMap(namespace)];
    await stage.deploy('1.0.0');
    await stage.touch('ConfigMap', 'old', { metadata: { finalizers: ['example.com/held'] } });
    stage.resources = () => [configMap(namespace)];
    for (const version of ['1.0.0', '1.1.0']) {
      const seen = [await stage.pass(version), await stage.pass(version)];
      const events = seen.flatMap((each) => each.events);
      expect(events).to.deep.equal(version === '1.0.0' ? [] : ['UpgradeStarted']);
      const type = version === '1.0.0' ? 'Available' : 'Degraded';
      await stage.target.eventually(async () => {
        await stage.pass(version);
        expect(await messageOf(stage, type)).to.match(
          / waiting for ConfigMap \S+\/old: deletion requested, held by finalizers example\.com\/held$/,
        );
      });
    }
    await stage.touch('ConfigMap', 'old', { metadata: { finalizers: null } });
    const events: string[] = [];
    await stage.target.eventually(async () => {
      const { phase, ...seen } = await stage.pass('1.1.0');
      events.push(...seen.events);
      expect(phase).to.equal('Deployed');
    });
    expect(events).to.deep.equal(['DeleteResourceSuccess ConfigMap old', 'DeployCompleted']);
    expect(await messageOf(stage, 'Available')).to.equal('1.1.0 is deployed');
  });

  for (const [name, perishablesSyncIntervalMs, delays] of [
    ['soon after a write, and rarely while it waits', 300_000, [1_000, 10_000, 30_000, 300_000]],
    ['at the interval of perishables at the latest', 400, [400, 400, 400, 400]],
  ] as const) {
    it(`the reconciler requeues the configuration ${name}`, async () => {
      const stage = await open({ perishablesSyncIntervalMs });
      const { namespace } = stage;
      const delay = async (): Promise<unknown> =>
        stage.reconciler.reconcile({ key: stage.key }, '1.0.0');
      const after = (place: number) => ({ type: 'requeueAfter', afterMs: delays[place] });
      const [written, waits, isBlocked, healthy] = [0, 1, 2, 3].map(after);
      stage.resources = () => [configMap(namespace), deployment(namespace, { pod: nowhere })];
      expect(await delay()).to.deep.equal(written);
      expect(await delay()).to.deep.equal(waits);
      stage.resources = () => undefined;
      expect(await delay()).to.deep.equal(isBlocked);
      stage.resources = () => [configMap(namespace)];
      await stage.deploy('1.0.0');
      expect(await delay()).to.deep.equal(healthy);
      await stage.touch('ConfigMap', 'settings', {
        metadata: { finalizers: ['example.com/held'] },
      });
      stage.resources = () => [];
      expect(await delay()).to.deep.equal(waits);
      // A deletion renews no perishables.
      await stage.delete();
      expect(await delay()).to.deep.equal({ type: 'requeueAfter', afterMs: 5_000 });
      await stage.touch('ConfigMap', 'settings', { metadata: { finalizers: null } });
      expect(await delay()).to.deep.equal({ type: 'done' });
    });
  }

  it('the reconciler requeues soon after it has requested a deletion', async () => {
    const stage = await open();
    stage.resources = () => [configMap(stage.namespace)];
    await stage.deploy('1.0.0');
    await stage.touch('ConfigMap', 'settings', { metadata: { finalizers: ['example.com/held'] } });
    await stage.delete();
    const result = await stage.reconciler.reconcile({ key: stage.key }, '1.0.0');
    expect(result).to.deep.equal({ type: 'requeueAfter', afterMs: 1_000 });
    await stage.touch('ConfigMap', 'settings', { metadata: { finalizers: null } });
  });

  it('the reconciler removes the names of the objects that it waited for from the conditions when they are ready', async () => {
    const stage = await open();
    const { namespace } = stage;
    stage.resources = () => [configMap(namespace, 'old'), configMap(namespace)];
    await stage.deploy('1.0.0');
    await stage.touch('ConfigMap', 'old', { metadata: { finalizers: ['example.com/held'] } });
    stage.resources = () => [configMap(namespace)];
    await stage.pass('1.0.0');
    expect(await messageOf(stage, 'Available')).to.include('waiting for ConfigMap');
    await stage.touch('ConfigMap', 'old', { metadata: { finalizers: null } });
    await stage.target.eventually(async () => {
      await stage.pass('1.0.0');
      expect(await messageOf(stage, 'Available')).to.equal('1.0.0 is deployed');
    });
    await stage.operator.requests();
    await stage.pass('1.0.0');
    expect(await stage.writes()).to.deep.equal([]);
  });
}

async function messageOf(stage: Stage, type: string): Promise<string | undefined> {
  const { conditions = [] } = await stage.status();
  return conditions.find((one) => one.type === type)?.message;
}

function hanging({ namespace }: Stage, kind: string, apiVersion: string): object {
  if (kind === 'Deployment') return deployment(namespace, { name: 'hanging', pod: nowhere });
  const labels = { app: 'hanging' };
  const pod = { containers: [{ name: 'web', image: 'x' }], ...nowhere };
  const metadata = { name: 'hanging', namespace };
  if (kind === 'Job') {
    const template = { spec: { ...pod, restartPolicy: 'Never' } };
    return { apiVersion, kind, metadata, spec: { template } };
  }
  const template = { metadata: { labels }, spec: pod };
  const spec = { selector: { matchLabels: labels }, serviceName: 'web', template };
  return { apiVersion, kind, metadata, spec };
}
