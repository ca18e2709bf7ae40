import { join, resolve } from 'node:path';
import { CustomResourceDefinition } from '../../object/index.js';
import type { UnstructuredObject } from '../../object/index.js';
import { OperatorError, silentLogger } from '../../system/index.js';
import { UsageError } from '../command-context.js';
import type { CommandContext } from '../command-context.js';
import { objectsOfText, resourcesAt } from '../object-files.js';
import { clusterClient } from '../options.js';
import type { ClusterOptions } from '../options.js';
import { planFiles, textIfExists, writeFiles } from '../scaffold/plan-files.js';
import type { PlannedFile, WantedFile } from '../scaffold/plan-files.js';
import { typeModules } from './type-module.js';

/** Options of `operator-builder types`. */
export interface TypesOptions extends ClusterOptions {
  /** The output folder. */
  readonly out: string;
  readonly cluster: boolean;
  readonly check: boolean;
  readonly force: boolean;
}

/**
 * Writes a module for each served version of CustomResourceDefinitions.
 * @param sources - files, folders and URLs with the definitions
 * @throws OperatorError `InvalidConfig`: a source can't be read or has no definitions, a file would be overwritten, or,
 * with `check`, a file is stale
 */
export async function writeTypes(
  sources: readonly string[],
  options: TypesOptions,
  context: CommandContext,
): Promise<void> {
  const { out, cluster, check, force } = options;
  if (sources.length === 0 && !cluster) {
    throw new UsageError('no definitions: pass files, folders or URLs, or --cluster');
  }
  const definitions = await definitionsOf(sources, options, context);
  const folder = resolve(context.cwd, out);
  const modules = definitions.flatMap(typeModules);
  const wanted = await Promise.all(
    modules.map(async ({ path, text }): Promise<WantedFile> => {
      const isOwn = (await textIfExists(join(folder, path)))?.startsWith(mark) === true;
      return { type: isOwn ? 'edited' : 'whole', path, text };
    }),
  );
  const files = await planFiles(wanted, { folder, force });
  const changes = files.filter(({ action }) => action !== 'keep');
  if (check) {
    refuseStale(changes, out);
    return;
  }
  await writeFiles(folder, files, context.stopSignal());
  for (const { path, action } of changes) context.stdout.write(`${past[action]} ${out}/${path}\n`);
  if (changes.length === 0) context.stdout.write('The types are up to date.\n');
}

/** The beginning of generated modules. */
const mark = '// Made by `operator-builder types`';

const past: Readonly<Record<PlannedFile['action'], string>> = {
  ...{ create: 'created', overwrite: 'overwrote', change: 'changed' },
  ...{ keep: 'kept', delete: 'deleted' },
};

function refuseStale(changes: readonly PlannedFile[], out: string): void {
  if (changes.length === 0) return;
  const paths = changes.map(({ path }) => `${out}/${path}`).join(', ');
  throw new OperatorError(
    'InvalidConfig',
    `stale types: ${paths}; run the command without --check`,
  );
}

async function definitionsOf(
  sources: readonly string[],
  { cluster, ...options }: TypesOptions,
  context: CommandContext,
): Promise<readonly CustomResourceDefinition[]> {
  const isUrl = (source: string): boolean => /^https?:\/\//.test(source);
  const paths = sources.filter((source) => !isUrl(source));
  const objects: UnstructuredObject[] = [];
  if (paths.length > 0) objects.push(...(await resourcesAt(paths, context)));
  for (const url of sources.filter(isUrl)) objects.push(...(await objectsAt(url)));
  if (cluster) objects.push(...(await objectsInCluster(options, context)));
  const definitions = objects.filter(
    ({ apiVersion, kind }) =>
      apiVersion === 'apiextensions.k8s.io/v1' && kind === CustomResourceDefinition.kind,
  );
  if (definitions.length > 0) return definitions as unknown as CustomResourceDefinition[];
  const what = cluster ? 'the cluster' : sources.join(', ');
  const message = `${what}: no CustomResourceDefinitions of apiextensions.k8s.io/v1 found`;
  throw new OperatorError('InvalidConfig', message);
}

async function objectsAt(url: string): Promise<readonly UnstructuredObject[]> {
  const unreadable = (problem: string, cause?: unknown): OperatorError =>
    new OperatorError('InvalidConfig', `${url} can't be read: ${problem}`, { cause });
  let response: Response;
  try {
    response = await fetch(url);
  } catch (error) {
    throw unreadable((error as Error).message, error);
  }
  if (!response.ok) throw unreadable(`the server answered ${response.status}`);
  return objectsOfText(await response.text(), url);
}

async function objectsInCluster(
  options: ClusterOptions,
  context: CommandContext,
): Promise<readonly UnstructuredObject[]> {
  const client = await clusterClient(options, context, silentLogger);
  try {
    const { items } = await client.list(CustomResourceDefinition);
    // Items of a list have no apiVersion and kind.
    const type = { apiVersion: 'apiextensions.k8s.io/v1', kind: CustomResourceDefinition.kind };
    return items.map((item) => ({ ...item, ...type }));
  } finally {
    await client.close();
  }
}
