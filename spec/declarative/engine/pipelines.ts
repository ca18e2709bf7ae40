import { compilePlan } from '../../../lib/declarative/engine/compile-pipeline.js';
import { canonicalText, ZSet } from '../../../lib/declarative/engine/z-set.js';
import { OutputCollector, Pipeline } from '../../../lib/declarative/engine/pipeline.js';
import type {
  PipelinePlan,
  PipelineSource,
} from '../../../lib/declarative/engine/compile-pipeline.js';
import type { Delta } from '../../../lib/declarative/engine/z-set.js';
import type { Document } from '../../../lib/declarative/document.js';
import type { ExpressionOptions } from '../../../lib/declarative/expression/compiled.js';
import { compileContext, formatSpecPath } from '../../../lib/declarative/spec-problem.js';
import type { SpecProblem } from '../../../lib/declarative/spec-problem.js';
import { VirtualClock } from '../../../lib/system/virtual-clock.js';

/** Compiles a pipeline, in which `@now` stands still; throws on problems. */
export function planOf(
  stages: unknown,
  kinds: readonly string[] = ['Pod'],
  options: ExpressionOptions = { clock: new VirtualClock() },
): PipelinePlan {
  const problems: SpecProblem[] = [];
  const sources = kinds.map((kind) => ({ kind }));
  const plan = compilePlan(stages, sources, { ...options, context: compileContext(problems) });
  if (plan === undefined) throw new Error(JSON.stringify(problems));
  return plan;
}

/** A pipeline that sums the changes of its result. */
export class SummedPipeline extends Pipeline {
  readonly #result = new ZSet();

  override push(sourceName: string, deltas: readonly Delta[]): readonly Delta[] {
    const changes = super.push(sourceName, deltas);
    this.#result.integrate(changes);
    return changes;
  }

  /** Returns the current result: each document with its weight, which is above 0. */
  snapshot(): readonly Delta[] {
    return [...this.#result.entries()];
  }
}

/** Compiles a pipeline into one that runs. */
export function pipelineOf(
  stages: unknown,
  kinds?: readonly string[],
  options?: ExpressionOptions,
): SummedPipeline {
  return new SummedPipeline(planOf(stages, kinds, options));
}

/** Returns the problems of a pipeline as `path: message (suggestion)`. */
export function problemsOf(
  stages: unknown,
  sources: readonly PipelineSource[] = [{ kind: 'Pod' }],
): string[] {
  const problems: SpecProblem[] = [];
  compilePlan(stages, sources, { context: compileContext(problems) });
  return problems.map(({ path, message, suggestion = '' }) =>
    `${formatSpecPath(path)}: ${message} (${suggestion})`.replace(' ()', ''),
  );
}

/** Deltas that add documents. */
export function added(...documents: readonly Document[]): Delta[] {
  return documents.map((document) => ({ document, weight: 1 }));
}

/** Deltas that remove documents. */
export function removed(...documents: readonly Document[]): Delta[] {
  return documents.map((document) => ({ document, weight: -1 }));
}

/** Deltas that replace a document. */
export function updated(from: Document, to: Document): Delta[] {
  return [...removed(from), ...added(to)];
}

/** An object `namespace/name`. */
export function object(key: string, members: Document = {}): Document {
  const [namespace, name] = key.split('/');
  return { metadata: { namespace, name }, ...members };
}

/** Returns documents with their multiplicity, in a fixed order for comparison. */
export function listed(deltas: readonly Delta[]): Document[] {
  const all = deltas.flatMap(({ document, weight }) =>
    Array.from({ length: weight }, () => document),
  );
  return inOrder(all);
}

/** Sorts documents into a fixed order. */
export function inOrder(documents: readonly Document[]): Document[] {
  const texts = documents.map((document) => ({ document, text: canonicalText(document) }));
  texts.sort((one, other) => (one.text < other.text ? -1 : 1));
  return texts.map(({ document }) => document);
}

/**
 * A pipeline with its target; `push` returns the changes of objects as `delete a/b`, `upsert a/c`.
 */
export function runner(
  stages: unknown,
  kinds: readonly string[] = ['Pod'],
): {
  readonly pipeline: SummedPipeline;
  readonly collector: OutputCollector;
  push(deltas: readonly Delta[], source?: string): string[];
  /** Returns the desired state of the object. */
  desired(key: string): Document | undefined;
} {
  const pipeline = pipelineOf(stages, kinds);
  const collector = new OutputCollector();
  return {
    pipeline,
    collector,
    push: (deltas, source = kinds[0] ?? '') =>
      collector
        .apply(pipeline.push(source, deltas))
        .map(({ type, key: { namespace = '', name } }) => `${type} ${namespace}/${name}`),
    desired: (key) => collector.desired().get(key),
  };
}
