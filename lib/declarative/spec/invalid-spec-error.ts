import { OperatorError, isOperatorError } from '../../system/index.js';
import { formatSpecPath } from '../spec-problem.js';
import type { SpecProblem } from '../spec-problem.js';

/** A problem of a specification, with its position in the file. */
export interface LocatedProblem extends SpecProblem {
  /** Counted from 1; absent: not read from a string. */
  readonly line?: number | undefined;
  /** Counted from 1. */
  readonly column?: number | undefined;
}

/** Thrown for a declarative operator that cannot be loaded; `problems` has all of its problems. */
export class InvalidSpecError extends OperatorError {
  /** The file, or the name of the operator. */
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
 * Returns one line with the position of a problem, its message and the suggestion.
 * @param source - the name of the file or of the operator
 */
export function describeProblem(source: string, problem: LocatedProblem): string {
  const { path, message, suggestion, line, column } = problem;
  const place = line === undefined ? source : `${source}:${line}:${column ?? 1}`;
  const where = path.length === 0 ? '' : `${formatSpecPath(path)}: `;
  const hint = suggestion === undefined ? '' : `; did you mean ${suggestion}?`;
  return `${place}: ${where}${message}${hint}`;
}
