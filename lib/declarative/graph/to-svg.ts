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
  if (result.status === 'success') return withRoomForText(result.output);
  const reasons = result.errors.map(({ message }) => message).join('; ');
  throw new OperatorError('InvalidObject', `the graph can't be drawn: ${reasons}`);
}

/**
 * Graphviz measures with Helvetica. Where a reader's machine has none, a font stands in that can be a
 * sixth wider, and long lines would stick out of their boxes.
 */
function withRoomForText(svg: string): string {
  return svg.replaceAll(
    /(?<= font-size=")[\d.]+(?=")/g,
    (size) => `${Math.round(Number(size) * 0.86 * 10) / 10}`,
  );
}
