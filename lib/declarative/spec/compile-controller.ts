import { compilePlan } from '../engine/compile-pipeline.js';
import type { PipelinePlan } from '../engine/compile-pipeline.js';
import type { ExpressionOptions } from '../expression/compiled.js';
import { compileContext } from '../spec-problem.js';
import type { SpecPath, SpecProblem } from '../spec-problem.js';
import type { ControllerSpec, SourceSpec } from './operator-spec.js';

/** A source whose documents go through the pipeline. */
export interface PipelineInput {
  /** The name in the pipeline. */
  readonly name: string;
  readonly spec: SourceSpec;
}

/** The result of compiling a controller. */
export interface CompiledController {
  /** undefined: the controller has problems. */
  readonly plan: PipelinePlan | undefined;
  readonly inputs: readonly PipelineInput[];
  readonly problems: readonly SpecProblem[];
  /** Problems that do not keep the controller from running. */
  readonly warnings: readonly SpecProblem[];
}

/**
 * Compiles the pipeline of a controller. A `Periodic` source beside other sources only triggers: it has no
 * document and no part in a join. Alone it has a document, as a `OneShot` source does.
 * @param specPath - the path of `spec` in its file, for problems
 */
export function compileController(
  spec: ControllerSpec,
  specPath: SpecPath,
  options: ExpressionOptions = {},
): CompiledController {
  const places = placesOfInputs(spec.sources);
  const sources = places.flatMap((place) => spec.sources[place] ?? []);
  const found: SpecProblem[] = [];
  const context = compileContext(found);
  const plan = compilePlan(spec.pipeline, sources, { ...options, context });
  const located = (problem: SpecProblem): SpecProblem => ({
    ...problem,
    path: [...specPath, ...inAllSources(problem.path, places)],
  });
  return {
    plan,
    inputs: sources.map((source) => ({ name: source.as ?? source.kind, spec: source })),
    problems: found.map(located),
    warnings: (plan?.warnings ?? []).map(located),
  };
}

function placesOfInputs(sources: readonly SourceSpec[]): readonly number[] {
  const places = [...sources.keys()];
  const inputs = places.filter((place) => sources[place]?.type !== 'Periodic');
  return inputs.length > 0 ? inputs : places;
}

/** Maps a path among the inputs to the path among the sources. */
function inAllSources(path: SpecPath, places: readonly number[]): SpecPath {
  const [first, place, ...rest] = path;
  if (first !== 'sources' || typeof place !== 'number') return path;
  return [first, places[place] ?? place, ...rest];
}
