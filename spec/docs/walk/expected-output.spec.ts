import { expect } from 'chai';
import { outputProblem } from '../../../scripts/docs/walk/expected-output.js';

describe('the output on a page', () => {
  const output = 'created a.ts\ncreated b.ts\n\n\u001b[32mdone\u001b[39m in 3 s\n';

  for (const shown of [
    'created a.ts\ncreated b.ts\n\ndone in … s\n',
    '…\ndone in 3 s\n',
    'created a.ts\n…\n',
    'created …\n…\n\n…\n',
    '…',
  ]) {
    it(`matches as ${JSON.stringify(shown)}`, () => {
      expect(outputProblem(shown, output)).to.equal(undefined);
    });
  }

  for (const shown of [
    'created a.ts\n',
    'created b.ts\n…\n',
    '…\ncreated c.ts\n…\n',
    '…\ncreated b.ts\ncreated a.ts\n…\n',
    'created .*\n…\n',
    '',
  ]) {
    it(`does not match as ${JSON.stringify(shown)}`, () => {
      expect(outputProblem(shown, output)).to.include('but there was');
    });
  }

  it('is reported with the missing line', () => {
    const problem = outputProblem('…\ncreated c.ts\n…\n', output);
    expect(problem).to.include('no line is: created c.ts').and.include('\n  created b.ts\n');
  });
});
