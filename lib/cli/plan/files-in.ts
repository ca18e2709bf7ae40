import { readdir, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileError } from '../files.js';

/**
 * Returns the files and, for directories, their direct YAML and JSON files, sorted by name.
 * @throws OperatorError `InvalidConfig`: a path can't be read
 */
export async function filesIn(paths: readonly string[], cwd: string): Promise<readonly string[]> {
  const files: string[] = [];
  for (const path of paths) {
    if (path === '-') files.push(path);
    else files.push(...(await filesAt(resolve(cwd, path), path)));
  }
  return files;
}

async function filesAt(path: string, given: string): Promise<readonly string[]> {
  try {
    if (!(await stat(path)).isDirectory()) return [path];
    const names = (await readdir(path)).filter((name) => /\.(ya?ml|json)$/.test(name)).sort();
    return names.map((name) => join(path, name));
  } catch (error) {
    throw fileError(given, 'read', error);
  }
}
