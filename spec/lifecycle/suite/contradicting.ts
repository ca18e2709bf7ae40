import { expect } from 'chai';
import type { LifecycleStatus, Phase } from '../../../lib/lifecycle/index.js';
import type { OpenStage } from './stage.js';

/** Declares how an inconsistent status, such as a phase without a version, is handled. */
export function contradictingSuite(open: OpenStage): void {
  const reasons: [Phase, LifecycleStatus, RegExp][] = [
    ['Deployed', {}, /the phase is Deployed, and the deployed version is missing/],
    ['Upgrading', {}, /the phase is Upgrading, and the deployed version is missing/],
    ['Deploying', {}, /the phase is Deploying, and the deployed version is missing/],
    ['Error', {}, /the phase is Error, and the deployed version is missing/],
    ['Deleting', { operatorVersion: '1', observedVersion: '1' }, /and it is not being deleted/],
    ['Deleted', { operatorVersion: '1', observedVersion: '1' }, /and it is not being deleted/],
  ];
  for (const [phase, status, message] of reasons) {
    it(`an inconsistent status in phase ${phase} is reported as ConfigError until the spec changes, even after a restart`, async () => {
      const stage = await open();
      await stage.setStatus({ ...status, phase });
      expect(await stage.pass('1')).to.deep.include({ phase: 'Error', events: ['ConfigError'] });
      const { conditions = [] } = await stage.status();
      expect(conditions.find(({ type }) => type === 'Degraded')?.message).to.match(message);
      expect(conditions.map((one) => one.status.slice(0, 1)).join('/')).to.equal('F/F/T');
      const marks = (await stage.config()).metadata.annotations ?? {};
      expect(Object.keys(marks)).to.include('operator-builder.io/config-error');
      await stage.edit({ metadata: { labels: { touched: 'yes' } } });
      await stage.operator.requests();
      const again = await stage.pass('1', stage.newReconciler());
      expect(again).to.deep.include({ phase: 'Error', events: [] });
      expect(await stage.writes()).to.deep.equal([]);
      expect(await stage.isGone('Deployment', 'web')).to.equal(true);
      await stage.edit({ spec: { changed: 'yes' } });
      expect(await stage.pass('1')).to.include({
        phase: 'Deploying',
        conditions: 'F/T/F DeployStarted',
      });
      await stage.deploy('1');
    });
  }

  it('an inconsistent status does not prevent the deletion of the configuration', async () => {
    const stage = await open();
    await stage.setStatus({ phase: 'Deployed' });
    await stage.pass('1');
    await stage.delete();
    expect(await stage.exists()).to.equal(false);
  });
}
