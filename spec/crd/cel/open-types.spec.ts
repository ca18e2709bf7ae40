import { expect } from 'chai';
import { compileCel } from '../../../lib/crd/cel/program.js';
import { CelList } from '../../../lib/crd/cel/values.js';

describe('The type of an empty list in CEL', () => {
  it('is a list of dyn, so that a rule may use its items as any type', () => {
    const { type } = compileCel('[]', new Map());
    const program = compileCel("x.all(one, one > 1 && one == 'a')", new Map([['x', type]]));
    expect(program.evaluate({ x: new CelList([]) })).to.equal(true);
  });

  it('is shown as list(dyn) in errors', () => {
    expect(() => compileCel('[] + 1', new Map())).to.throw(
      "found no matching overload for '_+_' applied to '(list(dyn), int)'",
    );
  });
});
