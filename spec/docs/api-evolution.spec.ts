import { expect } from 'chai';
import { readFile, writeFile } from 'node:fs/promises';
import { breakingRules } from '../../lib/cli/evolution/breaking-rules.js';
import { lintRules } from '../../lib/cli/evolution/lint-rules.js';
import { rulesTable } from '../../scripts/docs/api-evolution.js';
import { outputProblem } from '../../scripts/docs/walk/expected-output.js';
import { stepsOf } from '../../scripts/docs/walk/page-steps.js';
import { cli, scratchDirectory } from '../cli/cli.js';

const page = 'docs/api-evolution.md';

describe(page, () => {
  const file = scratchDirectory();

  it('shows the output that its commands print', async () => {
    for (const step of stepsOf(await readFile(page, 'utf8'))) {
      if (step.type === 'write') await writeFile(file(step.path), step.text);
      if (step.type !== 'run' || step.where !== 'here') continue;
      const [, line = ''] = /^operator-builder (.*)\n$/.exec(step.script) ?? [];
      const last = await cli(line.split(' '), { cwd: file() });
      expect(last.code, `${step.script}${last.stdout}${last.stderr}`).to.equal(step.exitCode);
      if (step.output !== undefined) {
        expect(outputProblem(step.output, last.stdout)).to.equal(undefined);
      }
    }
  });

  it('lists all rules of the commands breaking and lint', async () => {
    const text = await readFile(page, 'utf8');
    expect(text).to.include(await rulesTable(breakingRules));
    expect(text).to.include(await rulesTable(lintRules));
  });
});
