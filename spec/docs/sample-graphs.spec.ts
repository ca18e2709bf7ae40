import { expect } from 'chai';
import { committedGraphs, sampleGraphs } from '../../scripts/docs/sample-graphs.js';

describe('pictures in docs/graphs', () => {
  it('match the graphs of the declarative samples (scripts/docs/draw.ts redraws them)', async () => {
    const wanted = await sampleGraphs();
    const committed = await committedGraphs();
    expect(wanted).to.not.be.empty;
    expect(committed.map(({ path }) => path)).to.deep.equal(wanted.map(({ path }) => path));
    for (const [place, { path, svg }] of committed.entries()) {
      expect(svg === wanted[place]?.svg, path).to.equal(true);
    }
  });
});
