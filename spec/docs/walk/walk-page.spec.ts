import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { Terminal } from '../../../scripts/docs/walk/terminal.js';
import { walkPage } from '../../../scripts/docs/walk/walk-page.js';

// Short sleeps: a signal may reach a process that is not ready yet, and be lost.
const trapped = "trap 'exit 3' INT; echo on; while :; do sleep 0.05; done";

describe('walkPage, which runs the steps on a page of the documentation', () => {
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'walk-spec-'));
  });

  afterEach(() => rm(folder, { recursive: true, force: true }));

  async function walk(...lines: readonly string[]): Promise<readonly string[]> {
    const page = join(folder, 'page.md');
    await writeFile(page, `${lines.join('\n')}\n`);
    const env = { ...process.env, TMPDIR: folder };
    const done: string[] = [];
    const onStep = (text: string): void => void done.push(text.replace(/^.*?page\.md:/, ''));
    await walkPage(page, { terminal: new Terminal({ folder, env }), onStep });
    return done.map((text) => text.replace(/ \([\d.]+ s\)$/, ''));
  }

  it('runs all steps, each in the directory of the previous command', async () => {
    const done = await walk(
      ...['```sh', 'mkdir sub && cd sub', '```'],
      ...['```text file=deep/a.txt', 'one', '```'],
      ...['```diff file=deep/a.txt', ' one', '+two', '```'],
      ...['```sh exit=3', 'cat deep/a.txt', 'exit 3', '```'],
      ...['```text output', 'one', 'two', '```'],
      ...['```sh unchecked', 'false', '```'],
      ...['```sh start', "trap 'exit 0' INT; echo ready; while :; do sleep 0.05; done", '```'],
      ...['```text output', 'ready', '```', '<!-- walk: stop -->'],
    );
    expect(done).to.deep.equal([
      '1: mkdir sub && cd sub',
      '4: wrote deep/a.txt',
      '7: changed deep/a.txt',
      '11: cat deep/a.txt …',
      '19: left out: false',
      "22: trap 'exit 0' INT; echo ready; while :; do sleep 0.05; done",
      '28: Ctrl-C',
    ]);
  });

  for (const [what, lines, problem] of [
    ['a command fails', ['```sh', 'echo no >&2', 'false', 'echo on', '```'], ':1: echo no'],
    ['a command succeeds that should fail', ['```sh exit=1', 'true', '```'], 'ended with 0'],
    ['the output differs', ['```sh', 'echo a', '```', '```text output', 'b', '```'], 'is: b'],
    [
      'a running command ends',
      ['```sh start', 'exit 0', '```', '```text output', 'b', '```'],
      'with 0',
    ],
    [
      'Ctrl-C ends a command with an error',
      ['```sh start', trapped, '```', '```text output', 'on', '```', '<!-- walk: stop -->'],
      'ended with 3',
    ],
    ['no command is running at a stop', ['<!-- walk: stop -->'], 'nothing is left running'],
    ['a file to change does not exist', ['```diff file=a', '+b', '```'], ':1: ENOENT'],
  ] as const) {
    it(`fails when ${what}`, async () => {
      const outcome = await walk(...lines).catch((error: unknown) => error);
      expect(outcome).to.be.an('error').with.property('message').that.includes(problem);
    });
  }
});
