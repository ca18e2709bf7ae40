import { expect } from 'chai';
import chunk from 'lodash/chunk.js';
import { EmbeddedCluster } from '../../lib/apiserver/index.js';
import { compileCel } from '../../lib/crd/cel/program.js';
import { dynType } from '../../lib/crd/cel/types.js';
import { celExpressions } from './suite/cel-expressions.js';
import { celChunk, localVerdicts, serverVerdicts } from './suite/cel-verdicts.js';
import type { Verdicts } from './suite/cel-verdicts.js';
import edges from './recorded/cel-edge-verdicts.json' with { type: 'json' };
import recorded from './recorded/cel-verdicts.json' with { type: 'json' };

const real: Verdicts = recorded;

describe('CEL', () => {
  it('has a recorded result of a real API server for every expression', () => {
    expect(Object.keys(real)).to.have.members([...celExpressions]);
    expect(celExpressions.length).to.be.greaterThan(600);
  });

  it('gives the recorded results and messages of a real API server', () => {
    expect(localVerdicts()).to.deep.equal(real);
  });

  it('gives the recorded results of a real API server for extreme values of literals, operators and functions', () => {
    const wanted: Verdicts = edges;
    const expressions = Object.keys(edges);
    // All expressions together would exceed the limit for the estimated cost of rules.
    const chunks = chunk(expressions, celChunk).map((some) => localVerdicts(some));
    expect(Object.assign({}, ...chunks)).to.deep.equal(wanted);
  });

  it('gives the same results on the embedded server as in the method validate of a kind', async () => {
    const cluster = await EmbeddedCluster.start();
    // `validate` and the server use the same engine, so a tenth of the expressions suffices.
    const some = celExpressions.filter((_, index) => index % 10 === 0);
    const verdicts = await serverVerdicts(cluster.client(), 'cel.example.com', some);
    await cluster.stop();
    const wanted = Object.fromEntries(some.map((one) => [one, real[one] ?? '']));
    expect(verdicts).to.deep.equal(wanted);
  });

  it('reports the right position of an error after characters of two UTF-16 code units', () => {
    const compile = () => compileCel('"😀" == nope', new Map());
    expect(compile).to.throw('<input>:1:8: undeclared reference to');
  });

  it('reports each syntax error of an expression, as a real API server (v1.36) does', () => {
    const lines = (source: string): readonly string[] => {
      try {
        compileCel(source, new Map([['self', dynType]]));
        return [];
      } catch (error) {
        const { message } = error as Error;
        const found = message.matchAll(/^ERROR: <input>:1:(.*)$/gm);
        return [...found].map(([, line = '']) => line.replaceAll('Syntax error: ', ''));
      }
    };
    const start =
      "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";
    const messages: Readonly<Record<string, readonly string[]>> = {
      'self.if == 1 && self.__in__ == 2': [],
      "self.in == 'x'": [
        "6: no viable alternative at input '.in'",
        `9: extraneous input '==' expecting ${start}`,
      ],
      'has(self.in)': [
        '5: invalid argument to has() macro',
        "10: no viable alternative at input '.in'",
        `12: mismatched input ')' expecting ${start}`,
      ],
      'self.?in': [
        "7: mismatched input 'in' expecting {IDENTIFIER, ESC_IDENTIFIER}",
        '7: unsupported ident kind',
        `9: mismatched input '<EOF>' expecting ${start}`,
      ],
      'self[} +': [
        `6: mismatched input '}' expecting ${start.replace("'!', ", "'!', '?', ")}`,
        `9: mismatched input '<EOF>' expecting ${start}`,
      ],
      'self.true || !-self': [
        "6: mismatched input 'true' expecting IDENTIFIER",
        "16: no viable alternative at input '-self'",
      ],
      'self.null == self.false': [
        "6: mismatched input 'null' expecting IDENTIFIER",
        "19: mismatched input 'false' expecting IDENTIFIER",
      ],
      '.false == .null || .true': [
        "2: mismatched input 'false' expecting IDENTIFIER",
        "12: mismatched input 'null' expecting IDENTIFIER",
        "21: mismatched input 'true' expecting IDENTIFIER",
      ],
      '.true.a{b: 1}': ["2: mismatched input 'true' expecting IDENTIFIER"],
      '(1 2) == (3 4)': [
        "4: extraneous input '2' expecting ')'",
        "13: extraneous input '4' expecting ')'",
      ],
      'self.all(if, true)': ['10: reserved identifier: if', '10: argument must be a simple name'],
      'self.f(1 2)': ["10: extraneous input '2' expecting ')'"],
      '(self': ["6: missing ')' at '<EOF>'"],
      '[1 2]': ["4: extraneous input '2' expecting {']', ','}"],
      '[1,,2]': ["4: mismatched input ',' expecting ']'"],
      'self & 1': [
        "6: token recognition error at: '& '",
        "8: extraneous input '1' expecting <EOF>",
      ],
    };
    const got = Object.keys(messages).map((source) => [source, lines(source)]);
    expect(Object.fromEntries(got)).to.deep.equal(messages);
  });

  it('refuses a keyword after a dot as the variable of a macro', () => {
    const compile = () => compileCel('[1].all(.true, true)', new Map());
    expect(compile).to.throw('argument must be a simple name');
    expect(compile).to.throw("mismatched input 'true' expecting IDENTIFIER");
  });

  it('refuses deeply nested expressions', () => {
    const deep = `${'('.repeat(300)}1${')'.repeat(300)} == 1`;
    expect(() => compileCel(deep, new Map())).to.throw('recursion limit');
  });

  it('names the function and the types in the error of a call without a matching overload, except for string tests such as contains', () => {
    const evaluate = (source: string) => () => compileCel(source, new Map()).evaluate({});
    for (const name of ['contains', 'endsWith', 'matches', 'startsWith']) {
      expect(evaluate(`dyn(1).${name}('a')`)).to.throw(/^no such overload$/);
    }
    expect(evaluate("dyn(1).replace('a', 'b') == ''")).to.throw(
      'no such overload: replace(int, string, string)',
    );
  });

  it('finds the entries of a map by keys that are equal numbers of another type', () => {
    for (const source of [
      "{1: 'a'}[dyn(1.0)] == 'a'",
      "dyn(1.0) in {1u: 'a'}",
      '!(dyn(1.5) in {1: 2})',
    ]) {
      expect(compileCel(source, new Map()).evaluate({}), source).to.equal(true);
    }
  });

  it('computes the minutes of a time zone whose offset is not a whole hour', () => {
    const source = "timestamp('2024-02-29T12:20:45Z').getMinutes('Asia/Kolkata') == 50";
    expect(compileCel(source, new Map()).evaluate({})).to.equal(true);
  });

  it('refuses a time zone offset that moves a time out of the range of dates', () => {
    for (const zone of ['99999999999999999:00', '1:999999999999999999999']) {
      const source = `timestamp('2020-01-01T00:00:00Z').getHours('${zone}') >= 0`;
      const evaluate = () => compileCel(source, new Map()).evaluate({});
      expect(evaluate).to.throw(`unknown time zone ${zone}`);
    }
  });
});
