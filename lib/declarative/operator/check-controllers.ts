import { compileController } from '../runtime/compile-controller.js';
import type { OperatorSpec } from '../spec/operator-spec.js';
import type { SpecPath, SpecProblem } from '../spec-problem.js';

/**
 * Compiles the pipelines of an operator only to find out what is wrong with them. A controller whose
 * form is wrong is left out: what it lacks would be told twice.
 * @param problems - what reading found; what is found here is added
 */
export function checkControllers(spec: OperatorSpec, problems: SpecProblem[]): void {
  for (const [place, controller] of spec.controllers.entries()) {
    if (problemsOfController(problems, place).length > 0) continue;
    problems.push(...compileController(controller, pathOfController(place)).problems);
  }
}

/** Where a controller stands in an operator. */
export function pathOfController(place: number): SpecPath {
  return ['controllers', place];
}

/** The problems of one controller. */
export function problemsOfController(
  problems: readonly SpecProblem[],
  place: number,
): readonly SpecProblem[] {
  return problems.filter(({ path }) => path[0] === 'controllers' && path[1] === place);
}
