import { expect } from 'chai';
import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { createProgram } from '../../lib/cli/program.js';
import { systemClock } from '../../lib/system/clock.js';
import { cli } from './cli.js';

/** Returns the words of every command without subcommands. */
function leaves(command: Command, words: readonly string[] = []): (readonly string[])[] {
  if (command.commands.length === 0) return [words];
  return command.commands.flatMap((child) => leaves(child, [...words, child.name()]));
}

const program = createProgram({
  ...{ program: [], env: {}, clock: systemClock, cwd: process.cwd() },
  stdout: { write: () => undefined },
  stderr: { write: () => undefined },
  readStdin: () => Promise.resolve(''),
  stopSignal: () => new AbortController().signal,
  setExitCode: () => undefined,
});

describe('The command line', () => {
  it('has the version of the package', async () => {
    const { version } = JSON.parse(await readFile('package.json', 'utf8')) as { version: string };
    const { code, stdout } = await cli(['--version']);
    expect({ code, stdout }).to.deep.equal({ code: 0, stdout: `${version}\n` });
  });

  for (const words of leaves(program)) {
    it(`prints help with examples for ${words.join(' ')}`, async () => {
      const { code, stdout, stderr } = await cli([...words, '--help']);
      expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
      expect(stdout).to.include(`Usage: operator-builder ${words.join(' ')}`);
      expect(stdout).to.match(new RegExp(`Examples:\n  \\$ .*operator-builder ${words.join(' ')}`));
      const lines = stdout.split('\n').filter((line) => line.length > 100);
      expect(lines, 'too long').to.deep.equal([]);
    });
  }

  for (const [what, args, says] of [
    ['no command', [], 'Usage: operator-builder'],
    ['an incomplete command', ['declarative'], 'Usage: operator-builder declarative'],
    ['an unknown command', ['grahp'], "unknown command 'grahp'\n(Did you mean graph?)"],
    ['an unknown option', ['graph', '--formt', 'x'], '(Did you mean --format?)'],
    ['a missing argument', ['declarative', 'run'], "missing required argument 'path'"],
    ['an invalid value', ['graph', 'a', '-f', 'pdf'], 'Allowed choices are mermaid, dot, svg'],
    ['too many words', ['declarative', 'keys', 'more'], 'too many arguments'],
  ] as const) {
    it(`refuses ${what} with code 1, and refers to --help`, async () => {
      const { code, stdout, stderr } = await cli(args);
      expect({ code, stdout }).to.deep.equal({ code: 1, stdout: '' });
      expect(stderr).to.include(says);
      expect(stderr).to.match(/--help/);
    });
  }

  it('prints the same with help as with --help', async () => {
    for (const words of [[], ['create'], ['create', 'api']]) {
      const { code, stdout, stderr } = await cli(['help', ...words]);
      expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
      expect(stdout).to.equal((await cli([...words, '--help'])).stdout);
    }
    const { code, stderr } = await cli(['help', 'create', 'ap']);
    expect(code).to.equal(1);
    expect(stderr).to.equal(
      'error: help: create has no command ap; its commands are api, webhook\n',
    );
  });

  it('prints the stack and cause of an error only with OPERATOR_BUILDER_DEBUG', async () => {
    const missing = ['graph', 'missing.yaml'];
    const said = "error: missing.yaml can't be read: there is no such file or directory\n";
    expect(await cli(missing)).to.deep.equal({ code: 1, stdout: '', stderr: said });
    const { stderr } = await cli(missing, { env: { OPERATOR_BUILDER_DEBUG: '1' } });
    expect(stderr).to.match(/\n {4}at [^]*\ncaused by Error: ENOENT/);
  });

  for (const [args, hint] of [
    [['manifests', '-C', 'shop'], '--project <directory>'],
    [['helm', '--directory', 'shop'], '--project <directory>'],
    [['upgrade-project', '--project=shop'], '-C, --directory <folder>'],
  ] as const) {
    it(`suggests the right option for the unknown option ${args.join(' ')}`, async () => {
      const { code, stderr } = await cli(args);
      expect(code).to.equal(1);
      expect(stderr).to.match(/^error: unknown option /);
      expect(stderr).to.include(`\n(this command has ${hint})\n`);
    });
  }

  it('lists the arguments that a command does not expect, and the option for a folder', async () => {
    const { code, stderr } = await cli(['init', '--domain', 'example.com', 'shop', 'more']);
    expect(code).to.equal(1);
    expect(stderr).to.include('error: too many arguments');
    expect(stderr).to.include(
      '\n(not expected: shop more; a folder is given as -C, --directory <folder>)\n',
    );
    const keys = await cli(['completion', 'bash', 'zsh']);
    expect(keys.stderr).to.include('\n(not expected: zsh)\n');
  });

  it('does not suggest the option for a folder for other unknown options', async () => {
    const { stderr } = await cli(['manifests', '--projct', 'shop']);
    expect(stderr).to.not.include('this command has');
  });
});
