import { isJsonObject, memberOf, withMember } from '../../object/index.js';
import { nearestName } from '../../system/index.js';
import type { Document } from '../document.js';
import {
  compileCondition,
  compileExpression,
  guarded,
  compileProjection,
} from '../expression/compile-expression.js';
import type { ExpressionOptions } from '../expression/compiled.js';
import { list } from '../expression/operands.js';
import type { CompileContext, SpecProblem } from '../spec-problem.js';
import { compileJoin } from './compile-join.js';
import { compileDocumentPath, referencesOf } from './expression-references.js';
import type { GatherStep } from './gather-node.js';
import type { JoinPlan } from './compile-join.js';
import type { DocumentStep } from './linear-node.js';

/** Options of {@link compilePlan}. */
export interface PipelineSettings extends ExpressionOptions {
  /** The context of the controller, whose members are `sources` and `pipeline`; receives the problems. */
  readonly context: CompileContext;
}

/**
 * Compiles the pipeline of a controller: a stage, a list of stages, or nothing (documents pass unchanged).
 * Reports all problems to the context.
 * @returns a plan from which any number of pipelines can run; undefined: problems were reported
 */
export function compilePlan(
  pipeline: unknown,
  sources: readonly PipelineSource[],
  { context, ...options }: PipelineSettings,
): PipelinePlan | undefined {
  const before = context.problems.length;
  const names = compileSourceNames(sources, context);
  const written = writtenStages(pipeline, context.at('pipeline'));
  const join = joinOf(written, { names, context: context.at('pipeline'), options });
  const stages = written.flatMap(({ name, argument, context: at }) => {
    const compile = stageCompilers.get(name);
    return compile?.(argument, { stage: name, context: at, options }) ?? [];
  });
  if (context.problems.length > before) return undefined;
  return { sources: names, join, stages, warnings: join === undefined ? [] : warningsOf(join) };
}

function joinOf(
  written: readonly WrittenStage[],
  site: {
    readonly names: readonly string[];
    readonly context: CompileContext;
    readonly options: ExpressionOptions;
  },
): JoinPlan | undefined {
  const { names, options } = site;
  const joins = written.filter(({ name }) => name === '@join');
  for (const { place, context } of joins) {
    if (place > 0) context.report({ message: 'want @join only once, as the first stage' });
  }
  const [join] = joins;
  if (join === undefined) {
    if (names.length > 1) {
      const message = `several sources (${names.join(', ')}): want @join as the first stage`;
      site.context.report({ message });
    }
    return undefined;
  }
  return compileJoin(join.argument, { names, context: join.context, options });
}

function warningsOf({ path, sources, orders }: JoinPlan): SpecProblem[] {
  if (orders.untied.length === 0) return [];
  const untied = orders.untied.map((number) => sources[number]?.name).join(', ');
  const message =
    `no equality links ${untied} to ${sources[0]?.name ?? ''}, so all their objects are compared, ` +
    `which is slow; add an @eq or @in with an expression of each source, alone or in the @and of the condition`;
  return [{ path, message }];
}

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

interface StageSite {
  /** The name as written, for example `@mux`. */
  readonly stage: string;
  /** The context of its argument. */
  readonly context: CompileContext;
  readonly options: ExpressionOptions;
}

/** Compiles a stage. undefined: a problem was reported. */
type CompileStage = (argument: unknown, site: StageSite) => StagePlan | undefined;

/** The stages after the join, by name. */
const stageCompilers: ReadonlyMap<string, CompileStage> = new Map([
  ['@select', select],
  ['@project', project],
  ['@unwind', unwind],
  ['@demux', unwind],
  ['@gather', gather],
  ['@mux', gather],
]);

export const stageNames: readonly string[] = ['@join', ...stageCompilers.keys()];

function select(argument: unknown, site: StageSite): StagePlan {
  const { stage, context, options } = site;
  const holds = compileCondition(argument, context, { ...options, operation: stage });
  return each(argument, site, (document) => (holds(document) ? [document] : []));
}

function project(argument: unknown, site: StageSite): StagePlan {
  const projected = compileProjection(argument, site.context, site.options);
  return each(argument, site, (document) => [projected(document)]);
}

function unwind(argument: unknown, site: StageSite): StagePlan | undefined {
  const place = compileDocumentPath(argument, site);
  if (place === undefined) return undefined;
  const unwound = (document: Document): readonly Document[] =>
    list
      .read(place.get(document) ?? [], site.stage)
      .map((element, number) => numbered(place.set(document, element ?? null), number));
  return each(argument, site, guarded(unwound, site.options));
}

/**
 * Returns a document that `@unwind` makes of a list element, with the number of the element added to the name. A
 * document without a name stays unnamed.
 */
function numbered(document: Document, number: number): Document {
  const metadata = memberOf(document, 'metadata');
  if (!isJsonObject(metadata)) return document;
  const name = memberOf(metadata, 'name');
  if (typeof name !== 'string') return document;
  return withMember(document, 'metadata', withMember(metadata, 'name', `${name}-${number}`));
}

function gather(argument: unknown, site: StageSite): StagePlan | undefined {
  const { stage, context, options } = site;
  if (!Array.isArray(argument) || argument.length !== 2) {
    context.report({
      message: `${stage}: want a list of two: the key, and the path of the values`,
    });
    return undefined;
  }
  const [keySource, pathSource] = argument as readonly unknown[];
  const key = compileExpression(keySource, context.at(0), options);
  const at = compileDocumentPath(pathSource, { ...site, context: context.at(1) });
  if (at === undefined) return undefined;
  const { volatile } = referencesOf(keySource);
  return { type: 'gather', step: { stage, path: context.path, key, volatile, at } };
}

function each(
  argument: unknown,
  { stage, context }: StageSite,
  apply: DocumentStep['apply'],
): StagePlan {
  const { volatile } = referencesOf(argument);
  return { type: 'each', step: { stage, path: context.path, volatile, apply } };
}

// Names that a path can use without quotes.
const sourceName = /^[\p{L}_][\p{L}\p{N}_-]*$/u;

/**
 * Returns the names of the sources in the documents of a join: their aliases, or their kinds. Names must be
 * unique.
 * @param context - of the controller
 */
function compileSourceNames(
  sources: readonly PipelineSource[],
  context: CompileContext,
): readonly string[] {
  if (sources.length === 0) context.report({ message: 'want at least one source' }, 'sources');
  const names = sources.map(({ kind, as }) => as ?? kind);
  for (const [place, source] of sources.entries()) {
    const name = source.as ?? source.kind;
    const at = context.at('sources', place, source.as === undefined ? 'kind' : 'as');
    if (!sourceName.test(name)) {
      at.report({ message: `invalid name ${JSON.stringify(name)}; want letters, digits, _ and -` });
    }
    const other = sources[names.indexOf(name)];
    if (other !== undefined && other !== source) reportClash(source, other, at);
  }
  return names;
}

function reportClash(source: PipelineSource, other: PipelineSource, at: CompileContext): void {
  const name = source.as ?? source.kind;
  const suggestion = `as: ${name}2`;
  if (source.as === undefined && other.as === undefined) {
    const groups =
      source.apiGroup === other.apiGroup
        ? 'twice'
        : `in two groups, ${groupText(other)} and ${groupText(source)}`;
    at.report({ message: `kind ${name} is a source ${groups}: give one an alias`, suggestion });
    return;
  }
  const message = `another source is called ${name} already: give this one another alias`;
  at.report({ message, suggestion });
}

function groupText({ apiGroup }: PipelineSource): string {
  if (apiGroup === undefined) return "the operator's views";
  return apiGroup === '' ? 'core ("")' : apiGroup;
}

/** A stage as written in the specification. */
interface WrittenStage {
  /** The index of the stage in the pipeline, from 0. */
  readonly place: number;
  readonly name: string;
  readonly argument: unknown;
  /** The context of the argument. */
  readonly context: CompileContext;
}

/**
 * Returns the stages of a pipeline in order. The pipeline may be a single stage, a list, dcontroller's
 * original form, or absent. Invalid stages are reported and omitted.
 */
export function writtenStages(pipeline: unknown, context: CompileContext): readonly WrittenStage[] {
  if (pipeline === undefined || pipeline === null) return [];
  if (isFirstForm(pipeline)) return stagesOfFirstForm(pipeline, context);
  if (!Array.isArray(pipeline)) return writtenStage(pipeline, 0, context);
  return pipeline.flatMap((stage, place) => writtenStage(stage, place, context.at(place)));
}

/** dcontroller's original form: `@join` next to `@aggregate`, which holds the other stages. */
interface FirstForm {
  readonly '@join'?: unknown;
  readonly '@aggregate': readonly unknown[];
}

function isFirstForm(pipeline: unknown): pipeline is FirstForm {
  if (!isJsonObject(pipeline) || !Array.isArray(pipeline['@aggregate'])) return false;
  return Object.keys(pipeline).every((name) => name === '@join' || name === '@aggregate');
}

function stagesOfFirstForm(pipeline: FirstForm, context: CompileContext): WrittenStage[] {
  const { '@join': argument, '@aggregate': stages } = pipeline;
  const joined = argument === undefined ? 0 : 1;
  const join = { place: 0, name: '@join', argument, context: context.at('@join') };
  const others = stages.flatMap((stage, place) =>
    writtenStage(stage, place + joined, context.at('@aggregate', place)),
  );
  return joined === 0 ? others : [join, ...others];
}

function writtenStage(stage: unknown, place: number, context: CompileContext): WrittenStage[] {
  const [name, ...more] = isJsonObject(stage) ? Object.keys(stage) : [];
  if (!isJsonObject(stage) || name === undefined || more.length > 0) {
    const got = more.length > 0 ? `, got ${more.length + 1}; put stages into a list` : '';
    context.report({ message: `want a map with one member as the stage, such as "@select"${got}` });
    return [];
  }
  if (!stageNames.includes(name)) {
    const message = `there is no stage ${name}; the stages are ${stageNames.join(', ')}`;
    context.report({ message, suggestion: nearestName(name, stageNames) }, name);
    return [];
  }
  return [{ place, name, argument: stage[name], context: context.at(name) }];
}
