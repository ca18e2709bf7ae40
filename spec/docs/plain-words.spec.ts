import { Linter } from 'eslint';
import { expect } from 'chai';
import { plainWords } from '../../scripts/language/rule.js';

const config: Linter.Config = {
  plugins: { language: { rules: { 'plain-words': plainWords } } },
  rules: { 'language/plain-words': 'error' },
};

function problems(code: string): string[] {
  return new Linter().verify(code, config).map(({ message }) => message);
}

describe('the check of words to avoid', () => {
  const again = '"anew" is not plain: write again.';

  it('finds an avoided word in a comment, a message and a title', () => {
    expect(problems('// Starts anew.\n')).to.deep.equal([again]);
    expect(problems('throw new Error(`${name}: start anew`);')).to.deep.equal([again]);
    expect(problems("it('starts anew', () => {});")).to.deep.equal([again]);
  });

  it('finds an avoided word across the lines of a comment', () => {
    const [problem] = problems('/**\n * Starts once\n * more.\n */\n');
    expect(problem).to.equal('"once more" is not plain: write again.');
  });

  it('ignores identifiers and values of one word', () => {
    expect(problems("const anew = { nobody: 'anew' };")).to.deep.equal([]);
  });

  it('ignores words in quoted and hyphenated names', () => {
    expect(problems(`const text = 'User "nobody" reads by-nobody';`)).to.deep.equal([]);
    expect(problems("const text = 'when dnsPolicy is None';")).to.deep.equal([]);
  });

  it('finds a doc comment that does not open with a verb or a noun', () => {
    const [problem] = problems('/** What the server does. */\n');
    expect(problem).to.match(/^"What" is not plain: write a verb/);
    expect(problems('// What the server does.\n')).to.deep.equal([]);
  });
});
