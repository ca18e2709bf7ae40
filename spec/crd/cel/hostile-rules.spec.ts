import { expect } from 'chai';
import { CelCompileError, compileCel, dynType } from '../../../lib/crd/internal.js';

function failureOf(source: string): CelCompileError {
  try {
    compileCel(source, new Map([['self', dynType]]));
  } catch (error) {
    if (error instanceof CelCompileError) return error;
    throw error;
  }
  throw new Error(`compiles: ${source.slice(0, 40)}`);
}

/** Returns the different problems of a rule, each with its count and without the lines below it. */
function summary(source: string): readonly string[] {
  const counts = new Map<string, number>();
  for (const line of failureOf(source).message.split('\n')) {
    if (line.startsWith(' | ')) continue;
    const problem = line.replace(/^ERROR: <input>:\d+:\d+: /, '');
    counts.set(problem, (counts.get(problem) ?? 0) + 1);
  }
  return [...counts].map(([problem, count]) => `${count} × ${problem}`);
}

const list = (item: string, count: number): string => `[${`${item},`.repeat(count)}1]`;

// The numbers and texts are those of a real API server.
describe('checks of hostile CEL rules', () => {
  it('report at most 100 syntax errors, and stop parsing at the next', () => {
    const token = "100 × Syntax error: token recognition error at: '#'";
    const more = '1 more errors were truncated';
    expect(summary(`${'#'.repeat(100)}1`)).to.deep.equal([token]);
    for (const source of [`${'#'.repeat(101)}1`, '#'.repeat(100), '#'.repeat(100_000)]) {
      expect(summary(source)).to.deep.equal([token, `1 × ${more}`]);
    }
    expect(summary(`${list('if', 150)}${'#'.repeat(150)}`)).to.deep.equal([token, `1 × ${more}`]);
  });

  it('report 100 errors of other kinds, and count the rest', () => {
    const expected = { if: 'reserved identifier: if', 'has(1)': 'invalid argument to has() macro' };
    for (const [item, problem] of Object.entries(expected)) {
      expect(summary(list(item, 100))).to.deep.equal([`100 × ${problem}`]);
      expect(summary(list(item, 3000))).to.deep.equal([
        `100 × ${problem}`,
        '1 × 2900 more errors were truncated',
      ]);
    }
    expect(summary(list('zz', 150))).to.deep.equal([
      "100 × undeclared reference to 'zz' (in container '')",
      '1 × 50 more errors were truncated',
    ]);
    expect(failureOf(list('if', 3000)).issues).to.have.length(100);
  });

  it('report each error in the target of a macro twice, as the real server does, up to 100 errors', () => {
    const problem = "undeclared reference to 'nope' (in container '')";
    const chain = (links: number): string => `nope${'.optMap(a, a)'.repeat(links)}`;
    expect(summary(chain(3))).to.deep.equal([`8 × ${problem}`]);
    const [first] = summary(chain(50));
    expect(first).to.equal(`100 × ${problem}`);
  });

  it('report syntax errors before other errors, up to 100 in all', () => {
    expect(summary(`${list('if', 99)}${'#'.repeat(99)}`)).to.deep.equal([
      '1 × reserved identifier: if',
      "99 × Syntax error: token recognition error at: '#'",
      '1 × 98 more errors were truncated',
    ]);
  });

  it('stop parsing after 30 syntax errors, and skip up to 256 tokens after each of them', () => {
    const recovery = '1 × Syntax error: error recovery attempt limit exceeded: 30';
    const extra = "Syntax error: extraneous input '2' expecting ')'";
    expect(summary(list('(1 2)', 30))).to.deep.equal([`30 × ${extra}`]);
    expect(summary(list('(1 2)', 3000))).to.deep.equal([`30 × ${extra}`, recovery]);
    expect(summary(`1${'+a.'.repeat(3000)}`)).to.deep.equal([
      "31 × Syntax error: no viable alternative at input '.+'",
      recovery,
    ]);
    const skipped = "1 × Syntax error: no viable alternative at input '. 1'";
    expect(summary(`a.${' 1'.repeat(255)}`)).to.deep.equal([skipped]);
    expect(summary(`a.${' 1'.repeat(256)}`)).to.deep.equal([
      '1 × ERROR: <input>:-1:0: error recovery token lookahead limit exceeded: 256',
      skipped,
    ]);
  });

  it('refuse expressions longer than 100,000 code points', () => {
    const text = (count: number): string => `'${'😀'.repeat(count)}'==''`;
    compileCel(text(99_994), new Map());
    expect(failureOf(text(99_995)).message).to.equal(
      'ERROR: <input>:-1:0: expression code point size exceeds limit: size: 100001, limit 100000',
    );
  });

  it('quote no line longer than 16,384 bytes', () => {
    const line = `'${'a'.repeat(16_379)}'+zz`;
    expect(failureOf(line).message.split('\n')[1]).to.equal(` | ${line}`);
    const at = 'ERROR: <input>:1:16384: undeclared reference to';
    expect(failureOf(`'${'a'.repeat(16_380)}'+zz`).message).to.equal(
      `${at} 'zz' (in container '')`,
    );
  });

  it('mark a position below full-width characters with full-width dots', () => {
    expect(failureOf("'é😀' + zz").message.split('\n').at(-1)).to.equal(' | .．．....^');
    expect(failureOf("'é' + é1").message.split('\n').at(-1)).to.equal(' | .．....＾');
  });

  it('refuse a chain of more than 250 member accesses, operators or calls', () => {
    const message = 'ERROR: <input>:-1:0: max recursion depth exceeded';
    for (const link of ['.a', '[0]', '.size()', '+1', '.?a']) {
      expect(failureOf(`self${link.repeat(10_000)}`).message).to.equal(message);
      expect(failureOf(`self${link.repeat(250)} == 1`).message).to.equal(message);
    }
    compileCel(`self${'.a'.repeat(249)} == 1`, new Map([['self', dynType]]));
    compileCel(Array(999).fill('true').join(' && '), new Map());
    // Logic operators, lists and functions do not count.
    const path = `self${'.a'.repeat(130)}`;
    for (const [open, close] of [
      ['(true && ', ')'],
      ['(false || ', ')'],
      ['!', ''],
      ['[', ']'],
      ['string(', ')'],
    ] as const) {
      const source = `${open.repeat(130)}${path}${close.repeat(130)}`;
      compileCel(source, new Map([['self', dynType]]));
    }
  });
});
