import { expect } from 'chai';
import { mkdir, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { packageSource } from '../../../lib/cli/scaffold/init-project.js';
import { parseProject, withResource } from '../../../lib/cli/scaffold/project-file.js';
import { scratchDirectory } from '../cli.js';

const shop = { group: 'shop', version: 'v1', kind: 'Shop', plural: 'shops', scope: 'Namespaced' };
const project = {
  ...{ layout: 'operator-builder/v1', name: 'shops', domain: 'example.com' },
  resources: [shop],
};

const parsed = (content: object): unknown => parseProject(JSON.stringify(content), 'PROJECT');

describe('The file PROJECT', () => {
  it('contains all options of a project', () => {
    const choices = { cliVersion: '1.0.0', parts: ['olm'], testRunner: 'vitest' };
    const webhooks = { defaulting: true, validation: false, conversion: true };
    const pod = { group: 'core', version: 'v1', kind: 'Pod', plural: 'pods', scope: 'Namespaced' };
    const resources = [
      { ...shop, scope: 'Cluster', controller: 'builder', webhooks },
      { ...pod, external: true },
    ];
    const { layout, ...others } = project;
    expect(parsed({ layout, ...others, ...choices, resources })).to.deep.equal({
      ...{ ...others, ...choices },
      resources: [
        { ...resources[0], webhooks: { defaulting: true, conversion: true } },
        { ...resources[1], controller: undefined },
      ],
    });
    expect(parsed(project)).to.deep.equal({
      ...others,
      resources: [{ ...shop, controller: undefined }],
    });
  });

  const one = (change: object): object => ({ resources: [{ ...shop, ...change }] });
  for (const [change, problem] of [
    [{ resources: undefined }, 'want a list of resources'],
    [{ name: '' }, 'name: want a string, got ""'],
    [{ domain: 1 }, 'domain: want a string, got 1'],
    [{ cliVersion: 1 }, 'cliVersion: want a string, got 1'],
    [{ parts: [1] }, 'parts: want a string, got 1'],
    [{ testRunner: 'jest' }, 'testRunner: want node or vitest, got "jest"'],
    [one({ scope: 'All' }), 'resources[0].scope: want Namespaced or Cluster, got "All"'],
    [one({ group: 1 }), 'resources[0].group: want a string, got 1'],
    [one({ version: null }), 'resources[0].version: want a string, got null'],
    [
      one({ external: false }),
      'resources[0].external: want true, or leave the field out, got false',
    ],
    [
      one({ controller: 'go' }),
      'resources[0].controller: want builder, reconciles, resources, lifecycle, got "go"',
    ],
    [
      one({ webhooks: { validation: 1 } }),
      'resources[0].webhooks.validation: want true or false, got 1',
    ],
    [{ resources: [shop, shop] }, 'resources[1]: Shop v1 of shop is in resources[0], too'],
  ] as const) {
    it(`is refused: ${problem}`, () => {
      expect(() => parsed({ ...project, ...change })).to.throw(
        `PROJECT can't be used: ${problem} (correct it, or restore it from version control)`,
      );
    });
  }

  it('is refused if another tool wrote it', () => {
    expect(() => parsed({ ...project, layout: 'v3' })).to.throw(
      `PROJECT can't be used: want layout: operator-builder/v1, got "v3"; another tool may have written it (choose another folder, or move the file away)`,
    );
  });

  for (const [what, change] of [
    ['name', { name: '../a' }],
    ['domain', { domain: 'A' }],
    ['resources[0].group', one({ group: '../a' })],
    ['resources[0].version', one({ version: '1' })],
    ['resources[0].kind', one({ kind: '../A' })],
    ['resources[0].plural', one({ plural: '../a' })],
  ] as const) {
    it(`is refused because of an invalid ${what}`, () => {
      expect(() => parsed({ ...project, ...change })).to.throw(`PROJECT can't be used: ${what}: `);
    });
  }

  it('is refused with a message of one line if it is invalid YAML, as after a conflict in git', () => {
    const text = 'name: shops\n<<<<<<< HEAD\ndomain: example.com\n';
    expect(() => parseProject(text, 'PROJECT')).to.throw(
      /^PROJECT can't be used: .+ at line 2, column 1 \(correct it, or restore it from version control\)$/,
    );
  });

  it('is refused if it is empty', () => {
    expect(() => parseProject('', 'PROJECT')).to.throw("PROJECT can't be used: it is empty (");
  });

  it('keeps comments and webhooks of a version that is created again', () => {
    const text = [
      ...['layout: operator-builder/v1', 'name: shops', 'domain: example.com', 'resources:'],
      ...['  - group: shop', '    version: v1', '    kind: Shop # ours', '    plural: shops'],
      ...['    scope: Namespaced', '    controller: builder', '    mine: 1', '    webhooks:'],
      ...['      validation: true', '      webhookVersion: v1', ''],
    ];
    const again = { ...shop, scope: 'Cluster', controller: undefined } as const;
    expect(withResource(text.join('\n'), again, 'PROJECT').split('\n')).to.deep.equal([
      ...text.slice(0, 8),
      ...['    scope: Cluster', '    webhooks:'],
      ...text.slice(12),
    ]);
  });
});

describe('The dependency of a project on this package', () => {
  const file = scratchDirectory();

  for (const given of [
    ...['1.2.3', '^1.0.0', 'latest', 'https://example.com/a.tgz', 'git+ssh://git@example.com/a'],
  ]) {
    it(`may be ${given}`, async () => {
      expect(await packageSource(given, file())).to.deep.equal({ specifier: given });
    });
  }

  it('may be a file in the project, a copy of a file elsewhere, or a folder', async () => {
    await mkdir(file('shops/packages'), { recursive: true });
    await writeFile(file('shops/packages/a.tgz'), '');
    await writeFile(file('b.tar.gz'), '');
    const folder = file('shops');
    const source = (given: string): Promise<object> => packageSource(given, folder);
    const inside = { specifier: 'file:packages/a.tgz' };
    expect(await source('packages/a.tgz')).to.deep.equal(inside);
    expect(await source('file:packages/a.tgz')).to.deep.equal(inside);
    expect(await source(file('shops/packages/a.tgz'))).to.deep.equal(inside);
    const copied = { specifier: 'file:b.tar.gz', tarball: file('b.tar.gz') };
    expect(await source('../b.tar.gz')).to.deep.equal(copied);
    expect(await source('./packages')).to.deep.equal({ specifier: './packages' });
    expect(await source('~/')).to.deep.equal({ specifier: '~/' });
  });

  for (const [given, says] of [
    ['no version', 'want a version, a tag, a URL, or the path of a tarball or folder'],
    [
      '~/absent/a.tgz',
      `${homedir()}/absent/a.tgz does not exist; paths are relative to the folder`,
    ],
  ] as const) {
    it(`is refused: ${given}`, async () => {
      const refused = await packageSource(given, file()).catch((error: unknown) => error);
      expect(refused).to.have.property('message').that.includes(`--package: ${says}`);
    });
  }
});
