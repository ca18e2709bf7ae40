import uniqBy from 'lodash/uniqBy.js';
import { isJsonObject } from '../../object/index.js';
import { nearestName } from '../../system/index.js';
import type { OperatorDocument, OperatorResource } from '../crd/operator-resource.js';
import { compileContext, formatSpecPath } from '../spec-problem.js';
import type { SpecPath, SpecProblem } from '../spec-problem.js';
import { pathOfController, problemsOfController, loadOperators } from '../spec/load-operator.js';
import { InvalidSpecError, describeProblem } from '../spec/invalid-spec-error.js';
import type { LoadedOperator } from '../spec/load-operator.js';
import { operatorOfViewGroup, viewGroupOf, isViewGroup } from '../spec/operator-spec.js';
import type {
  ControllerSpec,
  OperatorSpec,
  ResourceSpec,
  TargetSpec,
} from '../spec/operator-spec.js';
import { readOperatorSpec } from '../spec/read-operator-spec.js';

/** An operator specification: `{ controllers: […] }`, an `Operator` object, or one that was read from a file. */
export type OperatorInput = OperatorDocument | OperatorResource | LoadedOperator;

/** A controller of a plan, which may be unable to run. */
export interface PlannedController {
  /** Unique among the controllers that can run. */
  readonly name: string;
  readonly spec: ControllerSpec;
  /** The path of the controller in the specification. */
  readonly specPath: SpecPath;
  /** Problems that reading the specification has found. A controller with problems does not run. */
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
  const reported = new Set(ofControllers.flat());
  const own = problems.filter((problem) => !reported.has(problem));
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

/**
 * Returns the operator with this name in a YAML text, or the only operator of the text.
 * @param source - the file name, for problems
 * @throws InvalidSpecError an operator of the text is invalid, pipelines included, or the text has several
 * operators and none has this name.
 */
export function loadOneOperator(name: string, text: string, source: string): LoadedOperator {
  const operators = loadOperators(text, source);
  const named = operators.find((operator) => operator.name === name);
  const [only, ...others] = operators;
  if (named !== undefined) return named;
  if (only !== undefined && others.length === 0) return only;
  const names = operators.map((operator) => operator.name ?? 'one without a name');
  const message = `there is no operator ${name} among ${names.join(', ')}`;
  throw new InvalidSpecError(source, [{ path: [], message, suggestion: nearestName(name, names) }]);
}

/** Whether two targets are the same: then a new controller takes over the objects of the old one. */
export function sameTarget(one: TargetSpec | undefined, other: TargetSpec): boolean {
  return one !== undefined && sameKind(one, other) && one.type === other.type;
}

/** Whether two targets of an operator write objects of one kind. */
export function sameKind(one: TargetSpec, other: TargetSpec): boolean {
  return one.apiGroup === other.apiGroup && one.kind === other.kind;
}

/** Whether a source or target is a view of `operator` itself, which is dropped with the operator. */
export function isOwnView({ apiGroup }: ResourceSpec, operator: string): boolean {
  return apiGroup === undefined || apiGroup === viewGroupOf(operator);
}

/** Whether a target is a view of any operator. */
export function isView({ apiGroup }: TargetSpec): boolean {
  return apiGroup === undefined || isViewGroup(apiGroup);
}

interface ViewKind {
  /** The operator that owns the view. */
  readonly operator: string;
  readonly kind: string;
}

/** Returns the kinds of views that the controllers of an operator read and write, each once. */
export function viewKindsOf(
  operator: string,
  controllers: readonly ControllerSpec[],
): readonly ViewKind[] {
  const kinds = controllers
    .flatMap(({ sources, target }) => [...sources.filter(({ type }) => type === 'Watcher'), target])
    .flatMap((resource) => viewKindOf(operator, resource) ?? []);
  return uniqBy(kinds, (view) => `${view.operator}/${view.kind}`);
}

/** Returns the view that a source or target refers to; undefined if it is not a view. */
function viewKindOf(operator: string, resource: ResourceSpec): ViewKind | undefined {
  const { apiGroup = '', kind } = resource;
  const owner = isOwnView(resource, operator) ? operator : operatorOfViewGroup(apiGroup);
  return owner === undefined ? undefined : { operator: owner, kind };
}
