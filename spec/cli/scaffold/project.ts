import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { namespaceFiles } from '../../../lib/cli/manifests/role-files.js';
import { planFiles, writeFiles } from '../../../lib/cli/scaffold/plan-files.js';
import { cli } from '../cli.js';
import type { CliResult } from '../cli.js';

/** Creates a project, and returns the results of the commands. */
export async function makeProject(
  folder: string,
  ...apis: readonly (readonly string[])[]
): Promise<readonly CliResult[]> {
  const results = [await cli(['init', '--domain', 'example.com', '--name', 'shops', '-C', folder])];
  for (const args of apis) results.push(await createApi(folder, ...args));
  return results;
}

/** Runs `create api` for a version of a kind in the group `shop`. */
export function createApi(
  folder: string,
  kind = 'Shop',
  version = 'v1alpha1',
  ...more: readonly string[]
): Promise<CliResult> {
  const named = ['--group', 'shop', '--version', version, '--kind', kind];
  return cli(['create', 'api', ...named, '-C', folder, ...more]);
}

/** Runs `create webhook` for a version of a kind in the group `shop`. */
export function createWebhook(
  folder: string,
  kind: string,
  version: string,
  ...more: readonly string[]
): Promise<CliResult> {
  const named = ['--group', 'shop', '--version', version, '--kind', kind];
  return cli(['create', 'webhook', ...named, '-C', folder, ...more]);
}

/** Adds what `operator-builder manifests` writes for an operator limited to namespaces. */
export async function holdTo(folder: string, ...namespaces: readonly string[]): Promise<void> {
  const rule = { apiGroups: [''], resources: ['secrets'], verbs: ['get'] };
  const rules = new Map(namespaces.map((namespace) => [namespace, [rule]]));
  const { wanted } = await namespaceFiles(folder, 'shops', rules, 'manifests');
  const files = await planFiles(wanted, { folder, force: false });
  await writeFiles(folder, files, new AbortController().signal);
}

/**
 * Returns the contents of all files in a directory by path, except for the record of the templates.
 */
export async function textsIn(folder: string): Promise<Readonly<Record<string, string>>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !path.includes('/.operator-builder/'))
    .toSorted();
  const texts = paths.map(async (path) => {
    return [path.slice(folder.length + 1), await readFile(path, 'utf8')] as const;
  });
  return Object.fromEntries(await Promise.all(texts));
}

/** Returns a project's tests by path below `test`, except for those that require a cluster. */
export async function testTexts(folder: string): Promise<Readonly<Record<string, string>>> {
  const texts = Object.entries(await textsIn(`${folder}/test`));
  return Object.fromEntries(texts.filter(([path]) => !path.startsWith('e2e/')));
}
