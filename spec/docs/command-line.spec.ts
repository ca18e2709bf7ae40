import { expect } from 'chai';
import { commandLinePage, committedCommandLinePage } from '../../scripts/docs/command-line.js';

describe('docs/command-line.md', () => {
  it('has what the commands say of themselves; scripts/docs/draw.ts writes it anew', async () => {
    const page = await committedCommandLinePage();
    expect(page).to.equal(await commandLinePage());
    expect(page).to.include('## `operator-builder declarative run`').and.include('--kubeconfig');
  });
});
