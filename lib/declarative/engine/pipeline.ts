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
 * A pipeline that runs: changes of its sources go in, changes of its result come out.
 * ```text
 *   sources ─> @join ─> @select, @project, @unwind ─> @gather ─> @select, … ─> result
 *              indexes  nothing kept                  groups     nothing kept
 * ```
 * The cost of a change is that of what it touches. Documents are never written into, and must not
 * be changed by others either. It is pure: what has the same documents has the same result, in
 * whatever order they came (but for `@now` and `@rnd`).
 */
export class Pipeline {
  /** What works, but not well: to be told when it is loaded. */
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
   * Takes in changes of one source. What is taken away without being there is ignored.
   * @param sourceName - the alias of the source, else its kind
   * @returns how the result changes: each document once at most, deletes before upserts
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

  /** All that the result is now: each document with its weight, which is above 0. */
  snapshot(): readonly Delta[] {
    return [...this.#result.entries()];
  }

  /** How many {@link Pipeline.failures} there are. */
  get failing(): number {
    return this.#failures.size;
  }

  /** The documents that are left out now, because their data does not fit. */
  failures(): readonly StageFailure[] {
    return this.#failures.standing();
  }

  /** Those of {@link Pipeline.failures} that came since this was called last. */
  takeNewFailures(): readonly StageFailure[] {
    return this.#failures.takeFresh();
  }
}

/** The changes that make sense for what is there, which they change. */
function acceptedBy(present: ZSet, deltas: readonly Delta[]): readonly ZSetEntry[] {
  const accepted: ZSetEntry[] = [];
  for (const entry of netDeltas(deltas)) {
    const known = present.get(entry.key);
    const weight = Math.max(entry.weight, -(known?.weight ?? 0));
    if (weight === 0) continue;
    const { key } = entry;
    // The document that was kept, where there is one: there need not be two equal ones in memory.
    const change = { key, document: known?.document ?? entry.document, weight };
    present.add(change);
    accepted.push(change);
  }
  return accepted;
}

function nodesOf({ join, stages }: PipelinePlan, failures: FailureLog): IncrementalNode[] {
  const nodes: IncrementalNode[] = [];
  // Steps in a row are one node: what is between them need not be kept or compared.
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
