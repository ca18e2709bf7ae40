import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { dotOfMermaid, mermaidRenderer } from '../../scripts/docs/mermaid.js';
import { docPages } from '../../scripts/docs/snippets.js';

describe('The Mermaid diagrams of the pages', () => {
  it('are drawn as pictures, each with its labels', async () => {
    const draw = await mermaidRenderer();
    const texts = await Promise.all((await docPages()).map((page) => readFile(page, 'utf8')));
    const diagrams = texts.flatMap((text) => [...text.matchAll(/^```mermaid\n(.*?)\n```$/gms)]);
    const pictures = diagrams.map(([, diagram = '']) => draw(diagram));
    expect(pictures).to.have.length(2);
    for (const picture of pictures) expect(picture).to.match(/^<svg [^]*<\/svg>\s*$/);
    const [phases = '', controllers = ''] = [...pictures].sort((a, b) => b.length - a.length);
    expect(phases).to.contain('>no phase<').and.contain('>UpgradeStarted<');
    expect(controllers).to.contain('>shop.example.com<').and.contain('>is reconciled by<');
  });

  it('are refused if they have a line or a kind that would not be drawn', () => {
    expect(() => dotOfMermaid('flowchart LR\n  a ==> b')).to.throw('a ==> b');
    expect(() => dotOfMermaid('pie\n  "a": 1')).to.throw('pie');
  });
});
