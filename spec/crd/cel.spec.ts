import { expect } from 'chai';
import { EmbeddedCluster } from '../../lib/apiserver/index.js';
import { compileCel } from '../../lib/crd/cel/program.js';
import { celExpressions } from './suite/cel-expressions.js';
import { localVerdicts, serverVerdicts } from './suite/cel-verdicts.js';
import type { Verdicts } from './suite/cel-verdicts.js';
import recorded from './recorded/cel-verdicts.json' with { type: 'json' };

const real: Verdicts = recorded;

describe('CEL', () => {
  it('has a recorded verdict of the real server for every expression', () => {
    expect(Object.keys(real)).to.have.members([...celExpressions]);
    expect(celExpressions.length).to.be.greaterThan(600);
  });

  it('gives the results and messages of the real server', () => {
    expect(localVerdicts()).to.deep.equal(real);
  });

  it('gives the same results on the embedded server as in validate', async () => {
    const cluster = await EmbeddedCluster.start();
    // The engine is the same; a sample shows that the server uses it.
    const some = celExpressions.filter((_, index) => index % 10 === 0);
    const verdicts = await serverVerdicts(cluster.client(), 'cel.example.com', some);
    await cluster.stop();
    const wanted = Object.fromEntries(some.map((one) => [one, real[one] ?? '']));
    expect(verdicts).to.deep.equal(wanted);
  });

  it('reports the position of an error after characters of two code units', () => {
    const compile = () => compileCel('"😀" == nope', new Map());
    expect(compile).to.throw('<input>:1:8: undeclared reference to');
  });

  it('refuses deeply nested expressions', () => {
    const deep = `${'('.repeat(300)}1${')'.repeat(300)} == 1`;
    expect(() => compileCel(deep, new Map())).to.throw('recursion limit');
  });

  it('names function and types of a dynamic call without an overload, except for tests of strings', () => {
    const evaluate = (source: string) => () => compileCel(source, new Map()).evaluate({});
    for (const name of ['contains', 'endsWith', 'matches', 'startsWith']) {
      expect(evaluate(`dyn(1).${name}('a')`)).to.throw(/^no such overload$/);
    }
    expect(evaluate("dyn(1).replace('a', 'b') == ''")).to.throw(
      'no such overload: replace(int, string, string)',
    );
  });
});
