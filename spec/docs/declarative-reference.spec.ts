import { expect } from 'chai';
import { parse } from 'yaml';
import {
  committedReference,
  declarativeReference,
} from '../../scripts/docs/declarative-reference.js';
import { expressionReference } from '../../scripts/docs/reference/expression-reference.js';
import { languageNotes } from '../../scripts/docs/reference/language-notes.js';
import { stageReference } from '../../scripts/docs/reference/stage-reference.js';

describe('docs/declarative-reference.md', () => {
  it("matches the code's descriptions (scripts/docs/draw.ts rewrites it)", async () => {
    expect(await committedReference()).to.equal(await declarativeReference());
  });

  it('contains every example as equivalent YAML', async () => {
    const page = await committedReference();
    const blocks = [...page.matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, text = '']) => text);
    const operators = expressionReference.flatMap((group) => group.operators);
    const examples = [...stageReference, ...languageNotes, ...operators].flatMap(
      (each): readonly object[] => each.examples,
    );
    expect(blocks.map((block): unknown => parse(block))).to.deep.equal(examples);
  });

  it('has a section for every stage and operator, linked from the table of operators', async () => {
    const page = await committedReference();
    const titles = [...page.matchAll(/^####? (.*)$/gm)].map(([, title = '']) => title);
    const operators = expressionReference.flatMap((group) => group.operators);
    const first = titles.map((title) => title.split(',')[0]);
    expect(first).to.include.members(
      [...stageReference, ...operators].map(({ name }) => `\`${name}\``),
    );
    const links = [...page.matchAll(/\]\(#(.*?)\)/g)].map(([, link = '']) => link);
    expect(links).to.have.length(expressionReference.length);
    const anchors = titles.map((title) => title.toLowerCase().replaceAll(' ', '-'));
    expect(anchors).to.include.members(links);
  });
});
