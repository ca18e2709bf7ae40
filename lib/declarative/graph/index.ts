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
export { toDot } from './to-dot.js';
export { toMermaid } from './to-mermaid.js';
export { toSvg } from './to-svg.js';
