import { isJsonObject, formatLabelSelector } from '../../object/index.js';
import { trimMiddle } from '../expression/operands.js';
import type { PredicateSpec } from '../spec/operator-spec.js';
import type {
  GraphController,
  GraphOperator,
  GraphResource,
  GraphSource,
  GraphStage,
  OperatorGraph,
} from './operator-graph.js';

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
  /** The id, unique in the drawing. It may contain any characters. */
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
  // A view without a frame belongs to an operator that is not in the graph, so show the operator's name.
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

const longestLine = 72;
const mostLines = 4;

/** Returns the lines that describe a stage in a drawing: its name and a summary, at most five lines. */
export function stageLines({ name, argument }: GraphStage): readonly string[] {
  const details = detailsOf(name, argument);
  const shown = details.length > mostLines ? [...details.slice(0, mostLines - 1), '…'] : details;
  return [name, ...shown.map((line) => trimMiddle(line, longestLine))];
}

function detailsOf(name: string, argument: unknown): readonly string[] {
  switch (name) {
    case '@join':
    case '@select':
      return conditions(argument);
    case '@project':
      return [...new Set(projected(argument))];
    case '@gather':
    case '@mux':
      return Array.isArray(argument) ? [`by ${brief(argument[0])}`, brief(argument[1])] : [];
    default:
      return [brief(argument)];
  }
}

/** Returns one line per condition of an `@and`, and none for the condition `true`. */
function conditions(condition: unknown): readonly string[] {
  const [operator, operands] = operationOf(condition) ?? [];
  if (operator === '@and' && Array.isArray(operands)) return operands.flatMap(conditions);
  return condition === true ? [] : [brief(condition)];
}

/** Returns the members that a projection writes; `$.a.b` for a path. */
function projected(argument: unknown): readonly string[] {
  if (Array.isArray(argument)) return argument.flatMap(projected);
  if (operationOf(argument) !== undefined || !isJsonObject(argument)) return [brief(argument)];
  return [Object.keys(argument).join(', ')];
}

/** Returns a readable form of an expression: `a = b` for `@eq`, `@len($.pods)` for an operator. */
function brief(expression: unknown): string {
  if (typeof expression === 'string') return expression;
  if (Array.isArray(expression)) return `[${expression.map(brief).join(', ')}]`;
  const operation = operationOf(expression);
  if (operation !== undefined) return briefOperation(operation);
  if (!isJsonObject(expression)) return JSON.stringify(expression);
  const members = Object.entries(expression).map(([name, value]) => `${name}: ${brief(value)}`);
  return `{${members.join(', ')}}`;
}

function briefOperation([operator, operand]: readonly [string, unknown]): string {
  const operands = Array.isArray(operand) ? (operand as readonly unknown[]) : [operand];
  const [left, right, ...others] = operands;
  if (operator === '@eq' && right !== undefined && others.length === 0) {
    return `${brief(left)} = ${brief(right)}`;
  }
  return `${operator}(${operands.map(brief).join(', ')})`;
}

function operationOf(expression: unknown): readonly [string, unknown] | undefined {
  if (!isJsonObject(expression)) return undefined;
  const [entry, ...others] = Object.entries(expression);
  return entry !== undefined && others.length === 0 && entry[0].startsWith('@') ? entry : undefined;
}
