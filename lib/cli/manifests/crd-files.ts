import { join } from 'node:path';
import type { OperatorResource } from '../../manager/index.js';
import { OperatorError } from '../../system/operator-error.js';
import type { WantedFile } from '../scaffold/plan-files.js';
import { listedFiles, otherFiles } from './file-list.js';
import type { FileList } from './file-list.js';
import { generatedFile } from './generated-file.js';
import type { WantedManifests } from './wanted-manifests.js';

const bases = 'config/crd/bases';
const list: FileList = {
  ...{ path: 'config/crd/kustomization.yaml', field: 'resources' },
  marker: '# +operator-builder:scaffold:crds',
};

/**
 * Returns the CustomResourceDefinitions of a project: a file for each resource, listed for kustomize. Deletes
 * generated files of removed resources; reports other files.
 * @param folder - the project's
 * @throws OperatorError `InvalidConfig`: two resources share a file, or the list can't be changed
 */
export async function crdFiles(
  folder: string,
  resources: readonly OperatorResource[],
): Promise<WantedManifests> {
  const names = resources.map(({ group, plural }) => `${group}_${plural}.yaml`);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) {
    const message = `two resources of the operator are of ${bases}/${twice}: give it one only`;
    throw new OperatorError('InvalidConfig', message);
  }
  const files = resources.map(({ crd }, index) => {
    const path = `${bases}/${names[index] ?? ''}`;
    return generatedFile(folder, { path, from: 'the schemas in src/api', objects: [crd] });
  });
  const { gone, left } = await otherFiles(join(folder, bases), /\.ya?ml$/, names);
  const inList = (name: string): string => `bases/${name}`;
  const wanted: readonly WantedFile[] = [
    ...(await Promise.all(files)),
    ...gone.map((name) => ({ type: 'delete', path: `${bases}/${name}` }) as const),
    ...(await listedFiles(folder, list, { names: names.map(inList), gone: gone.map(inList) })),
  ];
  const notes = left.map(
    (name) =>
      `${bases}/${name} is of no resource of the operator, and was not generated: it is left`,
  );
  return { wanted, notes };
}
