import { expect } from 'chai';
import { readFile } from 'node:fs/promises';
import { parse, parseAllDocuments } from 'yaml';
import { checkKind } from '../../../lib/cli/scaffold/names.js';
import * as ownPackage from '../../../lib/index.js';
import * as testing from '../../../lib/testing/index.js';
import { textsIn } from './project.js';

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

async function manifestOf(path: string): Promise<Manifest> {
  return JSON.parse(await readFile(path, 'utf8')) as Manifest;
}

describe('The templates of projects', () => {
  for (const [folder, version, style] of [
    ['api', 'v99alpha99', ''],
    ['api', 'v99alpha99', '@lifecycle'],
    ['version', 'v98alpha98', ''],
    ['version', 'v98alpha98', '@lifecycle'],
  ] as const) {
    it(`contain the CRD of their schema, in the folder ${folder}${style}`, async () => {
      const resource = `../../../templates/${folder}/src/api/${version}/kind-name${style}.ts`;
      const { KindName } = (await import(resource)) as { KindName: { crd: object } };
      const name = `groupname.domain.example_kindnames${style}.yaml`;
      const text = await readFile(`templates/${folder}/config/crd/bases/${name}`, 'utf8');
      expect(parse(text)).to.deep.equal(JSON.parse(JSON.stringify(KindName.crd)));
    });
  }

  it('use the same versions of dependencies as this package', async () => {
    const { devDependencies: ours, dependencies } = await manifestOf('package.json');
    for (const template of ['init', 'declarative']) {
      const { devDependencies } = await manifestOf(`templates/${template}/_package.json`);
      for (const [name, version] of Object.entries(devDependencies)) {
        expect({ ...dependencies, ...ours }[name], name).to.equal(version);
      }
    }
  });

  it('use only names that are refused as names of kinds, and no other names are refused', async () => {
    const texts = await textsIn('templates');
    const code = Object.entries(texts)
      .filter(([path]) => path.endsWith('.ts'))
      .map(([, text]) => text);
    const lists = code.flatMap((text) => [
      ...text.matchAll(/import (?:type )?\{([^}]*)\} from '(?!\.)/g),
    ]);
    const imported = lists.flatMap(([, list = '']) =>
      list.split(',').map((name) => name.trim().replace(/^type /, '')),
    );
    const declared = code.flatMap((text) =>
      [...text.matchAll(/\b(?:class|const|interface|type) ([A-Z]\w*)/g)].map(
        ([, name = '']) => name,
      ),
    );
    const names = [...imported, ...declared].filter(
      (name) => /^[A-Z]/.test(name) && !name.startsWith('KindName'),
    );
    expect(names).not.to.deep.equal([]);
    for (const name of names) expect(() => checkKind(name), name).to.throw('choose a longer name');
    const free = Object.keys({ ...ownPackage, ...testing }).filter(
      (name) => /^[A-Z]\w*[a-z]/.test(name) && !names.includes(name),
    );
    for (const name of [...free, 'CrManager', 'Framework', 'Ready']) {
      expect(() => checkKind(name), name).not.to.throw();
    }
  });

  it('contain only valid YAML', async () => {
    for (const [path, text] of Object.entries(await textsIn('templates'))) {
      if (!path.endsWith('.yaml')) continue;
      const errors = parseAllDocuments(text).flatMap((document) => document.errors);
      expect(errors, path).to.deep.equal([]);
    }
  });
});
