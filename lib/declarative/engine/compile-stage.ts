import { isJsonObject, memberOf, withMember } from '../../object/json.js';
import type { Document } from '../document.js';
import { compileCondition, compileExpression, guarded } from '../expression/compile-expression.js';
import { compileProjection } from '../expression/compile-projection.js';
import type { ExpressionOptions } from '../expression/expression-options.js';
import { list } from '../expression/operands.js';
import type { CompileContext } from '../spec-problem.js';
import { compileDocumentPath } from './document-path.js';
import { referencesOf } from './expression-references.js';
import type { DocumentStep } from './linear-node.js';
import type { StagePlan } from './pipeline-plan.js';

/** The names of all stages. */
export const stageNames: readonly string[] = [
  ...['@join', '@select', '@project', '@unwind', '@demux', '@gather', '@mux'],
];

/** The place of a stage. */
export interface StageSite {
  /** The name as written, for example `@mux`. */
  readonly stage: string;
  /** The context of its argument. */
  readonly context: CompileContext;
  readonly options: ExpressionOptions;
}

/** Compiles a stage after the join. undefined: the name is not such a stage, or a problem was reported. */
export function compileStage(argument: unknown, site: StageSite): StagePlan | undefined {
  switch (site.stage) {
    case '@select':
      return select(argument, site);
    case '@project':
      return project(argument, site);
    case '@unwind':
    case '@demux':
      return unwind(argument, site);
    case '@gather':
    case '@mux':
      return gather(argument, site);
    default:
      return undefined;
  }
}

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
 * Returns the document of an element, with a number added to its name. A document without a name stays
 * unnamed.
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
      message: `${stage} wants a list of two: the key, and the path of the values`,
    });
    return undefined;
  }
  const [keySource, pathSource] = argument as readonly unknown[];
  const key = compileExpression(keySource, context.at(0), options);
  const at = compileDocumentPath(pathSource, { ...site, context: context.at(1) });
  if (at === undefined) return undefined;
  return { type: 'gather', step: { stage, path: context.path, key, at } };
}

function each(
  argument: unknown,
  { stage, context }: StageSite,
  apply: DocumentStep['apply'],
): StagePlan {
  const { volatile } = referencesOf(argument);
  return { type: 'each', step: { stage, path: context.path, volatile, apply } };
}
