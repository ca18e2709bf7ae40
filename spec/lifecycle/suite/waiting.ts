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
    it(`names a ${kind} that is not ready, in a deployment and in an upgrade`, async () => {
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

  it('names a pruned object held by a finalizer, and reports its deletion once it is gone', async () => {
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

  it('clears the names from the conditions once the wait is over', async () => {
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
