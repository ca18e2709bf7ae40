import { expect } from 'chai';
import { operators } from '../../../lib/declarative/expression/operators/operators.js';
import { expressionReference } from '../../../scripts/docs/reference/expression-reference.js';
import { languageNotes } from '../../../scripts/docs/reference/language-notes.js';
import { timeOfExamples } from '../../../scripts/docs/reference/operator-reference.js';
import { VirtualClock } from '../../../lib/system/virtual-clock.js';
import { evaluate, problemsOf } from './evaluate.js';

const references = expressionReference.flatMap((group) => group.operators);
const clock = new VirtualClock(Date.parse(timeOfExamples));

describe('The reference of expressions in the documentation', () => {
  it('contains every operator exactly once', () => {
    const names = references.flatMap(({ name, aliases = [] }) => [name, ...aliases]);
    expect(names.toSorted()).to.deep.equal([...operators.keys()].toSorted());
  });

  for (const { name, examples } of [
    ...references,
    ...languageNotes.map(({ title, examples }) => ({ name: title, examples })),
  ]) {
    it(`has examples with the right results for ${name}`, () => {
      expect(examples).to.not.be.empty;
      for (const { expression, document = {}, result } of examples) {
        expect(evaluate(expression, document, { clock })).to.deep.equal(result);
      }
    });
  }

  for (const { name, operands } of references) {
    const { least, most } = operands;
    // The only operand of these operators is one value with a structure of its own.
    const special = ['@now', '@switch', '@dict'].includes(name);
    const wrong = [least - 1, most + 1].filter((count) => count >= 0 && count < Infinity);
    for (const count of special ? [] : wrong) {
      it(`refuses ${name} with ${count} operands`, () => {
        const problems = problemsOf({ [name]: Array.from({ length: count }, () => '$.a') });
        expect(problems.join()).to.contain(`${name}: want`).and.contain(`got ${count}`);
      });
    }
  }
});
