import { drawingOf } from './drawing.js';
import type { Drawing, DrawnFrame, DrawnNode, NodeLook } from './drawing.js';
import type { OperatorGraph } from './operator-graph.js';

const looks: Readonly<Record<NodeLook, string>> = {
  kind: 'fill:#dbe9ff,stroke:#3d6fb6,color:#111',
  view: 'fill:#dff3e1,stroke:#3f8a4a,color:#111,stroke-dasharray:4',
  trigger: 'fill:#fff3cf,stroke:#a98526,color:#111',
  stage: 'fill:#ffffff,stroke:#777777,color:#111',
};

/** Returns a graph as a Mermaid flowchart. The same graph gives the same text. */
export function toMermaid(graph: OperatorGraph): string {
  return mermaidOfDrawing(drawingOf(graph));
}

/** Returns a drawing as a Mermaid flowchart. */
export function mermaidOfDrawing(drawing: Drawing): string {
  const ids = numbered(drawing);
  const nodeLine = ({ id, look, lines }: DrawnNode): string =>
    `${idOf(ids, id)}["${label(lines)}"]:::${look}`;
  const frameLines = ({ id, title, nodes, frames }: DrawnFrame): string[] => [
    `subgraph ${idOf(ids, id)}["${label([title])}"]`,
    ...[...nodes.map(nodeLine), ...frames.flatMap(frameLines)].map(indented),
    'end',
  ];
  const body = [
    ...drawing.nodes.map(nodeLine),
    ...drawing.frames.flatMap(frameLines),
    ...drawing.arrows.map(({ from, to, lines }) => {
      const text = lines.length === 0 ? '' : `|"${label(lines)}"|`;
      return `${idOf(ids, from)} -->${text} ${idOf(ids, to)}`;
    }),
    ...Object.entries(looks).map(([look, style]) => `classDef ${look} ${style}`),
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

function label(lines: readonly string[]): string {
  return lines.map(escaped).join('<br>');
}

/**
 * Escapes everything that Mermaid may interpret as syntax, HTML, Markdown or TeX: all characters except
 * letters, digits and a few harmless ones. `.`, `)` or `-` before a space may begin a list.
 */
function escaped(text: string): string {
  return text
    .replaceAll(/\p{Cc}/gu, ' ')
    .replaceAll(
      /[^\p{L}\p{N} .,@/()-]|[.)-](?=\s)/gu,
      (character) => `#${character.codePointAt(0) ?? 32};`,
    );
}

function indented(line: string): string {
  return `  ${line}`;
}
