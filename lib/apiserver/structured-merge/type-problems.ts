import { TypedConversionError } from './errors.js';

/** Something about a value that does not fit its type. */
export interface TypeProblem {
  /** Where, as the server writes it: `.spec.ports[port=80]`; empty: at the top. */
  path: string;
  readonly message: string;
}

/** A list of one problem at the place where it is found. */
export function problem(message: string): TypeProblem[] {
  return [{ path: '', message }];
}

/** Puts `prefix` before the paths of `problems`, on the way up. */
export function prefixed(problems: TypeProblem[], prefix: string): TypeProblem[] {
  for (const each of problems) each.path = prefix + each.path;
  return problems;
}

/** One problem in a line, several below `errors:`. */
function problemText(problems: readonly TypeProblem[]): string {
  const lines = problems.map(({ path, message }) =>
    path === '' ? message : `${path}: ${message}`,
  );
  return lines.length === 1
    ? (lines[0] ?? '')
    : ['errors:', ...lines.map((l) => `  ${l}`)].join('\n');
}

/** @throws TypedConversionError when there is any problem. */
export function throwProblems(problems: readonly TypeProblem[], doing: string): void {
  if (problems.length > 0) throw new TypedConversionError(`${doing}: ${problemText(problems)}`);
}
