import { expect } from 'chai';
import fc from 'fast-check';
import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { parseAllDocuments } from 'yaml';
import { buildKustomization } from '../../lib/cli/kustomize/build-kustomization.js';
import { cli, scratchDirectory } from '../cli/cli.js';
import { folders, writeFolder } from '../cli/kustomize/folders.js';
import type { Folder } from '../cli/kustomize/folders.js';
import { createApi, makeProject } from '../cli/scaffold/project.js';
import { sharedControlPlane } from './control-plane/shared.js';
import { Kubectl } from './kubectl.js';

const overlays = ['crd', 'default', 'manager', 'network-policy', 'prometheus', 'rbac', 'samples'];

interface Layer {
  readonly namePrefix: string;
  readonly nameSuffix: string;
  readonly namespace: string;
}

/** One base under two stacks of layers, side by side. */
function stacked(one: readonly Layer[], other: readonly Layer[]): Folder {
  const stack = (name: string, layers: readonly Layer[]): Folder => {
    const texts = layers.map(({ namePrefix, nameSuffix, namespace }, index) => {
      const resource = index === 0 ? '../base' : `../${name}-${index - 1}`;
      const prefix = index === 0 ? `${name}-${namePrefix}` : namePrefix;
      const content = { resources: [resource], namePrefix: prefix, nameSuffix, namespace };
      return [`${name}-${index}/kustomization.yaml`, JSON.stringify(content)] as const;
    });
    return Object.fromEntries(texts);
  };
  const { 'base/webhooks.yaml': hooks = '', ...base } = folders['a base'] ?? {};
  // Of these there is one only.
  const [service = '', ...others] = hooks.split('---');
  const content = base['base/kustomization.yaml']?.replace('webhooks.yaml', 'service.yaml') ?? '';
  return {
    ...base,
    'base/kustomization.yaml': content,
    'base/service.yaml': [service, ...others.slice(0, 2)].join('---'),
    ...stack('one', one),
    ...stack('other', other),
    'kustomization.yaml': `resources: [one-${one.length - 1}, other-${other.length - 1}]`,
  };
}

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
    const expected = theirs.map((document) => document.toJS() as unknown);
    expect(await buildKustomization(folder)).to.deep.equal(expected);
  }

  for (const [name, files] of Object.entries(folders)) {
    it(`with ${name} is built as kubectl does`, async () => {
      const folder = file(name.replaceAll(' ', '-'));
      await writeFolder(folder, files);
      await compare(folder);
    });
  }

  it('of any layers names what other objects are called in the end, as kubectl does', async () => {
    const word = fc.constantFrom('', 'a-', 'b-');
    const layer = fc.record({
      namePrefix: word,
      nameSuffix: word.map((text) => text.split('').toReversed().join('')),
      namespace: fc.constantFrom('', 'system', 'there'),
    });
    const layers = fc.array(layer, { minLength: 1, maxLength: 3 });
    let count = 0;
    const property = fc.asyncProperty(layers, layers, async (one, other) => {
      const folder = file(`layers-${count++}`);
      await writeFolder(folder, stacked(one, other));
      await compare(folder);
    });
    await fc.assert(property, { numRuns: 10 });
  });

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

    it('with all of its options, and with none, is built as kubectl does', async () => {
      await makeProject(file('all'), ['Shop']);
      const path = file('all/config/default/kustomization.yaml');
      const text = await readFile(path, 'utf8');
      for (const options of [
        text.replaceAll('# - ../', '- ../'),
        text.replace('  - ../metrics-auth\n', ''),
      ]) {
        await writeFile(path, options);
        await compare(file('all/config/default'));
      }
    });

    for (const overlay of ['manifests', 'scorecard']) {
      it(`config/${overlay} is built as kubectl does, where it is asked for`, async () => {
        const folder = file(`with-${overlay}`);
        const named = ['--domain', 'example.com', '--name', 'shops', '-C', folder];
        await cli(['init', ...named, '--with', 'olm,scorecard']);
        await createApi(folder);
        await compare(`${folder}/config/${overlay}`);
      });
    }

    it('without kinds is built as kubectl does', () => compare(file('bare/config/default')));
  });
});
