import { drawingOf } from './drawing.js';
import type { Drawing, DrawnArrow, DrawnFrame, DrawnNode, NodeLook } from './drawing.js';
import type { OperatorGraph } from './operator-graph.js';

type Attributes = Readonly<Record<string, string>>;

const font = 'Helvetica';
const allNodes: Attributes = {
  ...{ shape: 'box', style: 'rounded,filled', margin: '0.12,0.06', fontname: font, fontsize: '11' },
};

const looks: Readonly<Record<NodeLook, Attributes>> = {
  kind: { fillcolor: '#dbe9ff', color: '#3d6fb6' },
  view: { fillcolor: '#dff3e1', color: '#3f8a4a', style: 'rounded,filled,dashed' },
  trigger: { fillcolor: '#fff3cf', color: '#a98526' },
  stage: { fillcolor: '#ffffff', color: '#777777' },
};

const frameLooks: Readonly<Record<DrawnFrame['look'], Attributes>> = {
  operator: { style: 'rounded', color: '#555555', fontsize: '14' },
  controller: { style: 'rounded,filled', color: '#c4c4c4', fillcolor: '#f5f5f5', fontsize: '12' },
};

/** Returns a graph in the Graphviz language. The same graph gives the same text. */
export function toDot(graph: OperatorGraph): string {
  return dotOfDrawing(drawingOf(graph));
}

/** Returns a drawing in the Graphviz language. */
export function dotOfDrawing({ nodes, frames, arrows }: Drawing): string {
  return [
    'digraph {',
    `  graph${attributes({ rankdir: 'LR', fontname: font, bgcolor: '#ffffff', nodesep: '0.3' })}`,
    `  node${attributes(allNodes)}`,
    `  edge${attributes({ fontname: font, fontsize: '10', color: '#555555' })}`,
    ...nodes.map(nodeLine).map(indented),
    ...frames.flatMap(frameLines).map(indented),
    ...arrows.map(arrowLine).map(indented),
    '}',
    '',
  ].join('\n');
}

function frameLines({ id, look, title, nodes, frames }: DrawnFrame): string[] {
  const inside = [
    ...Object.entries({ label: label([title]), ...frameLooks[look] }).map(
      ([name, value]) => `${name}=${name === 'label' ? value : quoted(value)}`,
    ),
    ...nodes.map(nodeLine),
    ...frames.flatMap(frameLines),
  ];
  // Graphviz draws a subgraph as a frame if its name begins with `cluster`.
  return [`subgraph ${quoted(`cluster ${id}`)} {`, ...inside.map(indented), '}'];
}

function nodeLine({ id, look, lines }: DrawnNode): string {
  return `${quoted(id)}${attributes(looks[look], lines)}`;
}

function arrowLine({ from, to, lines }: DrawnArrow): string {
  return `${quoted(from)} -> ${quoted(to)}${attributes({}, lines)}`;
}

function attributes(given: Attributes, lines: readonly string[] = []): string {
  const pairs = Object.entries(given).map(([name, value]) => `${name}=${quoted(value)}`);
  if (lines.length > 0) pairs.unshift(`label=${label(lines)}`);
  return pairs.length === 0 ? '' : ` [${pairs.join(' ')}]`;
}

/** In a label `&` begins an entity, unlike in other strings. */
function label(lines: readonly string[]): string {
  return `"${lines.map((line) => escaped(line.replaceAll('&', '&amp;'))).join('\\n')}"`;
}

function quoted(text: string): string {
  return `"${escaped(text)}"`;
}

/** Escapes quotes and backslashes; replaces control characters by spaces. */
function escaped(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, ' ').replaceAll(/["\\]/g, '\\$&');
}

function indented(line: string): string {
  return `  ${line}`;
}
