import { formatLabelSelector } from '../../object/label-selector.js';
import type { PredicateSpec } from '../spec/operator-spec.js';
import type {
  GraphController,
  GraphOperator,
  GraphResource,
  GraphSource,
  OperatorGraph,
} from './operator-graph.js';
import { stageLines } from './stage-lines.js';

/** A drawing, independent of its format: boxes, frames and arrows. */
export interface Drawing {
  /** Boxes outside of all frames. */
  readonly nodes: readonly DrawnNode[];
  readonly frames: readonly DrawnFrame[];
  readonly arrows: readonly DrawnArrow[];
}

/** The role of a box. */
export type NodeLook = 'kind' | 'view' | 'trigger' | 'stage';

/** A box. */
export interface DrawnNode {
  /** Unique in the drawing, of any characters. */
  readonly id: string;
  readonly look: NodeLook;
  readonly lines: readonly string[];
}

/** A frame around boxes. */
export interface DrawnFrame {
  readonly id: string;
  readonly look: 'operator' | 'controller';
  readonly title: string;
  readonly nodes: readonly DrawnNode[];
  readonly frames: readonly DrawnFrame[];
}

/** An arrow from box to box. */
export interface DrawnArrow {
  readonly from: string;
  readonly to: string;
  readonly lines: readonly string[];
}

/** Returns the drawing of a graph: an operator's views inside its frame, all other kinds outside. */
export function drawingOf({ operators, resources }: OperatorGraph): Drawing {
  const names = new Set(operators.map(({ name }) => name));
  const outside = resources.filter(({ viewOf }) => viewOf === undefined || !names.has(viewOf));
  return {
    nodes: outside.map(resourceNode),
    frames: operators.map((operator) => operatorFrame(operator, resources)),
    arrows: operators.flatMap(({ controllers }) => controllers.flatMap(arrowsOf)),
  };
}

function operatorFrame(
  { name, controllers }: GraphOperator,
  resources: readonly GraphResource[],
): DrawnFrame {
  return {
    id: `operator ${name}`,
    look: 'operator',
    title: name,
    nodes: resources
      .filter(({ viewOf }) => viewOf === name)
      .map(({ id, kind }) => ({ id: `kind ${id}`, look: 'view', lines: [kind, 'view'] })),
    frames: controllers.map(controllerFrame),
  };
}

function controllerFrame(controller: GraphController): DrawnFrame {
  const { id, name, sources, stages } = controller;
  const triggers = sources.flatMap((source, place): DrawnNode[] =>
    source.type === 'Watcher'
      ? []
      : [{ id: triggerId(id, place), look: 'trigger', lines: triggerLines(source) }],
  );
  const drawn = stages.map((stage, place): DrawnNode => ({
    id: stageId(id, place),
    look: 'stage',
    lines: stageLines(stage),
  }));
  const passing: DrawnNode = { id: stageId(id, 0), look: 'stage', lines: ['passes through'] };
  const nodes = [...triggers, ...(drawn.length === 0 ? [passing] : drawn)];
  return { id: `controller ${id}`, look: 'controller', title: name, nodes, frames: [] };
}

function resourceNode({ id, apiGroup, kind, viewOf }: GraphResource): DrawnNode {
  // A view outside a frame belongs to an operator that is not drawn.
  const detail = viewOf === undefined ? apiGroup : `view of ${viewOf}`;
  const look = viewOf === undefined ? 'kind' : 'view';
  return { id: `kind ${id}`, look, lines: detail === '' ? [kind] : [kind, detail] };
}

function arrowsOf({ id, sources, stages, target }: GraphController): DrawnArrow[] {
  const last = Math.max(stages.length - 1, 0);
  return [
    ...sources.map((source, place) => ({
      from: source.type === 'Watcher' ? `kind ${source.resource}` : triggerId(id, place),
      to: stageId(id, 0),
      lines: source.type === 'Watcher' ? sourceLines(source) : [],
    })),
    ...stages.slice(1).map((_, place) => ({
      from: stageId(id, place),
      to: stageId(id, place + 1),
      lines: [],
    })),
    {
      from: stageId(id, last),
      to: `kind ${target.resource}`,
      lines: target.type === 'Patcher' ? ['patches'] : [],
    },
  ];
}

function stageId(controller: string, place: number): string {
  return `${controller} stage ${place + 1}`;
}

function triggerId(controller: string, place: number): string {
  return `${controller} source ${place + 1}`;
}

function triggerLines({
  type,
  kind,
  periodMs,
}: Exclude<GraphSource, { type: 'Watcher' }>): string[] {
  const what = type === 'Periodic' ? `every ${periodMs / 1000} s` : 'once';
  return kind === type ? [what] : [kind, what];
}

function sourceLines(source: Extract<GraphSource, { type: 'Watcher' }>): string[] {
  const { as, namespace, labelSelector, predicate } = source;
  return [
    ...(as === undefined ? [] : [`as ${as}`]),
    ...(namespace === undefined ? [] : [`in ${namespace}`]),
    ...(labelSelector === undefined ? [] : [formatLabelSelector(labelSelector)]),
    ...(predicate === undefined ? [] : [predicateText(predicate)]),
  ].filter((line) => line !== '');
}

function predicateText(predicate: PredicateSpec): string {
  switch (predicate.type) {
    case 'basic':
      return predicate.name;
    case 'not':
      return `not ${predicateText(predicate.predicate)}`;
    case 'and':
    case 'or':
      return `(${predicate.predicates.map(predicateText).join(` ${predicate.type} `)})`;
  }
}
