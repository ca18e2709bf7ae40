import { expect } from 'chai';
import { phases, transitions } from '../../lib/lifecycle/index.js';
import { diagramOfPage, phaseDiagram } from '../../scripts/docs/phase-diagram.js';

describe('The diagram of phases in docs/lifecycle.md', () => {
  it('is what the table of the state machine says; scripts/docs/draw.ts draws it anew', async () => {
    expect(await diagramOfPage()).to.equal(phaseDiagram(transitions));
  });

  it('has each arrow, from each phase, with the event on it', () => {
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
