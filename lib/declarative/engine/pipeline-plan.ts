import type { SpecProblem } from '../spec-problem.js';
import type { GatherStep } from './gather-node.js';
import type { JoinPlan } from './join-plan.js';
import type { DocumentStep } from './linear-node.js';

/** A source of a pipeline. */
export interface PipelineSource {
  readonly kind: string;
  /** Empty: core; undefined: a view of the operator itself. */
  readonly apiGroup?: string | undefined;
  /** The name in the pipeline. @defaultValue its kind */
  readonly as?: string | undefined;
}

/** A stage after the join. */
export type StagePlan =
  | { readonly type: 'each'; readonly step: DocumentStep }
  | { readonly type: 'gather'; readonly step: GatherStep };

/** A checked pipeline. Any number of pipelines can run from one plan, each with its own state. */
export interface PipelinePlan {
  /** The names of the sources, in order. */
  readonly sources: readonly string[];
  readonly join: JoinPlan | undefined;
  readonly stages: readonly StagePlan[];
  /** Warnings about the specification. */
  readonly warnings: readonly SpecProblem[];
}
