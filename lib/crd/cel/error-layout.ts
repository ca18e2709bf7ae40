import type { CelIssue } from './expression.js';

/** Maximum number of problems of one expression that the API server shows. */
const mostShown = 100;

/** Longest line, in bytes, that the API server repeats below a problem. */
const longestLine = 16_384;

/** Problems as the API server shows them. */
export interface IssueReport {
  /** The problems that the API server shows, in source order. */
  readonly shown: readonly CelIssue[];
  readonly message: string;
}

/** Lays out problems as the API server does: it shows the first that were found, and counts the others. */
export function reportOf(source: string, issues: readonly CelIssue[]): IssueReport {
  const shown = issues.slice(0, mostShown).sort((one, other) => one.at - other.at);
  const lines = linesOf(source);
  const texts = shown.map((issue) => issueText(lines, issue));
  const rest = issues.length - shown.length;
  if (rest > 0) texts.push(`${rest} more errors were truncated`);
  return { shown, message: texts.join('\n') };
}

interface Line {
  /** The line as code points; undefined for a line too long to show. */
  readonly characters: readonly string[] | undefined;
  /** The offset of the line, in code points. */
  readonly start: number;
}

function linesOf(source: string): Line[] {
  let start = 0;
  return source.split('\n').map((text) => {
    const characters = Array.from(text.replaceAll('\t', ' '));
    const line = {
      characters: Buffer.byteLength(text) > longestLine ? undefined : characters,
      start,
    };
    start += characters.length + 1;
    return line;
  });
}

function issueText(lines: readonly Line[], { at, message }: CelIssue): string {
  if (at < 0) return `ERROR: <input>:-1:0: ${message}`;
  const index = lines.findLastIndex(({ start }) => start <= at);
  const { characters, start = 0 } = lines[index] ?? {};
  const column = at - start;
  const where = `ERROR: <input>:${index + 1}:${column + 1}: ${message}`;
  if (characters === undefined) return where;
  const dots = characters.slice(0, column).map((one) => (isWide(one) ? '\uff0e' : '.'));
  const mark = isWide(characters[column] ?? '') ? '\uff3e' : '^';
  return `${where}\n | ${characters.join('')}\n | ${dots.join('')}${mark}`;
}

/** Returns whether a character is more than one byte long: the API server marks such a character with wide signs. */
function isWide(character: string): boolean {
  return character > '\x7f';
}
