import { expect } from 'chai';
import { copyFile } from 'node:fs/promises';
import { parseAllDocuments } from 'yaml';
import { buildKustomization } from '../../lib/cli/kustomize/build-kustomization.js';
import { scratchDirectory } from '../cli/cli.js';
import { folders, writeFolder } from '../cli/kustomize/folders.js';
import { makeProject } from '../cli/scaffold/project.js';
import { sharedControlPlane } from './control-plane/shared.js';
import { Kubectl } from './kubectl.js';

const overlays = ['crd', 'default', 'manager', 'network-policy', 'prometheus', 'rbac', 'samples'];

describe('A kustomization', () => {
  const file = scratchDirectory();
  let kubectl: Kubectl;

  before(async () => {
    const { kubeConfigPath } = await sharedControlPlane();
    kubectl = await Kubectl.create((path) => copyFile(kubeConfigPath, path));
  });

  after(() => kubectl.close());

  /** Compares what both make of a folder: the same objects in the same order. */
  async function compare(folder: string): Promise<void> {
    const theirs = parseAllDocuments(await kubectl.print(['kustomize', folder]));
    const expected = theirs.map((document): unknown => document.toJS());
    expect(await buildKustomization(folder)).to.deep.equal(expected);
  }

  for (const [name, files] of Object.entries(folders)) {
    it(`with ${name} is built as kubectl does`, async () => {
      const folder = file(name.replaceAll(' ', '-'));
      await writeFolder(folder, files);
      await compare(folder);
    });
  }

  describe('of a project that the command line made', () => {
    before(async () => {
      const second = ['Fleet', 'v1', '--no-namespaced'];
      await makeProject(file('shops'), ['Shop'], second, ['Shop', 'v1']);
      await makeProject(file('bare'));
    });

    for (const overlay of overlays) {
      it(`config/${overlay} is built as kubectl does`, () =>
        compare(file('shops/config', overlay)));
    }

    it('without kinds is built as kubectl does', () => compare(file('bare/config/default')));
  });
});
