import { readdir, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { isJsonObject } from '../object/index.js';
import type { UnstructuredObject } from '../object/index.js';
import { OperatorError } from '../system/index.js';
import type { CommandContext } from './command-context.js';
import { exists, fileError, readText } from './files.js';

interface ReadingOptions {
  /** Whether the files may hold objects without a name, as a bundle does. @defaultValue false */
  readonly mayLackNames?: boolean | undefined;
}

/**
 * Reads the objects of files and folders.
 * @param paths - as for {@link objectFiles}
 * @throws OperatorError `InvalidConfig`: a file can't be read or contains something other than objects, or no file is
 *   found
 */
export async function resourcesAt(
  paths: readonly string[],
  context: CommandContext,
  options?: ReadingOptions,
): Promise<readonly UnstructuredObject[]> {
  const files = await objectFiles(paths, context.cwd);
  if (files.length > 0) return readResources(files, context, options);
  throw new OperatorError('InvalidConfig', `${paths.join(', ')}: no YAML files found`);
}

/**
 * Returns the files with objects at `paths`: the paths that are files, and the files of {@link filesAt} in folders.
 * @param paths - `-` is the standard input
 * @throws OperatorError `InvalidConfig`: a path can't be read
 */
export async function objectFiles(
  paths: readonly string[],
  cwd: string,
): Promise<readonly string[]> {
  const found = async (path: string): Promise<readonly string[]> =>
    path === '-' ? [path] : filesAt(resolve(cwd, path), path);
  return (await Promise.all(paths.map(found))).flat();
}

/** Returns the files with objects in a folder of a project; an empty list if the folder does not exist. */
export async function projectFiles(root: string, folder: string): Promise<readonly string[]> {
  const path = join(root, folder);
  return (await exists(path)) ? filesAt(path) : [];
}

/**
 * Returns the path of a file itself; for a folder, the YAML and JSON files directly in it, except kustomizations.
 * @param given - the path that errors show
 * @throws OperatorError `InvalidConfig`: the path can't be read
 */
export async function filesAt(path: string, given = path): Promise<readonly string[]> {
  try {
    if (!(await stat(path)).isDirectory()) return [path];
    const names = await readdir(path);
    return names
      .filter((name) => /\.(?:ya?ml|json)$/.test(name) && !/^kustomization\./.test(name))
      .toSorted()
      .map((name) => join(path, name));
  } catch (error) {
    throw fileError(given, 'read', error);
  }
}

/**
 * Reads the objects of YAML or JSON files, including the items of a `List`; skips kustomizations.
 * @param files - paths; `-` is the standard input
 * @throws OperatorError `InvalidConfig`: a file can't be read or contains something other than objects
 */
export async function readResources(
  files: readonly string[],
  context: CommandContext,
  options?: ReadingOptions,
): Promise<readonly UnstructuredObject[]> {
  const all: UnstructuredObject[] = [];
  for (const file of files) {
    const text =
      file === '-' ? await context.readStdin() : await readText(resolve(context.cwd, file));
    all.push(...(await objectsOfText(text, file, options)));
  }
  if (all.length > 0) return all;
  throw new OperatorError('InvalidConfig', `${files.join(', ')}: no objects found`);
}

/**
 * Returns the objects of a YAML or JSON text, including the items of a `List`; skips kustomizations.
 * @param source - names the text in errors
 * @throws OperatorError `InvalidConfig`: the text contains something other than objects
 */
export async function objectsOfText(
  text: string,
  source: string,
  options?: ReadingOptions,
): Promise<readonly UnstructuredObject[]> {
  const { parseYamlValues } = await import('../object/index.js');
  return parseYamlValues(text, source).flatMap((value) => objectsIn(value, source, options));
}

function objectsIn(
  value: unknown,
  file: string,
  options: ReadingOptions = {},
): readonly UnstructuredObject[] {
  if (value === null) return [];
  if (isJsonObject(value) && value['kind'] === 'List' && Array.isArray(value['items'])) {
    return value['items'].flatMap((item) => objectsIn(item, file, options));
  }
  const { apiVersion, kind, metadata } = isJsonObject(value) ? value : {};
  const name = isJsonObject(metadata) ? metadata['name'] : undefined;
  // A folder with objects often has a kustomization too, but an API server does not serve that kind.
  if (typeof apiVersion === 'string' && apiVersion.startsWith('kustomize.config.k8s.io/'))
    return [];
  const names = options.mayLackNames === true ? {} : { 'metadata.name': name };
  const missing = Object.entries({ apiVersion, kind, ...names })
    .filter(([, text]) => typeof text !== 'string')
    .map(([field]) => field);
  if (missing.length === 0) return [value as unknown as UnstructuredObject];
  const got = typeof kind === 'string' ? `a ${kind}` : 'a value';
  const message = `${file}: want Kubernetes objects, got ${got} without ${missing.join(' and ')}`;
  throw new OperatorError('InvalidConfig', message);
}
