import { expect } from 'chai';
import { configMap, system } from './system.js';
import type { OpenStage, Stage } from './stage.js';

const legacy = 'operator.example.com/finalizer';
const theirs = 'example.com/held';

/** Declares how paused configurations, and those of a previous operator, are handled. */
export function takingOverSuite(open: OpenStage): void {
  const pausing: Record<string, string> = {
    'operator-builder.io/paused': 'true',
    'cluster.x-k8s.io/paused': 'true',
    'operatorkit.giantswarm.io/paused': 'yes',
  };
  const pauseAnnotations = { 'operatorkit.giantswarm.io/paused': 'yes' };
  for (const [name, value] of Object.entries(pausing)) {
    it(`the reconciler changes nothing while ${name} pauses the configuration, and reports the pause once`, async () => {
      const stage = await open({ pauseAnnotations });
      await stage.deploy('1.0.0');
      await stage.edit({ metadata: { annotations: { [name]: value } } });
      stage.resources = () => system(stage.namespace, { image: 'nginx:2' });
      for (const events of [['Paused'], []]) {
        expect(await stage.pass('1.1.0')).to.deep.equal({
          ...{ phase: 'Deployed', versions: '1.0.0 1.0.0 1.0.0' },
          ...{ conditions: 'T/F/F DeployCompleted PausedByAnnotation', events },
        });
      }
      expect(await stage.writes()).to.deep.equal(['patch sampleconfigs']);
      await stage.edit({ metadata: { annotations: { [name]: null } } });
      const { events, conditions } = await stage.pass('1.1.0');
      expect(events.slice(0, 2)).to.deep.equal(['Resumed', 'UpgradeStarted']);
      expect(conditions).to.equal('T/T/T UpgradeStarted');
    });
  }

  it('the reconciler does not start a deployment while the configuration is paused, and ignores other values of the annotation', async () => {
    const annotations = { 'operator-builder.io/paused': 'true' };
    const stage = await open({ config: { metadata: { annotations } } });
    await stage.pass('1.0.0');
    expect(await stage.isGone('Deployment', 'web')).to.equal(true);
    expect((await stage.config()).metadata.finalizers).to.equal(undefined);
    await stage.edit({ metadata: { annotations: { 'operator-builder.io/paused': 'yes' } } });
    expect(await stage.pass('1.0.0')).to.include({ phase: 'Deploying' });
  });

  it('the reconciler delays the deletion of a paused configuration until the pause ends, and reports the delay', async () => {
    const stage = await open();
    await stage.deploy('1.0.0');
    await stage.edit({ metadata: { annotations: { 'operator-builder.io/paused': 'true' } } });
    await stage.pass('1.0.0');
    await stage.delete();
    expect((await stage.pass('1.0.0')).events).to.deep.equal(['Paused']);
    const { conditions = [] } = await stage.status();
    expect(conditions.find(({ type }) => type === 'Paused')?.message).to.equal(
      'annotation operator-builder.io/paused: "true"; its deletion waits until the annotation is gone',
    );
    expect(await stage.isGone('Deployment', 'web')).to.equal(false);
    await stage.edit({ metadata: { annotations: { 'operator-builder.io/paused': null } } });
    await untilGone(stage);
  });

  const options = { legacyFinalizers: [legacy] };

  it('the reconciler replaces the finalizers of the previous operator in one write', async () => {
    const stage = await open({
      ...options,
      config: { metadata: { finalizers: [legacy, theirs] } },
    });
    stage.resources = () => [configMap(stage.namespace)];
    await stage.pass('1.0.0');
    const { finalizers } = (await stage.config()).metadata;
    expect(finalizers).to.deep.equal([theirs, 'operator-builder.io/lifecycle']);
    expect((await stage.writes()).filter((write) => write.includes('config'))).to.deep.equal([
      ...['patch sampleconfigs', 'create configmaps', 'patch sampleconfigs'],
    ]);
    await stage.edit({ metadata: { finalizers: null } });
  });

  it('the reconciler removes the finalizer of the previous operator together with its own', async () => {
    const stage = await open({
      ...options,
      config: { metadata: { finalizers: ['operator-builder.io/lifecycle', legacy] } },
    });
    await stage.pass('1.0.0');
    const { finalizers } = (await stage.config()).metadata;
    expect(finalizers).to.deep.equal(['operator-builder.io/lifecycle']);
  });

  it('the reconciler completes a deletion that the previous operator started', async () => {
    const stage = await open(options);
    await stage.deploy('1.0.0');
    // State that the previous operator would leave.
    await stage.edit({ metadata: { finalizers: [legacy] } });
    await stage.delete();
    await untilGone(stage);
    expect(await stage.isGone('Deployment', 'web')).to.equal(true);
  });
}

async function untilGone(stage: Stage): Promise<void> {
  await stage.target.eventually(async () => {
    await stage.pass('1.0.0');
    expect(await stage.exists()).to.equal(false);
  });
}
