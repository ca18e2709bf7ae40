import { expect } from 'chai';
import { phases } from '../../lib/lifecycle/lifecycle-status.js';
import { transitions } from '../../lib/lifecycle/reconciler/phases.js';
import { diagramOfPage, phaseDiagram } from '../../scripts/docs/phase-diagram.js';

describe('the phase diagram in docs/lifecycle.md', () => {
  it('matches the transition table (scripts/docs/draw.ts redraws it)', async () => {
    expect(await diagramOfPage()).to.equal(phaseDiagram(transitions));
  });

  it('has each arrow, from each phase, labelled with its event', () => {
    const drawn = phaseDiagram([
      { from: ['', 'Deployed'], on: 'DeployStarted', to: 'Deploying' },
      { from: ['Error'], on: 'SpecChanged', to: '' },
    ]);
    expect(drawn.split('\n').slice(3, -1)).to.deep.equal([
      '  None --> Deploying: DeployStarted',
      '  Deployed --> Deploying: DeployStarted',
      '  Error --> None: SpecChanged',
    ]);
  });

  it('reaches every phase', () => {
    const reached = new Set(transitions.map(({ to }) => to));
    expect(phases.filter((phase) => !reached.has(phase))).to.deep.equal([]);
  });
});
