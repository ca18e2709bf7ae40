import { isJsonObject } from '../../object/json.js';
import { nearestName } from '../../system/known-options.js';
import type { CompileContext } from '../spec-problem.js';
import { stageNames } from './compile-stage.js';

/** A stage as written in the specification. */
export interface WrittenStage {
  /** Its index in the pipeline, from 0. */
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

/** dcontroller's original form: `@join` beside `@aggregate`, which holds the other stages. */
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
    const got = more.length > 0 ? `, not ${more.length + 1}: they go into a list` : '';
    context.report({ message: `a stage is a map with one member, as "@select"${got}` });
    return [];
  }
  if (!stageNames.includes(name)) {
    const message = `there is no stage ${name}; the stages are ${stageNames.join(', ')}`;
    context.report({ message, suggestion: nearestName(name, stageNames) }, name);
    return [];
  }
  return [{ place, name, argument: stage[name], context: context.at(name) }];
}
