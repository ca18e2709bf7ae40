import { expect } from 'chai';
import { readFile } from 'node:fs/promises';
import { runCreator } from '../../lib/cli/program.js';
import { cli, scratchDirectory } from './cli.js';
import type { CliResult } from './cli.js';

describe('create-operator-builder', () => {
  const file = scratchDirectory();

  const create = (...args: readonly string[]): Promise<CliResult> =>
    cli(args, { run: runCreator, cwd: file() });

  it('prints a usage line of its own, with the options of operator-builder init', async () => {
    const { code, stdout, stderr } = await create('--help');
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    const [usage, ...rest] = stdout.split('\n');
    expect(usage).to.equal('Usage: create-operator-builder [options] [folder]');
    const optionsIn = (text: string): string => /^Options:\n[^]*?\n\n/m.exec(text)?.[0] ?? text;
    const init = await cli(['init', '--help']);
    expect(optionsIn(rest.join('\n'))).to.equal(optionsIn(init.stdout));
    expect(stdout)
      .to.include('npm create operator-builder shop -- --domain example.com')
      .and.not.include('operator-builder init');
  });

  it('refers to its own --help after an error', async () => {
    const { code, stderr } = await create('shop', '--domian', 'example.com');
    expect({ code, stderr }).to.deep.equal({
      code: 1,
      stderr:
        "error: unknown option '--domian'\n(Did you mean --domain?)\n(create-operator-builder --help lists commands and options)\n",
    });
  });

  it('creates a project in the folder that is its argument, or the value of --directory', async () => {
    const options = ['--domain', 'example.com', '--test-runner', 'vitest'];
    for (const args of [['shop'], ['-C', 'pots']]) {
      const [name = ''] = args.slice(-1);
      expect(await create(...options, ...args)).to.include({ code: 0, stderr: '' });
      expect(await readFile(file(name, 'PROJECT'), 'utf8'))
        .to.include(`name: ${name}\ndomain: example.com\n`)
        .and.include('testRunner: vitest\n');
    }
  });
});
