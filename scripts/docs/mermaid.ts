import { instance } from '@viz-js/viz';

/** Returns a function that draws a Mermaid diagram as SVG, for the site: its pages load no script that would. */
export async function mermaidRenderer(): Promise<(text: string) => string> {
  const graphviz = await instance();
  return (text) => {
    const svg = graphviz.renderString(dotOfMermaid(text), { format: 'svg' });
    return svg.slice(svg.indexOf('<svg')).replace('<svg ', '<svg style="max-width:100%" ');
  };
}

type Rule = readonly [RegExp, (...parts: string[]) => string];

const quoted = (text: string): string => JSON.stringify(text.replaceAll('<br>', '\n'));
const edge = (from = '', to = '', label = ''): string =>
  `${from} -> ${to} [label=${quoted(label)}]`;
// `[*]` is the start as a source, and the end as a target.
const source = (state = ''): string => (state === '[*]' ? 'start' : state);
const target = (state = ''): string => (state === '[*]' ? 'end' : state);

const flowchart: readonly Rule[] = [
  [
    /^subgraph (\w+)\["(.*)"\]$/,
    (id = '', label = '') => `subgraph cluster_${id} { label=${quoted(label)}`,
  ],
  [/^end$/, () => '}'],
  [/^(\w+)\["(.*)"\]$/, (id = '', label = '') => `${id} [label=${quoted(label)}]`],
  [/^(\w+) -->\|"(.*)"\| (\w+)$/, (from, label, to) => edge(from, to, label)],
];
const stateDiagram: readonly Rule[] = [
  [/^state "(.*)" as (\w+)$/, (label = '', id = '') => `${id} [label=${quoted(label)}]`],
  [/^(\w+|\[\*\]) --> (\w+|\[\*\])$/, (from, to) => edge(source(from), target(to))],
  [/^(\w+) --> (\w+): (.*)$/, edge],
];
const point = 'shape=circle, style=filled, fillcolor="#777777", label="", width=0.15';
const kinds: Readonly<Record<string, readonly [string, readonly Rule[]]>> = {
  'flowchart LR': ['rankdir=LR', flowchart],
  'stateDiagram-v2': [`{ start [${point}]; end [${point}] }`, stateDiagram],
};

/**
 * Returns a Mermaid diagram in the Graphviz language: of flowcharts and state diagrams the parts that the pages use.
 * @throws Error: a line is of another form
 */
export function dotOfMermaid(text: string): string {
  const [heading = '', ...lines] = text.trim().split('\n');
  const kind = kinds[heading];
  if (kind === undefined) throw new Error(`unknown kind of Mermaid diagram: ${heading}`);
  const [settings, rules] = kind;
  const statements = lines.map((line) => statementOf(line.trim(), rules));
  return [
    'digraph {',
    'bgcolor=white; fontname=Helvetica; fontsize=12',
    'node [shape=box, style="rounded,filled", fillcolor="#dbe9ff", color="#3d6fb6", fontname=Helvetica, fontsize=12]',
    'edge [fontname=Helvetica, fontsize=10, color="#555555"]',
    settings,
    ...statements,
    '}',
  ].join('\n');
}

function statementOf(line: string, rules: readonly Rule[]): string {
  for (const [pattern, statement] of rules) {
    const [whole, ...parts] = pattern.exec(line) ?? [];
    if (whole !== undefined) return statement(...parts);
  }
  throw new Error(`unknown line of a Mermaid diagram: ${line}`);
}
