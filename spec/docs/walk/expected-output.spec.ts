import { expect } from 'chai';
import { outputProblem } from '../../../scripts/docs/walk/expected-output.js';

describe('the output that a page of the documentation shows', () => {
  const output = 'created a.ts\ncreated b.ts\n\n\u001b[32mdone\u001b[39m in 3 s\n';

  for (const shown of [
    'created a.ts\ncreated b.ts\n\ndone in … s\n',
    '…\ndone in 3 s\n',
    'created a.ts\n…\n',
    'created …\n…\n\n…\n',
    '…',
  ]) {
    it(`matches the real output if it is ${JSON.stringify(shown)}`, () => {
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
    it(`does not match the real output if it is ${JSON.stringify(shown)}`, () => {
      expect(outputProblem(shown, output)).to.include('but there was');
    });
  }

  it('is reported with the line that the real output lacks', () => {
    const problem = outputProblem('…\ncreated c.ts\n…\n', output);
    expect(problem).to.include('no line is: created c.ts').and.include('\n  created b.ts\n');
  });
});
