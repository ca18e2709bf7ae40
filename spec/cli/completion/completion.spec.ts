import { expect } from 'chai';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { cli, scratchDirectory } from '../cli.js';

/** Completions that bash offers for each line; bash runs once for all lines. */
const lines: Readonly<Record<string, readonly string[]>> = {
  'operator-builder pl': ['plan'],
  'operator-builder create ': ['api', 'webhook'],
  'operator-builder create api --gr': ['--group'],
  'operator-builder create api --style ': ['builder', 'lifecycle', 'reconciles', 'resources'],
  'operator-builder create api --style=res': ['resources'],
  'operator-builder create api --group ': [],
  'operator-builder graph -f m': ['mermaid'],
  'operator-builder graph sho': ['shop one.yaml', 'shops'],
  'operator-builder graph --project sho': ['shops'],
  'operator-builder plan -f a.yaml sho': ['shop one.yaml', 'shops'],
  'operator-builder declarative run --con': ['--context'],
  'operator-builder completion ': ['bash', 'fish', 'zsh'],
};

describe('operator-builder completion', () => {
  const file = scratchDirectory();

  async function script(shell: string): Promise<string> {
    const { code, stdout, stderr } = await cli(['completion', shell]);
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    return stdout;
  }

  it('completes commands, options, values and files in bash', async () => {
    await mkdir(file('shops'));
    await writeFile(file('shop one.yaml'), '');
    const asked = Object.keys(lines).map((line) => `ask ${JSON.stringify(line)}`);
    const harness = `${await script('bash')}
ask() {
  # As readline does: = is a word by itself.
  local text="\${1//=/ = }"
  read -ra COMP_WORDS <<< "$text"
  [[ $1 == *' ' ]] && COMP_WORDS+=('')
  COMP_CWORD=$(( \${#COMP_WORDS[@]} - 1 ))
  _operator_builder
  printf '%s\\t' "\${COMPREPLY[@]}"; echo
}
${asked.join('\n')}`;
    const output = execFileSync('bash', ['--norc', '-c', harness], {
      cwd: file(),
      encoding: 'utf8',
    });
    const offered = output
      .trimEnd()
      .split('\n')
      .map((line) => line.split('\t').filter((word) => word !== ''));
    const found = Object.keys(lines).map((line, index) => [line, offered[index]?.toSorted()]);
    expect(Object.fromEntries(found)).to.deep.equal(lines);
  });

  for (const shell of ['bash', 'zsh', 'fish']) {
    it(`prints a script with valid syntax for ${shell}, if installed`, async () => {
      const path = file(`script.${shell}`);
      await writeFile(path, await script(shell));
      const { error, status, stderr } = spawnSync(shell, ['-n', path], { encoding: 'utf8' });
      const isThere = (error as NodeJS.ErrnoException | undefined)?.code !== 'ENOENT';
      if (isThere) expect(status, stderr).to.equal(0);
    });
  }

  it('describes commands and options in zsh and fish', async () => {
    expect(await script('zsh')).to.include(
      `'--dry-run:write nothing; list the files that would change`,
    );
    const fish = await script('fish');
    expect(fish).to.include(
      `-n '__operator_builder_at create api' -l 'style' -r -f -a 'builder reconciles resources lifecycle'`,
    );
    expect(fish).to.include(`-n '__operator_builder_at -e' -a 'plan' -d 'Show what the operator`);
    expect(fish).to.include(`-n '__operator_builder_at plan' -s 'f' -l 'filename' -r -F -d `);
  });

  it('refuses an unsupported shell', async () => {
    const { code, stderr } = await cli(['completion', 'tcsh']);
    expect(code).to.equal(1);
    expect(stderr).to.include('Allowed choices are bash, zsh, fish');
  });
});
