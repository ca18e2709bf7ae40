import type * as Graphviz from '@viz-js/viz';
import { OperatorError } from '../../system/index.js';
import { drawingOf } from './drawing.js';
import type { Drawing, DrawnArrow, DrawnFrame, DrawnNode, NodeLook } from './drawing.js';
import type { OperatorGraph } from './operator-graph.js';

type Attributes = Readonly<Record<string, string>>;

type Look = { readonly fillcolor: string; readonly color: string; readonly style?: string };

const font = 'Helvetica';
const allNodes: Attributes = {
  ...{ shape: 'box', style: 'rounded,filled', margin: '0.12,0.06', fontname: font, fontsize: '11' },
};

const looks: Readonly<Record<NodeLook, Look>> = {
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
    ...pairs(frameLooks[look], [title]),
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
  const all = pairs(given, lines);
  return all.length === 0 ? '' : ` [${all.join(' ')}]`;
}

function pairs(given: Attributes, lines: readonly string[]): string[] {
  const own = Object.entries(given).map(([name, value]) => `${name}=${quoted(value)}`);
  return lines.length === 0 ? own : [`label=${dotLabel(lines)}`, ...own];
}

/** In a label `&` begins an entity, unlike in other strings. */
function dotLabel(lines: readonly string[]): string {
  return `"${lines.map((line) => dotEscaped(line.replaceAll('&', '&amp;'))).join('\\n')}"`;
}

function quoted(text: string): string {
  return `"${dotEscaped(text)}"`;
}

/** Escapes quotes and backslashes; replaces control characters by spaces. */
function dotEscaped(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, ' ').replaceAll(/["\\]/g, '\\$&');
}

function indented(line: string): string {
  return `  ${line}`;
}

/** Returns a graph as a Mermaid flowchart. The same graph gives the same text. */
export function toMermaid(graph: OperatorGraph): string {
  return mermaidOfDrawing(drawingOf(graph));
}

export function mermaidOfDrawing(drawing: Drawing): string {
  const ids = numbered(drawing);
  const nodeLine = ({ id, look, lines }: DrawnNode): string =>
    `${idOf(ids, id)}["${mermaidLabel(lines)}"]:::${look}`;
  const frameLines = ({ id, title, nodes, frames }: DrawnFrame): string[] => [
    `subgraph ${idOf(ids, id)}["${mermaidLabel([title])}"]`,
    ...[...nodes.map(nodeLine), ...frames.flatMap(frameLines)].map(indented),
    'end',
  ];
  const body = [
    ...drawing.nodes.map(nodeLine),
    ...drawing.frames.flatMap(frameLines),
    ...drawing.arrows.map(({ from, to, lines }) => {
      const text = lines.length === 0 ? '' : `|"${mermaidLabel(lines)}"|`;
      return `${idOf(ids, from)} -->${text} ${idOf(ids, to)}`;
    }),
    ...Object.entries(looks).map(([look, { fillcolor, color, style }]) => {
      const dashed = style === undefined ? '' : ',stroke-dasharray:4';
      return `classDef ${look} fill:${fillcolor},stroke:${color},color:#111${dashed}`;
    }),
  ];
  return ['flowchart LR', ...body.map(indented), ''].join('\n');
}

/** Returns ids for Mermaid, which accepts few characters and reserves some words. */
function numbered({ nodes, frames }: Drawing): ReadonlyMap<string, string> {
  const ids = new Map<string, string>();
  const add = (id: string, letter: string): void => {
    ids.set(id, `${letter}${ids.size + 1}`);
  };
  const visit = (frame: DrawnFrame): void => {
    add(frame.id, 'f');
    for (const { id } of frame.nodes) add(id, 'n');
    frame.frames.forEach(visit);
  };
  for (const { id } of nodes) add(id, 'n');
  frames.forEach(visit);
  return ids;
}

function idOf(ids: ReadonlyMap<string, string>, id: string): string {
  return ids.get(id) ?? id;
}

function mermaidLabel(lines: readonly string[]): string {
  return lines.map(mermaidEscaped).join('<br>');
}

/**
 * Escapes everything that Mermaid may interpret as syntax, HTML, Markdown or TeX: all characters except
 * letters, digits and a few harmless ones. `.`, `)` or `-` before a space may begin a list.
 */
function mermaidEscaped(text: string): string {
  return text
    .replaceAll(/\p{Cc}/gu, ' ')
    .replaceAll(
      /[^\p{L}\p{N} .,@/()-]|[.)-](?=\s)/gu,
      (character) => `#${character.codePointAt(0) ?? 32};`,
    );
}

/**
 * Draws a graph as SVG with Graphviz (its WebAssembly build, loaded at the first call). The same graph
 * gives the same text on every machine.
 * @throws OperatorError `InvalidObject`: Graphviz cannot draw the graph
 * @throws OperatorError `InvalidOption`: the optional dependency `@viz-js/viz` is not installed
 */
export function toSvg(graph: OperatorGraph): Promise<string> {
  return svgOfDrawing(drawingOf(graph));
}

/** Draws a drawing as SVG. @throws as {@link toSvg} */
export async function svgOfDrawing(drawing: Drawing): Promise<string> {
  const { instance } = await loadGraphviz();
  const graphviz = await instance();
  const result = graphviz.render(dotOfDrawing(drawing), { format: 'svg' });
  if (result.status === 'success') return withRoomForText(result.output);
  const reasons = result.errors.map(({ message }) => message).join('; ');
  throw new OperatorError('InvalidObject', `the graph can't be drawn: ${reasons}`);
}

async function loadGraphviz(): Promise<typeof Graphviz> {
  try {
    return await import('@viz-js/viz');
  } catch (error) {
    const message =
      'format svg needs the optional package @viz-js/viz, which cannot be loaded; ' +
      'install it, or draw the graph as mermaid or dot';
    throw new OperatorError('InvalidOption', message, { cause: error });
  }
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
