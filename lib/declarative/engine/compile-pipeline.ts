import type { ExpressionOptions } from '../expression/expression-options.js';
import type { CompileContext, SpecProblem } from '../spec-problem.js';
import { compileJoin } from './compile-join.js';
import { compileSourceNames } from './compile-source-names.js';
import { compileStage } from './compile-stage.js';
import type { JoinPlan } from './join-plan.js';
import { Pipeline } from './pipeline.js';
import type { PipelinePlan, PipelineSource, StagePlan } from './pipeline-plan.js';
import { writtenStages } from './written-stages.js';
import type { WrittenStage } from './written-stages.js';

/** Options of {@link compilePipeline}. */
export interface PipelineSettings extends ExpressionOptions {
  /** The context of the controller, whose members are `sources` and `pipeline`; receives the problems. */
  readonly context: CompileContext;
}

/**
 * Compiles the pipeline of a controller: a stage, a list of stages, or nothing (documents pass unchanged).
 * Reports all problems to the context.
 * @returns a pipeline without documents; undefined: problems were reported
 */
export function compilePipeline(
  pipeline: unknown,
  sources: readonly PipelineSource[],
  settings: PipelineSettings,
): Pipeline | undefined {
  const plan = compilePlan(pipeline, sources, settings);
  return plan === undefined ? undefined : new Pipeline(plan);
}

/** Like {@link compilePipeline}, but returns a plan from which any number of pipelines can run. */
export function compilePlan(
  pipeline: unknown,
  sources: readonly PipelineSource[],
  { context, ...options }: PipelineSettings,
): PipelinePlan | undefined {
  let problems = 0;
  const counting = countingContext(context, () => problems++);
  const names = compileSourceNames(sources, counting);
  const written = writtenStages(pipeline, counting.at('pipeline'));
  const join = joinOf(written, { names, context: counting.at('pipeline'), options });
  const stages = written.flatMap((stage) => stagePlan(stage, options));
  if (problems > 0) return undefined;
  return { sources: names, join, stages, warnings: join === undefined ? [] : warningsOf(join) };
}

function countingContext(context: CompileContext, count: () => void): CompileContext {
  return {
    path: context.path,
    report: (problem, ...below) => {
      count();
      context.report(problem, ...below);
    },
    at: (...below) => countingContext(context.at(...below), count),
  };
}

function joinOf(
  written: readonly WrittenStage[],
  site: {
    readonly names: readonly string[];
    /** The context of the pipeline. */
    readonly context: CompileContext;
    readonly options: ExpressionOptions;
  },
): JoinPlan | undefined {
  const { names, options } = site;
  const joins = written.filter(({ name }) => name === '@join');
  for (const { place, context } of joins) {
    if (place > 0)
      context.report({ message: '@join is the first stage, and there is one at most' });
  }
  const [join] = joins;
  if (join === undefined) {
    if (names.length > 1) {
      const message = `several sources (${names.join(', ')}) want @join as the first stage`;
      site.context.report({ message });
    }
    return undefined;
  }
  return compileJoin(join.argument, { names, context: join.context, options });
}

function stagePlan(
  { name, argument, context }: WrittenStage,
  options: ExpressionOptions,
): StagePlan[] {
  const plan = compileStage(argument, { stage: name, context, options });
  return plan === undefined ? [] : [plan];
}

function warningsOf({ path, sources, orders }: JoinPlan): SpecProblem[] {
  if (orders.untied.length === 0) return [];
  const untied = orders.untied.map((number) => sources[number]?.name).join(', ');
  const message =
    `no equality of the condition ties ${untied} to ${sources[0]?.name ?? ''}: ` +
    `all their objects are compared, which is slow. An index wants @eq of an expression of each, ` +
    `or @in, alone or in the @and of the condition`;
  return [{ path, message }];
}
