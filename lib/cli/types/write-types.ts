import { join, resolve } from 'node:path';
import uniqWith from 'lodash/uniqWith.js';
import { deepEqual } from '../../object/index.js';
import { OperatorError } from '../../system/index.js';
import { UsageError } from '../command-context.js';
import type { CommandContext } from '../command-context.js';
import { definitionsAt } from '../definition-sources.js';
import type { ClusterOptions } from '../options.js';
import { done, planFiles, refuseStale, textIfExists, writeFiles } from '../scaffold/plan-files.js';
import type { WantedFile } from '../scaffold/plan-files.js';
import { typeModules } from './type-module.js';

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
  const definitions = await definitionsAt(sources, context, cluster ? options : undefined);
  const folder = resolve(context.cwd, out);
  const modules = uniqWith(definitions.flatMap(typeModules), deepEqual);
  const paths = modules.map(({ path }) => path);
  const twice = paths.find((path, index) => paths.indexOf(path) !== index);
  if (twice !== undefined) {
    const message = `the sources have two different definitions of ${twice}; leave out one of them`;
    throw new OperatorError('InvalidConfig', message);
  }
  if (modules.length === 0) {
    const names = definitions.map(({ metadata }) => metadata.name).join(', ');
    throw new OperatorError('InvalidConfig', `${names}: no version is served; set served: true`);
  }
  const wanted = await Promise.all(
    modules.map(async ({ path, text }): Promise<WantedFile> => {
      const before = (await textIfExists(join(folder, path))) ?? '';
      return { type: before.startsWith(mark) ? 'edited' : 'whole', path, text };
    }),
  );
  const files = await planFiles(wanted, { folder, force });
  const changes = files.filter(({ action }) => action !== 'keep');
  if (check) {
    refuseStale(`types in ${out}`, files, 'run the command without --check');
    return;
  }
  await writeFiles(folder, files, context.stopSignal());
  for (const { path, action } of changes) context.stdout.write(`${done[action]} ${out}/${path}\n`);
  if (changes.length === 0) context.stdout.write('The types are up to date.\n');
}

/** The beginning of generated modules. */
const mark = '// Made by `operator-builder types`';
