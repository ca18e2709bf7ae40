import { readFileSync } from 'node:fs';
import { expect } from 'chai';

const entries = [
  '',
  'apiserver/',
  'crd/',
  'declarative/',
  'lifecycle/',
  'resource/',
  'testing/',
  'types/',
];

describe('Public names', () => {
  it('number at most 150 at the root, and 350 in all entries', () => {
    const counts = entries.map((entry) => namesOf(entry).length);
    expect(counts[0]).to.be.within(1, 150);
    expect(counts.reduce((sum, count) => sum + count)).to.be.at.most(350);
  });

  it('are exported by one entry each, but for the embedded cluster', () => {
    const names = entries.flatMap(namesOf);
    const repeated = names.filter((name, index) => names.indexOf(name) !== index);
    expect(repeated).to.deep.equal(['EmbeddedCluster']);
  });
});

/** Names that the `index.ts` of an entry exports, which are all written in lists. */
function namesOf(entry: string): string[] {
  const text = readFileSync(`lib/${entry}index.ts`, 'utf8');
  const lists = [...text.matchAll(/^export (?:type )?\{([^}]*)\}/gm)];
  return lists.flatMap(([, list = '']) => list.match(/\w+/g) ?? []);
}
