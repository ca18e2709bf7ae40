import { expect } from 'chai';
import { readFile } from 'node:fs/promises';
import { PassThrough } from 'node:stream';
import { cli, scratchDirectory, startCli } from '../cli.js';
import type { CliResult, CliSettings } from '../cli.js';
import { createApi, makeProject } from '../scaffold/project.js';

/** A simulated user who answers prompts. */
class Person {
  readonly input = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => undefined });
  readonly output = Object.assign(new PassThrough(), { isTTY: true, columns: 80, rows: 24 });
  seen = '';

  constructor() {
    this.output.on('data', (chunk: Buffer) => (this.seen += chunk.toString()));
  }

  /** Types keys once a new text is shown. */
  async answers(question: string, keys: string): Promise<void> {
    while (!this.seen.includes(question)) await new Promise((resolve) => setImmediate(resolve));
    this.seen = '';
    this.input.write(keys);
  }
}

describe('A command at a terminal', () => {
  const file = scratchDirectory();

  const running = (
    person: Person,
    args: readonly string[],
    settings: CliSettings = {},
  ): Promise<CliResult> => startCli(args, { ...settings, terminal: person }).ended;

  it('prompts for missing options, and validates the answers as it validates options', async () => {
    const person = new Person();
    const made = running(person, ['init', '-C', file('shops')]);
    await person.answers('What is the domain', 'Example.com\r');
    await person.answers('must', '\u007f'.repeat(11) + 'example.com\r');
    await person.answers('What is the name of the operator?', '-operator\r');
    const { code, stderr } = await made;
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    const project = await readFile(file('shops/PROJECT'), 'utf8');
    expect(project).to.include('domain: example.com').and.include('name: shops-operator');
  });

  it("prompts for a kind, or for one of the project's kinds", async () => {
    await makeProject(file('kinds'), ['Pot']);
    const person = new Person();
    const kind = running(person, ['create', 'api', '--group', 'tea', '-C', file('kinds')]);
    await person.answers('What is the version', '\r');
    await person.answers('What is the name of the kind?', 'cup\r');
    await person.answers('want a capital', '\u007f'.repeat(3) + 'Cup\r');
    expect(await kind).to.include({ code: 0, stderr: '' });
    const webhook = running(person, ['create', 'webhook', '--validation', '-C', file('kinds')]);
    await person.answers('Which kind gets the webhook?', '\u001b[B\r');
    expect(await webhook).to.include({ code: 0, stderr: '' });
    expect(await readFile(file('kinds/src/operator.ts'), 'utf8')).to.include('cup-webhook');
  });

  it('prompts only for kinds that match the given options, and refuses options that match no kind', async () => {
    await makeProject(file('fitting'), ['Pot'], ['Cup'], ['Cup', 'v1']);
    const person = new Person();
    const args = ['create', 'webhook', '--validation', '-C', file('fitting')];
    const webhook = running(person, [...args, '--kind', 'Cup']);
    await person.answers('Which kind gets the webhook?', '\r');
    expect(await webhook).to.include({ code: 0, stderr: '' });
    expect(person.seen).not.to.include('Pot');
    const texts = await readFile(file('fitting/src/operator.ts'), 'utf8');
    expect(texts).to.include('cup-webhook').and.not.include('pot-webhook');
    for (const one of [
      ['--kind', 'Mug'],
      ['--version', 'v7'],
      ['--group', 'tea'],
    ]) {
      const { code, stderr } = await running(new Person(), [...args, ...one]);
      expect(code).to.equal(1);
      const kinds = 'Pot v1alpha1 of shop, Cup v1alpha1 of shop, Cup v1 of shop';
      expect(stderr).to.include(
        `${one.join(' ')}: the project has no such kind; want one of ${kinds}`,
      );
    }
  });

  it('refuses a webhook in a project without kinds, and names the command that creates one', async () => {
    await makeProject(file('empty'));
    const args = ['create', 'webhook', '--validation', '-C', file('empty')];
    const { code, stderr } = await running(new Person(), args);
    expect(code).to.equal(1);
    expect(stderr).to.include(
      'the project has no kinds; create one with operator-builder create api',
    );
  });

  it('writes nothing on SIGINT, and exits with 130', async () => {
    const person = new Person();
    const made = running(person, ['init', '-C', file('none')]);
    await person.answers('What is the domain', '\u0003');
    const { code, stderr } = await made;
    expect({ code, stderr }).to.deep.equal({
      ...{ code: 130, stderr: 'error: stopped: nothing was written\n' },
    });
  });

  for (const [what, args, env] of [
    ['with --no-input', ['--no-input'], {}],
    ['in CI', [], { CI: 'true' }],
    ['with JSON output', ['--output', 'json'], {}],
  ] as const) {
    it(`does not prompt ${what}`, async () => {
      const { code, stderr } = await running(new Person(), ['init', ...args], { env });
      expect(code).to.equal(1);
      expect(stderr).to.include("required option '--domain <domain>' not specified\n(operator-");
    });
  }

  it('does not prompt without a terminal', async () => {
    await makeProject(file('bare'));
    for (const args of [['init'], ['create', 'api'], ['create', 'webhook']]) {
      const { code, stderr } = await cli([...args, '-C', file('bare')]);
      expect(code).to.equal(1);
      expect(stderr).to.match(/required option '--(?:domain|group) /);
    }
    expect(await createApi(file('bare'), 'Pot')).to.include({ code: 0 });
  });
});
