import { expect } from 'chai';
import fc from 'fast-check';
import { textDiff } from '../../lib/cli/object-texts.js';

/** Applies the diff like `patch`. */
function patched(before: readonly string[], diff: string): readonly string[] {
  const after: string[] = [];
  let next = 0;
  for (const line of diff.split('\n').slice(2, -1)) {
    const [, from, count] = /^@@ -(\d+),(\d+) /.exec(line) ?? [];
    if (from !== undefined) {
      const start = Number(from) - (count === '0' ? 0 : 1);
      while (next < start) after.push(before[next++] ?? '');
      continue;
    }
    if (line.startsWith('+')) after.push(line.slice(1));
    else {
      expect(before[next++]).to.equal(line.slice(1));
      if (line.startsWith(' ')) after.push(line.slice(1));
    }
  }
  return [...after, ...before.slice(next)];
}

const textOf = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('');

describe('textDiff', () => {
  it('shows changes with line numbers and context', () => {
    const before = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l'];
    const after = ['a', 'b', 'c', 'd', 'E', 'f', 'g', 'h', 'i', 'j', 'k', 'l', 'm'];
    expect(textDiff('x.yaml', textOf(before), textOf(after)).split('\n')).to.deep.equal([
      ...['--- x.yaml', '+++ x.yaml', '@@ -2,7 +2,7 @@'],
      ...[' b', ' c', ' d', '-e', '+E', ' f', ' g', ' h'],
      ...['@@ -10,3 +10,4 @@', ' j', ' k', ' l', '+m', ''],
    ]);
  });

  it('shows a created or deleted file', () => {
    expect(textDiff('x', undefined, 'a\n')).to.equal('--- /dev/null\n+++ x\n@@ -0,0 +1,1 @@\n+a\n');
    expect(textDiff('x', 'a\n', undefined)).to.equal('--- x\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-a\n');
  });

  it('describes the changes from one text to the other, and is empty for equal texts', () => {
    const lines = fc.array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 30 });
    const law = fc.property(lines, lines, (before, after) => {
      const diff = textDiff('x', textOf(before), textOf(after));
      expect(patched(before, diff)).to.deep.equal(after);
      if (textOf(before) === textOf(after)) expect(diff).to.equal('--- x\n+++ x\n');
    });
    fc.assert(law);
  });

  it('replaces all lines of large texts that have no lines in common', () => {
    const big = (word: string) => Array.from({ length: 2_500 }, (_, n) => `${word}${n}`);
    const diff = textDiff('x', textOf(big('a')), textOf(big('b')));
    expect(diff.split('\n')).to.have.length(2 + 1 + 5_000 + 1);
  });
});
