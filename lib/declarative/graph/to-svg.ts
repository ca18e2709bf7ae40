import { OperatorError } from '../../system/operator-error.js';
import { drawingOf } from './drawing.js';
import type { Drawing } from './drawing.js';
import type { OperatorGraph } from './operator-graph.js';
import { dotOfDrawing } from './to-dot.js';

/**
 * A graph as a picture, drawn by Graphviz (its build in WebAssembly, loaded at the first call). The
 * same graph gives the same text, on any machine.
 * @throws OperatorError `InvalidObject`: Graphviz can't draw it
 */
export function toSvg(graph: OperatorGraph): Promise<string> {
  return svgOfDrawing(drawingOf(graph));
}

/** What is to be drawn, as a picture. @throws as {@link toSvg} does */
export async function svgOfDrawing(drawing: Drawing): Promise<string> {
  const { instance } = await import('@viz-js/viz');
  const graphviz = await instance();
  const result = graphviz.render(dotOfDrawing(drawing), { format: 'svg' });
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
