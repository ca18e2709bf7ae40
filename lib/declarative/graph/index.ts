/*
 * Drawings of declarative operators.
 *
 *   operators ──► operator-graph.ts (JSON) ──► drawing.ts (boxes and arrows) ──► render.ts (dot, Mermaid, SVG)
 */
export { operatorGraph } from './operator-graph.js';
export type { OperatorGraph } from './operator-graph.js';
export { toDot, toMermaid, toSvg } from './render.js';
