import { OperatorError } from '../../system/operator-error.js';
import { drawingOf } from './drawing.js';
import type { Drawing } from './drawing.js';
import type { OperatorGraph } from './operator-graph.js';
import { dotOfDrawing } from './to-dot.js';

/**
 * Draws a graph as SVG with Graphviz (its WebAssembly build, loaded at the first call). The same graph
 * gives the same text on every machine.
 * @throws OperatorError `InvalidObject`: Graphviz cannot draw the graph
 */
export function toSvg(graph: OperatorGraph): Promise<string> {
  return svgOfDrawing(drawingOf(graph));
}

/** Draws a drawing as SVG. @throws as {@link toSvg} */
export async function svgOfDrawing(drawing: Drawing): Promise<string> {
  const { instance } = await import('@viz-js/viz');
  const graphviz = await instance();
  const result = graphviz.render(dotOfDrawing(drawing), { format: 'svg' });
  if (result.status === 'success') return withRoomForText(result.output);
  const reasons = result.errors.map(({ message }) => message).join('; ');
  throw new OperatorError('InvalidObject', `the graph can't be drawn: ${reasons}`);
}

/**
 * Reduces the font size. Graphviz measures text in Helvetica; where it is missing, the replacement can be
 * a sixth wider, and long lines would exceed their boxes.
 */
function withRoomForText(svg: string): string {
  return svg.replaceAll(
    /(?<= font-size=")[\d.]+(?=")/g,
    (size) => `${Math.round(Number(size) * 0.86 * 10) / 10}`,
  );
}
