import { expect } from 'chai';
import { readFile } from 'node:fs/promises';
import { parse, parseAllDocuments } from 'yaml';
import { checkKind } from '../../../lib/cli/scaffold/names.js';
import { textsIn } from './project.js';

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

async function manifestOf(path: string): Promise<Manifest> {
  return JSON.parse(await readFile(path, 'utf8')) as Manifest;
}

describe('The templates', () => {
  for (const [folder, version, style] of [
    ['api', 'v99alpha99', ''],
    ['api', 'v99alpha99', '@lifecycle'],
    ['version', 'v98alpha98', ''],
    ['version', 'v98alpha98', '@lifecycle'],
  ] as const) {
    it(`have the CRD of the schema, in the folder ${folder}${style}`, async () => {
      const resource = `../../../templates/${folder}/src/api/${version}/kind-name${style}.ts`;
      const { KindName } = (await import(resource)) as { KindName: { crd: object } };
      const name = `groupname.domain.example_kindnames${style}.yaml`;
      const text = await readFile(`templates/${folder}/config/crd/bases/${name}`, 'utf8');
      expect(parse(text)).to.deep.equal(JSON.parse(JSON.stringify(KindName.crd)));
    });
  }

  it('are developed with the versions that this package is', async () => {
    const { devDependencies: ours, dependencies } = await manifestOf('package.json');
    const { devDependencies } = await manifestOf('templates/init/_package.json');
    for (const [name, version] of Object.entries(devDependencies)) {
      expect({ ...dependencies, ...ours }[name], name).to.equal(version);
    }
  });

  it('import nothing by a name that a kind may have', async () => {
    const texts = await textsIn('templates');
    const code = Object.entries(texts).filter(([path]) => path.endsWith('.ts'));
    const imported = code.flatMap(([, text]) => [
      ...text.matchAll(/import (?:type )?\{([^}]*)\} from '(?!\.)/g),
    ]);
    const names = imported.flatMap(([, list = '']) => list.split(',').map((name) => name.trim()));
    for (const name of names.filter((one) => /^[A-Z]/.test(one))) {
      expect(() => checkKind(name), name).to.throw('take a longer name');
    }
  });

  it('have YAML only that can be read', async () => {
    for (const [path, text] of Object.entries(await textsIn('templates'))) {
      if (!path.endsWith('.yaml')) continue;
      const errors = parseAllDocuments(text).flatMap((document) => document.errors);
      expect(errors, path).to.deep.equal([]);
    }
  });
});
