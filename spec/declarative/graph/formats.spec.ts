import { expect } from 'chai';
import fc from 'fast-check';
import { toDot, toMermaid, toSvg } from '../../../lib/declarative/graph/index.js';
import { tries } from '../../sample.js';
import { graphOf, graphWith } from './graphed.js';

const operator = `
controllers:
  - name: pods
    sources:
      - apiGroup: ''
        kind: Pod
        as: p
        namespace: shop
        labelSelector: { matchLabels: { app: web } }
        predicate: { and: [LabelChanged, { not: GenerationChanged }] }
      - { kind: Tick, type: Periodic, parameters: { period: 90s } }
      - { apiGroup: source.dcontroller.io, kind: OneShot }
      - { apiGroup: far.view.dcontroller.io, kind: Far }
    pipeline:
      - '@join': { '@eq': [$.p.a, $.Far.a] }
      - '@unwind': $.p.ports
    target: { kind: Port }
  - name: annotate
    sources: [{ kind: Port }]
    target: { apiGroup: apps, kind: Deployment, type: Patcher }
`;

const mermaid = `
flowchart LR
  n1["Pod"]:::kind
  n2["Deployment<br>apps"]:::kind
  n3["Far<br>view of far"]:::view
  subgraph f4["op"]
    n5["Port<br>view"]:::view
    subgraph f6["pods"]
      n7["Tick<br>every 90 s"]:::trigger
      n8["once"]:::trigger
      n9["@join<br>#36;.p.a #61; #36;.Far.a"]:::stage
      n10["@unwind<br>#36;.p.ports"]:::stage
    end
    subgraph f11["annotate"]
      n12["passes through"]:::stage
    end
  end
  n1 -->|"as p<br>in shop<br>app#61;web<br>(LabelChanged and not GenerationChanged)"| n9
  n7 --> n9
  n8 --> n9
  n3 --> n9
  n9 --> n10
  n10 --> n5
  n5 --> n12
  n12 -->|"patches"| n2
  classDef kind fill:#dbe9ff,stroke:#3d6fb6,color:#111
  classDef view fill:#dff3e1,stroke:#3f8a4a,color:#111,stroke-dasharray:4
  classDef trigger fill:#fff3cf,stroke:#a98526,color:#111
  classDef stage fill:#ffffff,stroke:#777777,color:#111
`;

// Names may have any characters; characters with a meaning in a format come often.
const text = fc.string({
  unit: fc.oneof(
    fc.constantFrom(
      '"',
      '\\',
      '&',
      '<',
      '>',
      '#',
      ';',
      '`',
      '*',
      '_',
      '$',
      '|',
      '[',
      ':',
      '-',
      '. ',
    ),
    fc.constantFrom('&amp;', '\\N', '\n', '\0', '<br>', 'end', '#35;'),
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 1 }),
  ),
  minLength: 1,
  maxLength: 12,
});

describe('A graph', () => {
  it('has subgraphs, boxes and arrows as Mermaid', () => {
    expect(toMermaid(graphOf(operator))).to.equal(mermaid.trimStart());
  });

  it('has clusters, boxes and arrows as DOT', () => {
    const lines = toDot(graphOf(operator)).split('\n');
    for (const line of [
      '  subgraph "cluster operator op" {',
      '    subgraph "cluster controller op/pods" {',
      '      label="pods"',
      '  "op/pods stage 1" -> "op/pods stage 2"',
      '  "op/annotate stage 1" -> "kind apps/Deployment" [label="patches"]',
    ]) {
      expect(lines).to.include(line);
    }
    const fills = lines.flatMap((line) => /fillcolor="([^"]*)"/.exec(line)?.slice(1) ?? []);
    expect(fills.every((fill) => /^#[0-9a-f]{6}$/.test(fill))).to.equal(true);
    // Kinds, views, triggers, stages and the frames of controllers.
    expect(new Set(fills).size).to.equal(5);
    const arrows = (lists: readonly string[], arrow: string): number =>
      lists.filter((line) => line.includes(arrow)).length;
    expect(arrows(lines, ' -> ')).to.equal(arrows(mermaid.split('\n'), ' -->'));
  });

  it('contains every text of the graph in SVG', async () => {
    const texts = textsOf(await toSvg(graphOf(operator)));
    expect(texts).to.include.members([
      ...['op', 'pods', 'Pod', 'every 90 s', '$.p.a = $.Far.a', '@unwind', 'passes through'],
    ]);
  });

  it('has the same text in every format', async () => {
    for (const format of [toMermaid, toDot, toSvg]) {
      expect(await format(graphOf(operator))).to.equal(await format(graphOf(operator)));
    }
  });

  it('escapes names in Mermaid, so that none is parsed as syntax', () => {
    const property = fc.property(text, (name) => {
      const drawn = toMermaid(graphWith(name));
      const labels = [...drawn.matchAll(/"(.*?)"/g)].map(([, label = '']) => label);
      for (const label of labels) {
        expect(label.replaceAll(/<br>|#\d+;/g, '')).to.match(/^[\p{L}\p{N} .,@/()-]*$/u);
        expect(label, 'a list of Markdown').to.not.match(/[-.)]\s/);
      }
      const shown = labels.map((label) => decoded(label.replaceAll(/#(\d+);/g, '&#$1;')));
      const named = [`as ${name}`, `V${name}<br>view`, `@project<br>a${name}`, name];
      expect(shown.map(plain)).to.include.members(named.map(plain));
    });
    fc.assert(property);
  });

  it('shows names unchanged in SVG, which is drawn from DOT', async () => {
    const property = fc.asyncProperty(text, async (name) => {
      const texts = textsOf(await toSvg(graphWith(name)));
      const shown = [`as ${name}`, `V${name}`, `a${name}`].map(plain);
      expect(texts.map(plain)).to.include.members(shown);
    });
    await fc.assert(property, { numRuns: tries(25) });
  });

  it('uses smaller fonts in SVG than it measures with, since viewers may use wider fonts', async () => {
    const svg = await toSvg(graphOf(operator));
    const sizes = [...svg.matchAll(/ font-size="([\d.]+)"/g)].map(([, size]) => Number(size));
    expect(sizes.length).to.be.greaterThan(5);
    // Measured with 10, 11, 12 and 14 points.
    expect([...new Set(sizes)]).to.have.members([8.6, 9.5, 10.3, 12]);
  });
});

/** Returns the texts of a picture. */
function textsOf(svg: string): string[] {
  return [...svg.matchAll(/<text [^>]*>(.*?)<\/text>/gs)].map(([, inner = '']) => decoded(inner));
}

function decoded(text: string): string {
  const names = new Map(Object.entries({ amp: '&', lt: '<', gt: '>', quot: '"' }));
  return text.replaceAll(
    /&(?:#(\d+)|(\w+));/g,
    (whole: string, code?: string, name: string = '') =>
      code === undefined ? (names.get(name) ?? whole) : String.fromCodePoint(Number(code)),
  );
}

/** Normalizes spaces: control characters are drawn as spaces. */
function plain(name: string): string {
  return name.replaceAll(/[\p{Cc}\p{Zs}]+/gu, ' ').trimEnd();
}
