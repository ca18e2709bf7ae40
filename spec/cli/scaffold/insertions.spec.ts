import { expect } from 'chai';
import { insert } from '../../../lib/cli/scaffold/insertions.js';

describe('Inserted lines', () => {
  const marker = '# +operator-builder:scaffold:crds';
  const insertions = [{ marker, lines: ['  - b.yaml'], indentation: '  ' }];

  for (const [where, text, wanted] of [
    ['like the marker', `a:\n    ${marker}\n`, `a:\n    - b.yaml\n    ${marker}\n`],
    [
      'like the list, if kustomize has moved it to the margin without the marker',
      `a:\n- a.yaml\n\n# mine\n  ${marker}\n`,
      `a:\n- a.yaml\n\n# mine\n- b.yaml\n  ${marker}\n`,
    ],
    [
      'like the marker below a nested list',
      `a:\n  - c:\n      - d\n  ${marker}\n`,
      `a:\n  - c:\n      - d\n  - b.yaml\n  ${marker}\n`,
    ],
  ] as const) {
    it(`are indented ${where}`, () => {
      expect(insert(text, insertions)).to.deep.equal({ type: 'inserted', text: wanted });
    });
  }
});
