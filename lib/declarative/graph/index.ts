/*
 * Drawings of declarative operators.
 *
 *   operators ──► operator-graph.ts (JSON) ──► drawing.ts (boxes and arrows) ──► render.ts (dot, Mermaid, SVG)
 */
export { operatorGraph } from './operator-graph.js';
export type {
  GraphController,
  GraphLink,
  GraphOperator,
  GraphResource,
  GraphSource,
  GraphStage,
  GraphTarget,
  NamedOperator,
  OperatorGraph,
} from './operator-graph.js';
export { toDot, toMermaid, toSvg } from './render.js';
