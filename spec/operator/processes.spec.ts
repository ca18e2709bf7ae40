import { expect } from 'chai';
import { eventually } from '../../lib/testing/index.js';
import { SpecProcess } from '../manager/processes/spec-process.js';

describe('The program of an operator', () => {
  it('ends with exit code 1 although a reconcile that ignores its signal keeps a timer', async () => {
    const lines: string[] = [];
    const program = new SpecProcess('deaf', new URL('./deaf-program.ts', import.meta.url), {
      onLine: (line) => void lines.push(line),
    });
    try {
      await eventually(() => expect(lines, program.output).to.include('reconciles'));
      program.signal('SIGTERM');
      await eventually(() => expect(program.hasEnded, program.output).to.equal(true));
      expect(program.exitCode).to.equal(1);
      expect(program.output).to.include(
        'reconciles have not ended in time: configmap (default/held',
      );
    } finally {
      if (!program.hasEnded) await program.kill();
    }
  });
});
