import { expect } from 'chai';
import { nextPhase, transitions } from '../../../lib/lifecycle/reconciler/phases.js';
import { phases } from '../../../lib/lifecycle/lifecycle-status.js';
import type { Phase } from '../../../lib/lifecycle/index.js';
import type { LifecycleEvent } from '../../../lib/lifecycle/reconciler/phases.js';

describe('the phase table', () => {
  const arrows: readonly [Phase, LifecycleEvent, Phase][] = [
    ['', 'DeployStarted', 'Deploying'],
    ['', 'DeletionStarted', 'Deleting'],
    ['Deploying', 'DeployCompleted', 'Deployed'],
    ['Deploying', 'ConfigError', 'Error'],
    ['Deploying', 'DeletionStarted', 'Deleting'],
    ['Deployed', 'UpgradeStarted', 'Upgrading'],
    ['Deployed', 'ConfigError', 'Error'],
    ['Deployed', 'DeletionStarted', 'Deleting'],
    ['Upgrading', 'UpgradeStarted', 'Upgrading'],
    ['Upgrading', 'DeployCompleted', 'Deployed'],
    ['Upgrading', 'ConfigError', 'Error'],
    ['Upgrading', 'DeletionStarted', 'Deleting'],
    ['Error', 'SpecChanged', ''],
    ['Error', 'DeletionStarted', 'Deleting'],
    ['Deleting', 'DeletionCompleted', 'Deleted'],
    ['Deleting', 'ConfigError', 'Error'],
    ['Deleted', 'ConfigError', 'Error'],
  ];

  it('has exactly the documented transitions', () => {
    const events = new Set(transitions.map(({ on }) => on));
    const drawn = transitions.flatMap(({ from, on, to }) => from.map((one) => [one, on, to]));
    expect(drawn).to.have.deep.members(arrows.map((arrow) => [...arrow]));
    for (const phase of phases) {
      for (const event of events) {
        const to = arrows.find(([from, on]) => from === phase && on === event)?.[2];
        expect(nextPhase(phase, event), `${phase} ${event}`).to.equal(to ?? phase);
      }
    }
  });

  it('can reach every phase, and can leave every phase', () => {
    const reached = new Set<Phase>(['']);
    for (const phase of reached) {
      for (const [from, , to] of arrows) if (from === phase) reached.add(to);
    }
    expect(phases.filter((phase) => !reached.has(phase))).to.deep.equal([]);
    const stuck = phases.filter(
      (phase) => !arrows.some(([from, , to]) => from === phase && to !== phase),
    );
    expect(stuck).to.deep.equal([]);
  });
});
