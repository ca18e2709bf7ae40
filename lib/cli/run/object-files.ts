import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileError } from '../files.js';
import { exists } from '../project/find-project.js';

/** Returns the sample custom resources of a project; empty without the folder. */
export function sampleFiles(root: string): Promise<readonly string[]> {
  return filesIfThere(join(root, 'config/samples'));
}

/** Returns the definitions of foreign kinds that a project's tests install; empty without the folder. */
export function foreignDefinitionFiles(root: string): Promise<readonly string[]> {
  return filesIfThere(join(root, 'test/crds'));
}

async function filesIfThere(folder: string): Promise<readonly string[]> {
  return (await exists(folder)) ? filesOf(folder) : [];
}

/**
 * Returns the files with objects at a path: the file, or those of a folder except kustomizations.
 * @param path - absolute
 * @throws OperatorError `InvalidConfig`: the path does not exist
 */
export async function filesOf(path: string): Promise<readonly string[]> {
  try {
    if (!(await stat(path)).isDirectory()) return [path];
    const names = await readdir(path);
    return names
      .filter((name) => /\.(?:ya?ml|json)$/.test(name) && !/^kustomization\./.test(name))
      .toSorted()
      .map((name) => join(path, name));
  } catch (error) {
    throw fileError(path, 'read', error);
  }
}
