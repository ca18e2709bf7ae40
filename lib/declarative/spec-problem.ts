/**
 * A path in a specification: member names and list indices, for example `['controllers', 0, 'pipeline']`.
 */
export type SpecPath = readonly (string | number)[];

/** A problem of a specification, found before any controller runs. */
export interface SpecProblem {
  readonly path: SpecPath;
  /** The problem and the expected value. */
  readonly message: string;
  /** The probably intended text, for example `@concat`. */
  readonly suggestion?: string | undefined;
}

/** The path of the compiled part, and a receiver of all its problems, not only the first. */
export interface CompileContext {
  readonly path: SpecPath;
  /** All problems that were reported so far. */
  readonly problems: readonly SpecProblem[];
  /** Reports a problem at `path`, or below it. */
  report(problem: Omit<SpecProblem, 'path'>, ...below: SpecPath): void;
  /** Returns the context of a member. */
  at(...below: SpecPath): CompileContext;
}

export function compileContext(problems: SpecProblem[], path: SpecPath = []): CompileContext {
  return {
    ...{ path, problems },
    report: (problem, ...below) => {
      problems.push({ ...problem, path: [...path, ...below] });
    },
    at: (...below) => compileContext(problems, [...path, ...below]),
  };
}

/** Formats a path for messages: `controllers[0].pipeline["@select"]`. */
export function formatSpecPath(path: SpecPath): string {
  return path
    .map((part, place) => {
      if (typeof part === 'number') return `[${part}]`;
      if (/^[A-Za-z_][\w-]*$/.test(part)) return place === 0 ? part : `.${part}`;
      return `[${JSON.stringify(part)}]`;
    })
    .join('');
}
