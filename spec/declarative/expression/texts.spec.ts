import { expect } from 'chai';
import { dataErrorOf, evaluate, problemsOf } from './evaluate.js';

const document = {
  name: 'web',
  port: 80,
  ok: true,
  list: ['a', 1, false],
  dollars: '$&',
  bad: '(',
};

describe('Operators on strings', () => {
  for (const [source, result] of [
    [{ '@concat': ['$.name', '-', '$.port', '-', '$.ok'] }, 'web-80-true'],
    [{ '@concat': '$.list' }, 'a1false'],
    [{ '@concat': ['$.list'] }, 'a1false'],
    [{ '@concat': ['$.name'] }, 'web'],
    [{ '@concat': [] }, ''],
    [{ '@concat': [0.1, 1e21] }, '0.11e+21'],
    [{ '@concat': ['$.dollars', '.a'] }, '$&.a'],
    [{ '@split': ['a,,b', ','] }, ['a', '', 'b']],
    [{ '@split': ['a😀', ''] }, ['a', '😀']],
    [{ '@split': ['$.name', '/'] }, ['web']],
    [{ '@replace': ['$.name', 'e', '$.dollars'] }, 'w$&b'],
    [{ '@replace': ['a.a', 'a', ''] }, '.'],
    [{ '@regex': ['^w.b$', '$.name'] }, true],
    [{ '@regex': ['^W', '$.name'] }, false],
    [{ '@regex': ['(?im)^WEB$', 'a\nweb'] }, true],
    [{ '@regex': [{ '@concat': ['^', '$.name'] }, 'website'] }, true],
    [{ '@lower': 'ÄB' }, 'äb'],
    [{ '@upper': ['$.name'] }, 'WEB'],
  ] as const) {
    it(`evaluate ${JSON.stringify(source)} to ${JSON.stringify(result)}`, () => {
      expect(evaluate(source, document)).to.deep.equal(result);
    });
  }

  for (const [source, message] of [
    [{ '@concat': ['a', '$.missing'] }, '@concat: want a string, a number or a boolean, got null'],
    [{ '@concat': '$.name' }, '@concat: want a list, got "web"'],
    [{ '@split': ['$.port', ','] }, '@split: want a string, got 80'],
    [{ '@replace': ['$.name', '$.port', ''] }, '@replace: want a string, got 80'],
    [{ '@regex': ['$.bad', 'a'] }, '@regex: want a regular expression, got "("'],
    [{ '@regex': ['a', '$.missing'] }, '@regex: want a string, got null'],
    [{ '@lower': '$.port' }, '@lower: want a string, got 80'],
  ] as const) {
    it(`fail on ${JSON.stringify(source)}`, () => {
      expect(dataErrorOf(source, document).message).to.equal(message);
    });
  }

  it('refuse invalid literals when they are loaded, and say why a pattern is invalid', () => {
    const problems = [
      { '@concat': ['a', null, '$.a', { b: 1 }] },
      { '@upper': 3 },
      { '@split': ['a', '$.b', 'c'] },
      { '@replace': ['a', 'b'] },
    ].flatMap(problemsOf);
    expect(problems).to.deep.equal([
      '["@concat"][1]: @concat: want a string, a number or a boolean, got null',
      '["@concat"][3]: @concat: want a string, a number or a boolean, got {"b":1}',
      '["@upper"]: @upper: want a string, got 3',
      '["@split"]: @split: want 2 operands, got 3',
      '["@replace"]: @replace: want 3 operands, got 2',
    ]);
    const [problem, ...others] = problemsOf({ '@regex': ['a(', '$.name'] });
    expect(others).to.deep.equal([]);
    expect(problem).to.contain('["@regex"][0]: @regex: want a regular expression, got "a("');
    expect(problem).to.contain('missing closing )');
  });

  it('evaluate hostile patterns and strings from documents in linear time', () => {
    const text = `${'a'.repeat(5_000)}!`;
    for (const pattern of ['(a+)+$', '(a|aa)+$', '(?:a*)*b']) {
      expect(evaluate({ '@regex': [pattern, '$.text'] }, { text })).to.equal(false);
      const filter = `$.list[?(search(@, '${pattern}'))]`;
      expect(evaluate(filter, { list: [text] })).to.equal(null);
    }
  });

  it('accept a different pattern from each document', () => {
    const matches = { '@map': [{ '@regex': ['$$', '$.name'] }, ['^w', 'x', '^w', 'b$']] };
    expect(evaluate(matches, document)).to.deep.equal([true, false, true, true]);
  });
});
