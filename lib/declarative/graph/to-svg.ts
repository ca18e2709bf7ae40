import { OperatorError } from '../../system/operator-error.js';
import type { OperatorGraph } from './operator-graph.js';
import { toDot } from './to-dot.js';

/**
 * A graph as a picture, drawn by Graphviz (its build in WebAssembly, loaded at the first call). The
 * same graph gives the same text, on any machine.
 * @throws OperatorError `InvalidObject`: Graphviz can't draw it
 */
export async function toSvg(graph: OperatorGraph): Promise<string> {
  const { instance } = await import('@viz-js/viz');
  const graphviz = await instance();
  const result = graphviz.render(toDot(graph), { format: 'svg' });
  if (result.status === 'success') return result.output;
  const reasons = result.errors.map(({ message }) => message).join('; ');
  throw new OperatorError('InvalidObject', `the graph can't be drawn: ${reasons}`);
}
