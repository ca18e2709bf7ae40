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

describe('The exported names of the package', () => {
  it('are at most 150 in the main entry point, and at most 350 in all entry points', () => {
    const counts = entries.map((entry) => namesOf(entry).length);
    expect(counts[0]).to.be.within(1, 150);
    expect(counts.reduce((sum, count) => sum + count)).to.be.at.most(350);
  });

  it('are each exported by one entry point, except EmbeddedCluster', () => {
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
