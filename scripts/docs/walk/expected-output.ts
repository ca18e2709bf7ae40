import { stripVTControlCharacters } from 'node:util';

const anything = '…';

/**
 * Returns how the output of a command differs from the page; undefined if it matches.
 * @param expected - the lines of the page; `…` within a line matches any text, and alone any number of lines
 */
export function outputProblem(expected: string, actual: string): string | undefined {
  const [wanted, got] = [linesOf(expected), linesOf(actual)];
  if (matches(wanted, got)) return undefined;
  const missing = wanted.find(
    (line) => line !== anything && !got.some((each) => lineMatches(line, each)),
  );
  const hint = missing === undefined ? '' : ` (no line is: ${missing})`;
  const shown = ['the page shows', ...wanted, `but there was${hint}`, ...got];
  return shown.join('\n  ');
}

function linesOf(text: string): readonly string[] {
  const plain = stripVTControlCharacters(text).replaceAll('\r\n', '\n').trimEnd();
  return plain === '' ? [] : plain.split('\n').map((line) => line.trimEnd());
}

function matches(wanted: readonly string[], got: readonly string[]): boolean {
  const [first, ...rest] = wanted;
  if (first === undefined) return got.length === 0;
  if (first === anything) {
    return Array.from({ length: got.length + 1 }, (_, skipped) => skipped).some((skipped) =>
      matches(rest, got.slice(skipped)),
    );
  }
  const [line, ...others] = got;
  return line !== undefined && lineMatches(first, line) && matches(rest, others);
}

function lineMatches(wanted: string, got: string): boolean {
  const parts = wanted
    .split(anything)
    .map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`).test(got);
}
