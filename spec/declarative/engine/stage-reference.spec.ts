import { expect } from 'chai';
import { stageNames } from '../../../lib/declarative/engine/compile-pipeline.js';
import { evaluateWhole } from './evaluate-whole.js';
import { stageReference } from '../../../scripts/docs/reference/stage-reference.js';
import { SummedPipeline, added, listed, planOf } from './pipelines.js';

describe('The reference of stages in the documentation', () => {
  it('contains every stage exactly once', () => {
    const names = stageReference.flatMap(({ name, aliases = [] }) => [name, ...aliases]);
    expect(names.toSorted()).to.deep.equal(stageNames.toSorted());
  });

  for (const { name, examples } of stageReference) {
    it(`has examples with the right results for ${name}`, () => {
      expect(examples).to.not.be.empty;
      for (const { sources, pipeline, result } of examples) {
        const plan = planOf(pipeline, Object.keys(sources));
        const running = new SummedPipeline(plan);
        for (const [source, documents] of Object.entries(sources)) {
          running.push(source, added(...documents));
        }
        expect(listed(running.snapshot())).to.have.deep.members([...result]);
        expect(evaluateWhole(plan, sources)).to.have.deep.members([...result]);
      }
    });
  }
});
