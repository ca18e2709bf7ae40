import { expect } from 'chai';
import { compileCel } from '../../../lib/crd/cel/program.js';

const evaluate = (source: string) => compileCel(source, new Map()).evaluate({});

describe('a field with the value null in CEL', () => {
  it('counts as absent, as on a real API server', () => {
    expect(() => evaluate('dyn(null).x == 1')).to.throw('no such key: x');
    expect(evaluate('has(dyn(null).x)')).to.equal(false);
    expect(evaluate("dyn(null).?x.orValue('') == ''")).to.equal(true);
  });
});
