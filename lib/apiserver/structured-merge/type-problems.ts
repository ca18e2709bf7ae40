import { TypedConversionError } from './errors.js';

/** A part of a value that does not fit its type. */
export interface TypeProblem {
  /** The path as the server writes it: `.spec.ports[port=80]`; empty at the top. */
  path: string;
  readonly message: string;
}

/** Returns a list with one problem at the current path. */
export function problem(message: string): TypeProblem[] {
  return [{ path: '', message }];
}

/** Prepends `prefix` to the paths of `problems`. Callers do so while they return to the parent. */
export function prefixed(problems: TypeProblem[], prefix: string): TypeProblem[] {
  for (const each of problems) each.path = prefix + each.path;
  return problems;
}

/** Formats one problem as a line, several as a list below `errors:`. */
function problemText(problems: readonly TypeProblem[]): string {
  const lines = problems.map(({ path, message }) =>
    path === '' ? message : `${path}: ${message}`,
  );
  return lines.length === 1
    ? (lines[0] ?? '')
    : ['errors:', ...lines.map((l) => `  ${l}`)].join('\n');
}

/**
 * Throws if there are problems.
 * @throws TypedConversionError `problems` is not empty.
 */
export function throwProblems(problems: readonly TypeProblem[], doing: string): void {
  if (problems.length > 0) throw new TypedConversionError(`${doing}: ${problemText(problems)}`);
}
