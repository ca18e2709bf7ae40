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

const dot = String.raw`
digraph {
  graph [rankdir="LR" fontname="Helvetica" bgcolor="#ffffff" nodesep="0.3"]
  node [shape="box" style="rounded,filled" margin="0.12,0.06" fontname="Helvetica" fontsize="11"]
  edge [fontname="Helvetica" fontsize="10" color="#555555"]
  "kind /Pod" [label="Pod" fillcolor="#dbe9ff" color="#3d6fb6"]
  "kind apps/Deployment" [label="Deployment\napps" fillcolor="#dbe9ff" color="#3d6fb6"]
  "kind far.view.dcontroller.io/Far" [label="Far\nview of far" fillcolor="#dff3e1" color="#3f8a4a" style="rounded,filled,dashed"]
  subgraph "cluster operator op" {
    label="op"
    style="rounded"
    color="#555555"
    fontsize="14"
    "kind op.view.dcontroller.io/Port" [label="Port\nview" fillcolor="#dff3e1" color="#3f8a4a" style="rounded,filled,dashed"]
    subgraph "cluster controller op/pods" {
      label="pods"
      style="rounded,filled"
      color="#c4c4c4"
      fillcolor="#f5f5f5"
      fontsize="12"
      "op/pods source 2" [label="Tick\nevery 90 s" fillcolor="#fff3cf" color="#a98526"]
      "op/pods source 3" [label="once" fillcolor="#fff3cf" color="#a98526"]
      "op/pods stage 1" [label="@join\n$.p.a = $.Far.a" fillcolor="#ffffff" color="#777777"]
      "op/pods stage 2" [label="@unwind\n$.p.ports" fillcolor="#ffffff" color="#777777"]
    }
    subgraph "cluster controller op/annotate" {
      label="annotate"
      style="rounded,filled"
      color="#c4c4c4"
      fillcolor="#f5f5f5"
      fontsize="12"
      "op/annotate stage 1" [label="passes through" fillcolor="#ffffff" color="#777777"]
    }
  }
  "kind /Pod" -> "op/pods stage 1" [label="as p\nin shop\napp=web\n(LabelChanged and not GenerationChanged)"]
  "op/pods source 2" -> "op/pods stage 1"
  "op/pods source 3" -> "op/pods stage 1"
  "kind far.view.dcontroller.io/Far" -> "op/pods stage 1"
  "op/pods stage 1" -> "op/pods stage 2"
  "op/pods stage 2" -> "kind op.view.dcontroller.io/Port"
  "kind op.view.dcontroller.io/Port" -> "op/annotate stage 1"
  "op/annotate stage 1" -> "kind apps/Deployment" [label="patches"]
}
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

describe('The graph of declarative operators', () => {
  it('is written with subgraphs, boxes and arrows in Mermaid', () => {
    expect(toMermaid(graphOf(operator))).to.equal(mermaid.trimStart());
  });

  it('is written with clusters, boxes and arrows in DOT', () => {
    expect(toDot(graphOf(operator))).to.equal(dot.trimStart());
  });

  it('contains all of its texts in SVG', async () => {
    const texts = textsOf(await toSvg(graphOf(operator)));
    expect(texts).to.include.members([
      ...['op', 'pods', 'Pod', 'every 90 s', '$.p.a = $.Far.a', '@unwind', 'passes through'],
    ]);
  });

  it('is written in the same way each time, in every format', async () => {
    for (const format of [toMermaid, toDot, toSvg]) {
      expect(await format(graphOf(operator))).to.equal(await format(graphOf(operator)));
    }
  });

  it('contains names in Mermaid escaped, so that no name is parsed as syntax', () => {
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

  it('contains names unchanged in SVG, which is made from DOT', async () => {
    const property = fc.asyncProperty(text, async (name) => {
      const texts = textsOf(await toSvg(graphWith(name)));
      const shown = [`as ${name}`, `V${name}`, `a${name}`].map(plain);
      expect(texts.map(plain)).to.include.members(shown);
    });
    await fc.assert(property, { numRuns: tries(25) });
  });

  it('has smaller fonts in SVG than those used to measure widths, since programs that show it may use wider fonts', async () => {
    const svg = await toSvg(graphOf(operator));
    const sizes = [...svg.matchAll(/ font-size="([\d.]+)"/g)].map(([, size]) => Number(size));
    expect(sizes.length).to.be.greaterThan(5);
    // The sizes for which the widths of texts were measured as 10, 11, 12 and 14 points.
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
