import { OperatorError } from '../../system/operator-error.js';
import type { SpecProblem } from '../spec-problem.js';
import type { Delta, IncrementalNode } from './delta.js';
import { GatherNode } from './gather-node.js';
import { JoinNode } from './join-node.js';
import { LinearNode } from './linear-node.js';
import type { DocumentStep } from './linear-node.js';
import type { PipelinePlan } from './pipeline-plan.js';
import { FailureLog } from './stage-failure.js';
import type { StageFailure } from './stage-failure.js';
import { ZSet, netDeltas } from './z-set.js';
import type { ZSetEntry } from './z-set.js';

/**
 * A running pipeline, which turns changes of its sources into changes of its result.
 * ```text
 *   sources ─> @join ─> @select, @project, @unwind ─> @gather ─> @select, … ─> result
 *              indexes  nothing kept                  groups     nothing kept
 * ```
 * The cost of a change is proportional to what it affects. The pipeline never modifies documents, and callers
 * must not modify them either. The result depends only on the current documents, not on their order of
 * arrival (except for `@now` and `@rnd`).
 */
export class Pipeline {
  /** Warnings about the specification, to report when it is loaded. */
  readonly warnings: readonly SpecProblem[];

  readonly #sources: ReadonlyMap<string, { readonly input: number; readonly present: ZSet }>;
  readonly #failures = new FailureLog();
  readonly #nodes: readonly IncrementalNode[];
  readonly #result = new ZSet();

  constructor(plan: PipelinePlan) {
    this.warnings = plan.warnings;
    this.#sources = new Map(
      plan.sources.map((name, input) => [name, { input, present: new ZSet() }]),
    );
    this.#nodes = nodesOf(plan, this.#failures);
  }

  /**
   * Processes changes of one source. Removals of absent documents are ignored.
   * @param sourceName - the alias of the source, or its kind
   * @returns the changes of the result: each document at most once, deletes before upserts
   * @throws OperatorError `InvalidValue`: there is no such source.
   */
  push(sourceName: string, deltas: readonly Delta[]): readonly Delta[] {
    const source = this.#sources.get(sourceName);
    if (source === undefined) {
      const names = [...this.#sources.keys()].join(', ');
      throw new OperatorError('InvalidValue', `no source ${sourceName}, they are ${names}`);
    }
    let changes: readonly Delta[] = acceptedBy(source.present, deltas);
    for (const [number, node] of this.#nodes.entries()) {
      changes = node.push(number === 0 ? source.input : 0, changes);
    }
    const output = netDeltas(changes);
    this.#result.integrate(output);
    return output;
  }

  /** Returns the current result: each document with its weight, which is above 0. */
  snapshot(): readonly Delta[] {
    return [...this.#result.entries()];
  }

  /** Number of {@link Pipeline.failures}. */
  get failing(): number {
    return this.#failures.size;
  }

  /** Returns the documents that data errors exclude now. */
  failures(): readonly StageFailure[] {
    return this.#failures.standing();
  }

  /** Returns those of {@link Pipeline.failures} that are new since the last call. */
  takeNewFailures(): readonly StageFailure[] {
    return this.#failures.takeFresh();
  }
}

/** Returns the changes that are valid for the present documents, and applies them to `present`. */
function acceptedBy(present: ZSet, deltas: readonly Delta[]): readonly ZSetEntry[] {
  const accepted: ZSetEntry[] = [];
  for (const entry of netDeltas(deltas)) {
    const known = present.get(entry.key);
    const weight = Math.max(entry.weight, -(known?.weight ?? 0));
    if (weight === 0) continue;
    const { key } = entry;
    // Reuse a known document, to avoid two equal ones in memory.
    const change = { key, document: known?.document ?? entry.document, weight };
    present.add(change);
    accepted.push(change);
  }
  return accepted;
}

function nodesOf({ join, stages }: PipelinePlan, failures: FailureLog): IncrementalNode[] {
  const nodes: IncrementalNode[] = [];
  // Consecutive steps form one node: intermediate documents need not be kept or compared.
  let steps: DocumentStep[] = [];
  const endSteps = (): void => {
    if (steps.length > 0) nodes.push(new LinearNode(steps, failures));
    steps = [];
  };
  if (join !== undefined) nodes.push(new JoinNode(join, failures));
  if (join?.rest !== undefined) steps.push(join.rest);
  for (const stage of stages) {
    if (stage.type === 'each') {
      steps.push(stage.step);
      continue;
    }
    endSteps();
    nodes.push(new GatherNode(stage.step, failures));
  }
  endSteps();
  return nodes;
}
