import { isJsonObject } from '../../object/json.js';
import type { OperatorDocument, OperatorResource } from '../crd/operator-resource.js';
import { describeProblem } from '../spec/invalid-spec-error.js';
import type { LoadedOperator } from '../spec/load-operator.js';
import type { ControllerSpec, OperatorSpec } from '../spec/operator-spec.js';
import { readOperatorSpec } from '../spec/read-operator-spec.js';
import { compileContext, formatSpecPath } from '../spec-problem.js';
import type { SpecPath, SpecProblem } from '../spec-problem.js';
import { pathOfController, problemsOfController } from '../spec/check-controllers.js';

/** An operator specification: `{ controllers: […] }`, an `Operator` object, or one of a file. */
export type OperatorInput = OperatorDocument | OperatorResource | LoadedOperator;

/** A controller of a plan, which may be unable to run. */
export interface PlannedController {
  /** Unique among the controllers that can run. */
  readonly name: string;
  readonly spec: ControllerSpec;
  /** Its place in the specification. */
  readonly specPath: SpecPath;
  /** Problems of its form; a controller with problems does not run. */
  readonly problems: readonly SpecProblem[];
}

/** The desired controllers of an operator. */
export interface OperatorPlan {
  readonly controllers: readonly PlannedController[];
  /** Problems of the operator as a whole; with any of them no controller runs. */
  readonly problems: readonly SpecProblem[];
  /** Returns a problem as one line, with the file, the place and the suggestion. */
  readonly describe: (problem: SpecProblem) => string;
}

/**
 * Reads a specification. Never throws: the plan has the problems.
 * @param name - the name of the operator, for problems
 */
export function planOperator(name: string, input: OperatorInput): OperatorPlan {
  if (isLoaded(input)) {
    const { source, locate, spec } = input;
    return planOf(spec, [], (problem) => describeProblem(source, locate(problem)));
  }
  const written: unknown = input;
  const isObject = isJsonObject(written) && written['kind'] === 'Operator';
  const inside: SpecPath = isObject ? ['spec'] : [];
  const problems: SpecProblem[] = [];
  const document = isObject ? written['spec'] : written;
  const spec = readOperatorSpec(document, compileContext(problems));
  return planOf(spec, problems, (problem) => {
    const path = [...inside, ...problem.path];
    return describeProblem(`operator ${name}`, { ...problem, path });
  });
}

/** Returns the plan with one more controller. */
export function withController(plan: OperatorPlan, spec: unknown): OperatorPlan {
  const problems: SpecProblem[] = [];
  const [read] = readOperatorSpec({ controllers: [spec] }, compileContext(problems)).controllers;
  const place = plan.controllers.length;
  const moved = problems.map((problem) => ({
    ...problem,
    path: [...pathOfController(place), ...problem.path.slice(2)],
  }));
  if (read === undefined) return plan;
  const twin = plan.controllers.some(({ name }) => name === read.name);
  if (twin) {
    const path = [...pathOfController(place), 'name'];
    moved.push({ path, message: `two controllers are called ${read.name}` });
  }
  return { ...plan, controllers: [...plan.controllers, planned(read, place, moved)] };
}

function isLoaded(input: OperatorInput): input is LoadedOperator {
  return 'locate' in input && typeof input.locate === 'function';
}

function planOf(
  { controllers }: OperatorSpec,
  problems: readonly SpecProblem[],
  describe: OperatorPlan['describe'],
): OperatorPlan {
  const ofControllers = controllers.map((_, place) => problemsOfController(problems, place));
  const told = new Set(ofControllers.flat());
  const own = problems.filter((problem) => !told.has(problem));
  return {
    controllers: controllers.map((spec, place) =>
      planned(spec, place, [...own, ...(ofControllers[place] ?? [])]),
    ),
    problems: own,
    describe,
  };
}

function planned(
  spec: ControllerSpec,
  place: number,
  problems: readonly SpecProblem[],
): PlannedController {
  const specPath = pathOfController(place);
  // Controllers without a name must be distinguishable in the status.
  const name = spec.name === '' ? formatSpecPath(specPath) : spec.name;
  return { name, spec, specPath, problems };
}
