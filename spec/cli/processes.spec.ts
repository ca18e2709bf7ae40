import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, readdir, realpath, symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { scratchDirectory } from './cli.js';
import { hangingPlan } from './hanging-plan.js';

describe('The process of a command', () => {
  const file = scratchDirectory();
  const plan = hangingPlan(file);

  /** Returns the result of `manifests --dry-run` in a project with this operator. */
  async function manifestsOf(name: string, operator: string) {
    const folder = file(name);
    await mkdir(join(folder, 'src'), { recursive: true });
    await mkdir(join(folder, 'node_modules'));
    await symlink(resolve('node_modules/esbuild'), join(folder, 'node_modules/esbuild'));
    await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
    await writeFile(join(folder, 'src/operator.ts'), operator);
    const args = ['lib/cli/main.ts', 'manifests', '--dry-run', '--project', folder];
    const child = spawn(process.execPath, ['--import', 'tsx', ...args]);
    const output = Promise.all([text(child.stdout), text(child.stderr)]);
    const [code] = (await once(child, 'exit')) as [number | null];
    const [stdout, stderr] = await output;
    return { code, stdout, stderr };
  }

  it('fails if the setup of the operator never ends', async () => {
    const setup = 'setup: () => new Promise(() => undefined)';
    const ended = await manifestsOf('waits', `export const operator = { name: 'a', ${setup} };`);
    expect(ended).to.include({ code: 1, stdout: '' });
    expect(ended.stderr).to.match(/^error: command did not finish: [^\n]*\n$/);
  });

  it('exits despite timers that the operator has started', async () => {
    const begun = "setInterval(() => undefined, 1000); console.log('begun');";
    const operator = "export const operator = { name: 'a', setup() {} };";
    const ended = await manifestsOf('begins', `${begun} ${operator}`);
    expect(ended).to.include({ code: 0, stderr: 'begun\n' });
    expect(ended.stdout)
      .to.match(/^--- .*\n/)
      .and.include('+kind: ClusterRole\n');
  });

  it('fails with the error of a promise that nothing awaits', async () => {
    const request = "manager.liveClient.list({ apiVersion: 'v1', kind: 'Pod' })";
    const setup = `setup(manager) { void ${request}; }`;
    const ended = await manifestsOf('loses', `export const operator = { name: 'a', ${setup} };`);
    expect(ended).to.include({ code: 1, stdout: '' });
    expect(ended.stderr).to.match(
      /^error: a promise that nothing awaits failed \(await it, [^\n]* sends a request [^\n]*\n$/,
    );
  });

  describe('when it writes a long result', () => {
    const command = `"${process.execPath}" --import tsx lib/cli/main.ts completion bash`;

    /** Returns the end of a shell script. */
    async function endOf(script: string) {
      const child = spawn('bash', ['-c', script], { stdio: ['ignore', 'pipe', 'pipe'] });
      const output = Promise.all([text(child.stdout), text(child.stderr)]);
      const [code] = (await once(child, 'exit')) as [number | null];
      const [stdout, stderr] = await output;
      return { code, stdout, stderr };
    }

    it('fails if the standard output is full', async () => {
      const { code, stderr } = await endOf(`${command} > /dev/full`);
      expect({ code, stderr }).to.deep.equal({
        code: 1,
        stderr: "error: the standard output can't be written: the disk is full\n",
      });
    });

    it('fails if the result exceeds the size limit of files', async () => {
      const { code, stderr } = await endOf(`ulimit -f 4; ${command} > '${file('part')}'`);
      expect({ code, stderr }).to.deep.equal({
        code: 1,
        stderr: "error: the standard output can't be written: the file is too large\n",
      });
    });

    it('does not change the output file if it fails', async () => {
      const [source, out] = [file('operator.yaml'), file('graph/drawn.svg')];
      await mkdir(file('graph'));
      await writeFile(out, 'the one before');
      await writeFile(
        source,
        'controllers: [{ name: a, sources: [{ kind: A }], target: { kind: B } }]',
      );
      const words = command.replace('completion bash', `graph '${source}' -f svg --out '${out}'`);
      const { code, stderr } = await endOf(`ulimit -f 1; ${words}`);
      expect({ code, stderr }).to.deep.equal({
        code: 1,
        stderr: `error: ${out} can't be written: the file is too large\n`,
      });
      expect(await readFile(out, 'utf8')).to.equal('the one before');
      expect(await readdir(file('graph'))).to.deep.equal(['drawn.svg']);
    });

    it('does not report a full standard output if the command fails before it writes a result', async () => {
      const { code, stderr } = await endOf(`${command.replace('bash', 'none')} > /dev/full`);
      expect(code).to.equal(1);
      expect(stderr).to.include('Allowed choices are').and.not.include('standard output');
    });

    it('ends without an error if the reader of its output closes the pipe early', async () => {
      const first = await endOf(`set -o pipefail; ${command} | head -n 1`);
      expect(first).to.include({ code: 0, stderr: '' });
      expect(first.stdout).to.match(/^[^\n]+\n$/);
    });

    it('appends the result to a file', async () => {
      const path = file('whole');
      const ended = await endOf(`echo before > '${path}'; ${command} >> '${path}'; ${command}`);
      expect(ended).to.include({ code: 0, stderr: '' });
      expect(await readFile(path, 'utf8')).to.equal(`before\n${ended.stdout}`);
    });
  });

  it('runs the version of operator-builder in the project, with the same arguments and no output of its own', async () => {
    const root = file('own/node_modules/operator-builder');
    await mkdir(root, { recursive: true });
    const manifest = { type: 'module', bin: { 'operator-builder': 'own.js' } };
    await writeFile(join(root, 'package.json'), JSON.stringify(manifest));
    const own = 'console.log(JSON.stringify(process.argv.slice(1))); process.exitCode = 3;';
    await writeFile(join(root, 'own.js'), own);
    const args = [
      '--import',
      resolve('node_modules/tsx/dist/loader.mjs'),
      resolve('lib/cli/main.ts'),
      'help',
      'run',
    ];
    const child = spawn(process.execPath, args, { cwd: file('own') });
    const output = Promise.all([text(child.stdout), text(child.stderr)]);
    const [code] = (await once(child, 'exit')) as [number | null];
    const started = [await realpath(join(root, 'own.js')), 'help', 'run'];
    expect({ code, output: await output }).to.deep.equal({
      code: 3,
      output: [`${JSON.stringify(started)}\n`, ''],
    });
  });

  it('exits with 130 and one message when interrupted', async () => {
    const args = ['--import', 'tsx', 'lib/cli/main.ts', ...plan.args()];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    const output = Promise.all([text(child.stdout), text(child.stderr)]);
    const ended = once(child, 'exit');
    await plan.whileItHangs(() => child.kill('SIGINT'));
    const [[stdout, stderr], [code]] = [await output, (await ended) as [number | null]];
    expect({ code, stdout }, stderr).to.deep.equal({ code: 130, stdout: '' });
    expect(stderr).to.match(/^error: [^\n]*\n$/);
  });
});
