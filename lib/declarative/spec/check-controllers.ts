import type { SpecPath, SpecProblem } from '../spec-problem.js';
import { compileController } from './compile-controller.js';
import type { ControllerSpec, OperatorSpec } from './operator-spec.js';

/**
 * Compiles the pipelines of an operator to find their problems. Skips a controller with an unreadable
 * source, because the input of its pipeline is unknown until the source is corrected.
 * @param problems - the problems of reading; those found here are added, one per path
 */
export function checkControllers({ controllers }: OperatorSpec, problems: SpecProblem[]): void {
  const told = new Set(problems.map(({ path }) => JSON.stringify(path)));
  for (const [place, controller] of controllers.entries()) {
    if (!hasSources(controller)) continue;
    const found = compileController(controller, pathOfController(place)).problems;
    problems.push(...found.filter(({ path }) => !told.has(JSON.stringify(path))));
  }
}

function hasSources({ sources }: ControllerSpec): boolean {
  return sources.length > 0 && sources.every(({ kind }) => kind !== '');
}

/** Returns the path of a controller in its operator. */
export function pathOfController(place: number): SpecPath {
  return ['controllers', place];
}

/** Returns the problems of one controller. */
export function problemsOfController(
  problems: readonly SpecProblem[],
  place: number,
): readonly SpecProblem[] {
  return problems.filter(({ path }) => path[0] === 'controllers' && path[1] === place);
}
