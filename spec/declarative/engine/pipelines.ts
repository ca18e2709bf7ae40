import { compilePlan } from '../../../lib/declarative/engine/compile-pipeline.js';
import { canonicalText } from '../../../lib/declarative/engine/document-key.js';
import { OutputCollector } from '../../../lib/declarative/engine/output-collector.js';
import { Pipeline } from '../../../lib/declarative/engine/pipeline.js';
import type {
  PipelinePlan,
  PipelineSource,
} from '../../../lib/declarative/engine/pipeline-plan.js';
import type { Delta } from '../../../lib/declarative/engine/delta.js';
import type { Document } from '../../../lib/declarative/document.js';
import type { ExpressionOptions } from '../../../lib/declarative/expression/expression-options.js';
import { compileContext, formatSpecPath } from '../../../lib/declarative/spec-problem.js';
import type { SpecProblem } from '../../../lib/declarative/spec-problem.js';

/** The plan of a pipeline that has no problems. */
export function planOf(
  stages: unknown,
  kinds: readonly string[] = ['Pod'],
  options: ExpressionOptions = {},
): PipelinePlan {
  const problems: SpecProblem[] = [];
  const sources = kinds.map((kind) => ({ kind }));
  const plan = compilePlan(stages, sources, { ...options, context: compileContext(problems) });
  if (plan === undefined) throw new Error(JSON.stringify(problems));
  return plan;
}

/** A pipeline that runs. */
export function pipelineOf(
  stages: unknown,
  kinds?: readonly string[],
  options?: ExpressionOptions,
): Pipeline {
  return new Pipeline(planOf(stages, kinds, options));
}

/** What is wrong with a pipeline: `path: message (suggestion)`. */
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

/** Something that comes. */
export function added(...documents: readonly Document[]): Delta[] {
  return documents.map((document) => ({ document, weight: 1 }));
}

/** Something that goes. */
export function removed(...documents: readonly Document[]): Delta[] {
  return documents.map((document) => ({ document, weight: -1 }));
}

/** An object that is another one now. */
export function updated(from: Document, to: Document): Delta[] {
  return [...removed(from), ...added(to)];
}

/** An object `namespace/name`. */
export function object(key: string, members: Document = {}): Document {
  const [namespace, name] = key.split('/');
  return { metadata: { namespace, name }, ...members };
}

/** Documents, each as often as it is there, in a fixed order: to be compared. */
export function listed(deltas: readonly Delta[]): Document[] {
  const all = deltas.flatMap(({ document, weight }) =>
    Array.from({ length: weight }, () => document),
  );
  return inOrder(all);
}

/** Documents in a fixed order. */
export function inOrder(documents: readonly Document[]): Document[] {
  const texts = documents.map((document) => ({ document, text: canonicalText(document) }));
  texts.sort((one, other) => (one.text < other.text ? -1 : 1));
  return texts.map(({ document }) => document);
}

/** A pipeline and its target: pushes, and tells what is done to objects as `delete a/b`, `upsert a/c`. */
export function runner(
  stages: unknown,
  kinds: readonly string[] = ['Pod'],
): {
  readonly pipeline: Pipeline;
  readonly collector: OutputCollector;
  push(deltas: readonly Delta[], source?: string): string[];
  /** What the object is to be. */
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
