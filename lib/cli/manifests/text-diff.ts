/** Number of unchanged lines around a change. */
const contextLines = 3;

// Above this, the diff replaces the whole text.
const mostComparisons = 4_000_000;

interface Line {
  readonly sign: ' ' | '-' | '+';
  readonly text: string;
}

/**
 * Returns the change of a file in the form of `diff -u`.
 * @param before - undefined: the file is created
 * @param after - undefined: the file is deleted
 */
export function textDiff(
  path: string,
  before: string | undefined,
  after: string | undefined,
): string {
  const lines = comparedLines(linesOf(before), linesOf(after));
  const from = before === undefined ? '/dev/null' : path;
  const to = after === undefined ? '/dev/null' : path;
  return [`--- ${from}`, `+++ ${to}`, ...hunksOf(lines), ''].join('\n');
}

function linesOf(text = ''): readonly string[] {
  const lines = text.split('\n');
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines;
}

function comparedLines(before: readonly string[], after: readonly string[]): readonly Line[] {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before[start] === after[start]) start++;
  let end = 0;
  while (end < shorter - start && before.at(-1 - end) === after.at(-1 - end)) end++;
  return [
    ...signed(' ', before.slice(0, start)),
    ...changedLines(
      before.slice(start, before.length - end),
      after.slice(start, after.length - end),
    ),
    ...signed(' ', before.slice(before.length - end)),
  ];
}

/** Compares by a longest common subsequence. */
function changedLines(before: readonly string[], after: readonly string[]): readonly Line[] {
  if (before.length * after.length > mostComparisons) {
    return [...signed('-', before), ...signed('+', after)];
  }
  const width = after.length + 1;
  // Length of the longest common subsequence of both rests, from each pair of lines on.
  const common = new Uint32Array((before.length + 1) * width);
  const at = (i: number, j: number): number => common[i * width + j] ?? 0;
  for (let i = before.length - 1; i >= 0; i--) {
    for (let j = after.length - 1; j >= 0; j--) {
      const isSame = before[i] === after[j];
      common[i * width + j] = isSame ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const lines: Line[] = [];
  let [i, j] = [0, 0];
  while (i < before.length && j < after.length) {
    if (before[i] === after[j]) {
      lines.push(...signed(' ', before.slice(i, i + 1)));
      i++;
      j++;
    } else if (at(i + 1, j) >= at(i, j + 1)) lines.push(...signed('-', before.slice(i, ++i)));
    else lines.push(...signed('+', after.slice(j, ++j)));
  }
  return [...lines, ...signed('-', before.slice(i)), ...signed('+', after.slice(j))];
}

function signed(sign: Line['sign'], texts: readonly string[]): readonly Line[] {
  return texts.map((text) => ({ sign, text }));
}

/** Groups changes with the lines around them. */
function hunksOf(lines: readonly Line[]): readonly string[] {
  const isNear = lines.map((_, index) =>
    lines
      .slice(Math.max(0, index - contextLines), index + contextLines + 1)
      .some(({ sign }) => sign !== ' '),
  );
  const texts: string[] = [];
  let [before, after] = [1, 1];
  for (let index = 0; index < lines.length; index++) {
    if (isNear[index] === true && isNear[index - 1] !== true) {
      const size = [...isNear, false].indexOf(false, index) - index;
      texts.push(placeOf(lines.slice(index, index + size), { before, after }));
    }
    const { sign, text } = lines[index] ?? { sign: ' ', text: '' };
    if (isNear[index] === true) texts.push(sign + text);
    if (sign !== '+') before++;
    if (sign !== '-') after++;
  }
  return texts;
}

function placeOf(hunk: readonly Line[], { before, after }: { before: number; after: number }) {
  const had = hunk.filter(({ sign }) => sign !== '+').length;
  const has = hunk.filter(({ sign }) => sign !== '-').length;
  // An empty range names the line before it.
  const from = `-${had === 0 ? before - 1 : before},${had}`;
  const to = `+${has === 0 ? after - 1 : after},${has}`;
  return `@@ ${from} ${to} @@`;
}
