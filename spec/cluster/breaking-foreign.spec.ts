import { expect } from 'chai';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { clientFromKubeConfig } from '../../lib/client/index.js';
import type { ConnectedClient } from '../../lib/client/index.js';
import type { CustomResourceDefinition } from '../../lib/object/index.js';
import { cli } from '../cli/cli.js';
import { sharedControlPlane } from './control-plane/shared.js';
import { foreignDefinitions, foreignProjects } from './foreign-definitions.js';

describe('the command breaking, with CustomResourceDefinitions of other projects', () => {
  let client: ConnectedClient;

  before(async () => {
    const { kubeConfigPath } = await sharedControlPlane();
    client = await clientFromKubeConfig({ path: kubeConfigPath });
  });

  after(() => client.close());

  for (const project of foreignProjects) {
    it(`finds no breaking change between the definitions of ${project} and the form in which a real API server stores them`, async () => {
      const folder = await foreignDefinitions(project);
      const items: CustomResourceDefinition[] = [];
      for (const definition of await definitionsIn(folder)) {
        items.push(await client.create(definition, { dryRun: true }));
      }
      expect(items).not.to.have.length(0);
      const stdin = JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
      for (const sides of [
        ['-', folder],
        [folder, '-'],
      ]) {
        const { code, stdout, stderr } = await cli(['breaking', ...sides], { stdin });
        expect({ code, stdout, stderr }).to.deep.equal({
          ...{ code: 0, stdout: 'no breaking changes\n', stderr: '' },
        });
      }
    }).timeout(120_000);
  }
});

async function definitionsIn(folder: string): Promise<readonly CustomResourceDefinition[]> {
  const files = (await readdir(folder)).filter((file) => /\.ya?ml$/.test(file));
  const texts = await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')));
  return texts
    .flatMap((text) => parseAllDocuments(text))
    .map((document) => document.toJS() as CustomResourceDefinition | null)
    .filter((object) => object?.kind === 'CustomResourceDefinition')
    .map((object) => object as CustomResourceDefinition);
}
