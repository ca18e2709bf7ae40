import { expect } from 'chai';
import { commandLinePage, committedCommandLinePage } from '../../scripts/docs/command-line.js';

describe('docs/command-line.md', () => {
  it("matches the commands' help texts (scripts/docs/draw.ts rewrites it)", async () => {
    const page = await committedCommandLinePage();
    expect(page).to.equal(await commandLinePage());
    expect(page).to.include('## `operator-builder declarative run`').and.include('--kubeconfig');
  });
});
