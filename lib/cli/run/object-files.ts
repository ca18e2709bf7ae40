import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileError } from '../file-error.js';
import { exists } from '../project/find-project.js';

/** The custom resources that a project has as samples; none where there is no such folder. */
export function sampleFiles(root: string): Promise<readonly string[]> {
  return filesIfThere(join(root, 'config/samples'));
}

/** The definitions of foreign kinds, which the tests of a project install; none where there are none. */
export function foreignDefinitionFiles(root: string): Promise<readonly string[]> {
  return filesIfThere(join(root, 'test/crds'));
}

async function filesIfThere(folder: string): Promise<readonly string[]> {
  return (await exists(folder)) ? filesOf(folder) : [];
}

/**
 * The files with objects at a path: itself, or those of the folder that it is, but for what kustomize
 * has there. @param path - absolute
 * @throws OperatorError `InvalidConfig`: there is none
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
