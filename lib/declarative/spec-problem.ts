/** Where in a specification: member names and places in lists, as `['controllers', 0, 'pipeline']`. */
export type SpecPath = readonly (string | number)[];

/** Something that is wrong with a specification, found before anything runs. */
export interface SpecProblem {
  readonly path: SpecPath;
  /** What is wrong, and what is wanted instead. */
  readonly message: string;
  /** What was probably meant, for example `@concat`. */
  readonly suggestion?: string | undefined;
}

/** Where what is compiled stands, and where its problems go: all of them are told, not the first. */
export interface CompileContext {
  readonly path: SpecPath;
  /** Notes a problem at `path`, or below it. */
  report(problem: Omit<SpecProblem, 'path'>, ...below: SpecPath): void;
  /** The context of a member. */
  at(...below: SpecPath): CompileContext;
}

/** A context that collects problems in `problems`. */
export function compileContext(problems: SpecProblem[], path: SpecPath = []): CompileContext {
  return {
    path,
    report: (problem, ...below) => {
      problems.push({ ...problem, path: [...path, ...below] });
    },
    at: (...below) => compileContext(problems, [...path, ...below]),
  };
}

/** `controllers[0].pipeline["@select"]`, for people. */
export function formatSpecPath(path: SpecPath): string {
  return path
    .map((part, place) => {
      if (typeof part === 'number') return `[${part}]`;
      if (/^[A-Za-z_][\w-]*$/.test(part)) return place === 0 ? part : `.${part}`;
      return `[${JSON.stringify(part)}]`;
    })
    .join('');
}
