import { childrenOf } from './children.js';
import type { CelIssue } from './compile-error.js';
import type { Expression } from './expression.js';
import { GoPattern, goPattern } from './go-pattern.js';
import { parseDuration, parseTimestamp } from './times.js';

/** Returns the problems in literal arguments: patterns, times and durations. */
export function literalIssues(expression: Expression): CelIssue[] {
  const issues: CelIssue[] = [];
  visit(expression, (one) => {
    if (one.type !== 'call') return;
    const arg = one.args.at(-1);
    if (arg?.type !== 'literal' || typeof arg.value !== 'string') return;
    if (!isReadable(one.name, arg.value)) {
      issues.push({ at: arg.at, message: `invalid ${one.name} argument` });
    }
  });
  return issues;
}

function isReadable(name: string, text: string): boolean {
  switch (name) {
    case 'matches':
      return goPattern(text) instanceof GoPattern;
    case 'duration':
      return parseDuration(text) !== undefined;
    case 'timestamp':
      return parseTimestamp(text) !== undefined;
    default:
      return true;
  }
}

function visit(expression: Expression, look: (one: Expression) => void): void {
  look(expression);
  for (const child of childrenOf(expression)) visit(child, look);
}
