import { OperatorError, isOperatorError } from '../../system/operator-error.js';
import { formatSpecPath } from '../spec-problem.js';
import type { SpecProblem } from '../spec-problem.js';

/** A problem of a specification, and where it stands in its file. */
export interface LocatedProblem extends SpecProblem {
  /** From 1; absent: it was not read from a text. */
  readonly line?: number | undefined;
  /** From 1. */
  readonly column?: number | undefined;
}

/** A declarative operator can't be loaded; `problems` has everything that is wrong. */
export class InvalidSpecError extends OperatorError {
  /** What it was read from: a file, or the name of an operator. */
  readonly source: string;
  readonly problems: readonly LocatedProblem[];

  constructor(source: string, problems: readonly LocatedProblem[]) {
    const lines = problems.map((problem) => describeProblem(source, problem));
    super('InvalidSpec', lines.join('\n'));
    this.source = source;
    this.problems = problems;
  }
}

/** Whether `error` is an {@link InvalidSpecError}. */
export function isInvalidSpec(error: unknown): error is InvalidSpecError {
  return isOperatorError(error, 'InvalidSpec');
}

/**
 * One line that says where a problem stands, what is wrong, and what was probably meant.
 * @param source - the name of the file, or of the operator
 */
export function describeProblem(source: string, problem: LocatedProblem): string {
  const { path, message, suggestion, line, column } = problem;
  const place = line === undefined ? source : `${source}:${line}:${column ?? 1}`;
  const where = path.length === 0 ? '' : `${formatSpecPath(path)}: `;
  const hint = suggestion === undefined ? '' : `; did you mean ${suggestion}?`;
  return `${place}: ${where}${message}${hint}`;
}
