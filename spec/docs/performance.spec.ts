import { expect } from 'chai';
import { performancePage } from '../../scripts/docs/performance.js';

describe('docs/performance.md', () => {
  it('shows the committed numbers (scripts/docs/draw.ts rewrites its tables and chart)', async () => {
    const { committed, expected } = await performancePage();
    expect(committed[0]).to.equal(expected[0]);
    expect(committed[1] === expected[1], 'the chart').to.equal(true);
  });
});
