import type { SpecPath, SpecProblem } from '../spec-problem.js';
import { compileController } from './compile-controller.js';
import type { ControllerSpec, OperatorSpec } from './operator-spec.js';

/**
 * Compiles the pipelines of an operator only to find out what is wrong with them. Where a source could
 * not be read, it is not known what a pipeline works on: it is looked at when that is mended.
 * @param problems - what reading found; what is found here is added, each thing once
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
