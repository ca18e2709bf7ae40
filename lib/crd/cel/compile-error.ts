/** A problem in an expression, and its offset in code points. */
export interface CelIssue {
  readonly at: number;
  readonly message: string;
}

/** An expression does not compile; the message has the API server's layout. */
export class CelCompileError extends Error {
  override readonly name = 'CelCompileError';
  readonly issues: readonly CelIssue[];

  constructor(source: string, issues: readonly CelIssue[]) {
    super(issues.map((issue) => issueText(source, issue)).join('\n'));
    this.issues = issues;
  }
}

/** A constant part of an expression always fails. */
export class CelConstantError extends Error {
  override readonly name = 'CelConstantError';
}

/** The parser's first error; parsing stops there. */
export class SyntaxIssue extends Error {
  readonly issue: CelIssue;

  constructor(issue: CelIssue) {
    super(issue.message);
    this.issue = issue;
  }
}

function issueText(source: string, { at, message }: CelIssue): string {
  const before = Array.from(source).slice(0, at);
  const line = before.filter((character) => character === '\n').length;
  const column = before.length - (before.lastIndexOf('\n') + 1);
  const text = source.split('\n')[line] ?? '';
  const where = `ERROR: <input>:${line + 1}:${column + 1}: ${message}`;
  return `${where}\n | ${text.replaceAll('\t', ' ')}\n | ${'.'.repeat(column)}^`;
}
