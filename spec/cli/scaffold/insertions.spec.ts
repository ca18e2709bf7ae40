import { expect } from 'chai';
import { insert } from '../../../lib/cli/scaffold/insertions.js';

describe('Lines that are inserted', () => {
  const marker = '# +operator-builder:scaffold:crds';
  const insertions = [{ marker, lines: ['  - b.yaml'], indentation: '  ' }];

  for (const [where, text, wanted] of [
    ['as the marker does', `a:\n    ${marker}\n`, `a:\n    - b.yaml\n    ${marker}\n`],
    [
      'as the list does that kustomize has put at the margin, and the marker not',
      `a:\n- a.yaml\n\n# mine\n  ${marker}\n`,
      `a:\n- a.yaml\n\n# mine\n- b.yaml\n  ${marker}\n`,
    ],
    [
      'as the marker does below a list in a list',
      `a:\n  - c:\n      - d\n  ${marker}\n`,
      `a:\n  - c:\n      - d\n  - b.yaml\n  ${marker}\n`,
    ],
  ] as const) {
    it(`stand ${where}`, () => {
      expect(insert(text, insertions)).to.deep.equal({ type: 'inserted', text: wanted });
    });
  }
});
