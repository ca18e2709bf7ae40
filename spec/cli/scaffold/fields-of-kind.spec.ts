import { expect } from 'chai';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { withFieldsOfKind } from '../../../lib/cli/scaffold/sample-content.js';
import { defineResource, s } from '../../../lib/crd/index.js';
import { scratchDirectory } from '../cli.js';
import { linkPackages } from '../project/project-copy.js';
import { createApi, makeProject, textsIn } from './project.js';

interface ControllerTexts {
  readonly controller: string;
  readonly test: string;
}

describe('A controller that is added to a kind later', () => {
  const file = scratchDirectory();

  /** Adds a controller to a kind whose spec has only `fields`. */
  async function addedTo(
    folder: string,
    fields: string,
    style = 'builder',
  ): Promise<ControllerTexts> {
    await makeProject(folder, ['Shop', 'v1', '--no-controller']);
    const path = join(folder, 'src/api/v1/shop.ts');
    const text = await readFile(path, 'utf8');
    const schema = /const spec = s\.object\(\{.*?\n\}\);/s;
    await writeFile(path, text.replace(schema, `const spec = s.object({ ${fields} });`));
    linkPackages(folder);
    const made = await createApi(folder, 'Shop', 'v1', '--no-resource', '--style', style);
    expect(made).to.include({ code: 0, stderr: '' });
    const texts = await textsIn(folder);
    return {
      controller: texts['src/controllers/shop-controller.ts'] ?? '',
      test: texts['test/shop-controller.test.ts'] ?? '',
    };
  }

  it('reads only fields that the kind has, and has a test with an object of the kind', async () => {
    const fields = "image: s.string(), engine: s.string({ enum: ['fast'] })";
    const { controller, test } = await addedTo(file('image'), fields);
    expect(controller).to.match(/\n +const \{ image \} = object\.spec;\n +const replicas = 1;\n/);
    expect(test)
      .to.match(/const spec: Shop\['spec'\] = \{[^}]*engine: 'fast'/)
      .and.not.include('replicas: 2');
  });

  it('has an example of an image if the image of the kind may be absent or is not a string', async () => {
    const fields = 'image: s.optional(s.string()), replicas: s.defaulted(s.integer(), 1)';
    const { controller } = await addedTo(file('replicas'), fields);
    expect(controller).to.match(
      /\n +const \{ replicas \} = object\.spec;\n +const image = 'registry\.example\/app:1';\n/,
    );
    const other = await addedTo(file('resources'), 'image: s.integer()', 'resources');
    expect(other.controller)
      .to.include("{ name: 'app', image: 'registry.example/app:1' }")
      .and.not.include('object.spec.');
  });

  it('has a test with the fields image and replicas if the kind accepts them', async () => {
    const fields = "image: s.string({ pattern: '^registry[.]example/' }), replicas: s.integer()";
    const { controller, test } = await addedTo(file('usual'), fields);
    expect(controller).to.include('const { image, replicas } = object.spec;');
    expect(test).to.include("const spec = { image: 'registry.example/app:1', replicas: 2 };");
  });
});

describe('The test of a controller for an existing kind', () => {
  const file = scratchDirectory();
  const test = [
    "  const spec = { image: 'registry.example/app:1', replicas: 2 };",
    '  await client.create(Shop.object({ metadata: key, spec }));',
    '  assert.equal(made.spec?.replicas, 2);',
    '  assert.equal(made.status?.readyReplicas, 2);',
  ];
  const named = { group: 'shop', version: 'v1', kind: 'Shop', plural: 'shops' };
  const resource = { ...named, scope: 'Namespaced' } as const;
  const size = s.object({ size: s.integer({ minimum: 3 }) });
  const spread = '  await client.create(Shop.object({ metadata: key, ...content }));';

  for (const [what, schema, lines] of [
    ["Shop['spec']", s.object({ spec: size }), ['{', '    size: 3,', '  };', test[1]]],
    [
      "Pick<Shop, 'spec' | 'color'>",
      s.object({ spec: size, color: s.string() }),
      ['{', '    spec: {', '      size: 3,', '    },', "    color: 'sample',", '  };', spread],
    ],
    ['Pick<Shop, never>', s.object({}), ['{};', spread]],
  ] as const) {
    it(`has an object of the type ${what} if the kind has these fields`, async () => {
      const versions = [{ name: 'v1', schema }] as const;
      const { crd } = defineResource({ group: 'shop.example.com', kind: 'Shop', versions });
      const own = { path: 'test/shop-controller.test.ts', text: `${test.join('\n')}\n` };
      const other = { ...own, path: 'test/e2e.test.ts' };
      const made = await withFieldsOfKind([own, other], file(), { resource, crd });
      const name = what.startsWith('Pick') ? 'content' : 'spec';
      const [first, ...others] = lines;
      const status = '  assert.equal(made.status?.readyReplicas ?? 0, made.spec?.replicas);';
      expect(made.map(({ text }) => text.trimEnd().split('\n'))).to.deep.equal([
        [`  const ${name}: ${what} = ${first}`, ...others, status],
        test,
      ]);
    });
  }
});

describe('A further version of a kind', () => {
  const file = scratchDirectory();

  it('is refused if the domain in PROJECT differs from the domain in the code', async () => {
    const folder = file('domain');
    await makeProject(folder, ['Shop', 'v1']);
    linkPackages(folder);
    const project = await readFile(`${folder}/PROJECT`, 'utf8');
    await writeFile(`${folder}/PROJECT`, project.replace('example.com', 'other.org'));
    const before = await textsIn(folder);
    const { code, stderr } = await createApi(folder, 'Shop', 'v2');
    expect(code).to.equal(1);
    expect(stderr).to.include(
      'PROJECT has Shop in the group shop.other.org, but src/api defines it in shop.example.com; set domain to example.com in PROJECT, or change the group in src/api first',
    );
    expect(await textsIn(folder)).to.deep.equal(before);
    await writeFile(`${folder}/PROJECT`, project);
    expect((await createApi(folder, 'Shop', 'v2')).code).to.equal(0);
  });
});
