import { basename, join, parse, resolve } from 'node:path';
import { isInvalidSpec, loadOperators } from '../../declarative/index.js';
import type { LoadedOperator, Group, DeclarativeOperator } from '../../declarative/index.js';
import { describeProblem } from '../../declarative/internal.js';
import { dns1123SubdomainProblem } from '../../object/index.js';
import type { Logger } from '../../system/index.js';
import { OperatorError } from '../../system/index.js';
import { UsageError } from '../command-context.js';
import type { CommandContext } from '../command-context.js';
import { contentError, readText } from '../files.js';
import { filesAt } from '../object-files.js';
import type { WatchedPaths } from '../watch-files.js';

const mostProblems = 20;

/** A validated declarative operator from a file, with a name. */
export interface FileOperator extends LoadedOperator {
  readonly name: string;
}

/**
 * Returns the files to watch: each path that is a file, and the files directly in each path that is a directory.
 * Also returns these directories, because files may be added to them later.
 * @param paths - a missing path counts as a file, because an editor may be replacing the file
 */
export async function watchedFiles(paths: readonly string[]): Promise<WatchedPaths> {
  const found = await Promise.all(
    paths.map(async (path) => ({ path, files: await filesAt(path).catch(() => [path]) })),
  );
  const isDirectory = ({ path, files }: (typeof found)[number]): boolean => files[0] !== path;
  return {
    files: found.flatMap(({ files }) => files),
    directories: found.filter(isDirectory).map(({ path }) => path),
  };
}

/**
 * Reads declarative operators. The file name is the default name.
 * @param paths - files, and directories with files; `-` is the standard input
 * @throws OperatorError `InvalidSpec`: the problems of all files. `InvalidConfig`: a file can't be read, or a
 * directory has no YAML files.
 * @throws UsageError two operators share a name
 */
export async function readOperatorFiles(
  paths: readonly string[],
  context: CommandContext,
): Promise<readonly FileOperator[]> {
  return operatorsOfTexts(await operatorTexts(paths, context));
}

export interface OperatorText {
  /** `-` for the standard input. */
  readonly file: string;
  readonly text: string;
}

/**
 * Reads files with operators, without checking their content.
 * @throws as {@link readOperatorFiles} does for files and directories
 */
export async function operatorTexts(
  paths: readonly string[],
  context: CommandContext,
): Promise<readonly OperatorText[]> {
  const texts: OperatorText[] = [];
  for (const path of paths) {
    if (path === '-') {
      texts.push({ file: path, text: await context.readStdin() });
      continue;
    }
    const place = resolve(context.cwd, path);
    const files = await filesAt(place, path);
    if (files.length === 0) throw contentError(path, 'no YAML files with operators found');
    for (const file of files) {
      const name = file === place ? path : join(path, basename(file));
      texts.push({ file: name, text: await readText(file) });
    }
  }
  return texts;
}

/**
 * Returns the operators of files.
 * @throws as {@link readOperatorFiles} does for the content of files
 */
export function operatorsOfTexts(texts: readonly OperatorText[]): readonly FileOperator[] {
  const operators: FileOperator[] = [];
  const problems: string[] = [];
  for (const { file, text } of texts) {
    try {
      operators.push(...operatorsOf(text, file));
    } catch (error) {
      if (!isInvalidSpec(error)) throw error;
      problems.push(...error.message.split('\n'));
    }
  }
  if (problems.length > 0) throw new OperatorError('InvalidSpec', listed(problems));
  refuseTwins(operators);
  return operators;
}

/** Limits the list: a file that is not YAML has hundreds of problems. */
function listed(problems: readonly string[]): string {
  if (problems.length <= mostProblems) return problems.join('\n');
  return [...problems.slice(0, mostProblems), `and ${problems.length - mostProblems} more`].join(
    '\n',
  );
}

function operatorsOf(text: string, file: string): FileOperator[] {
  const source = file === '-' ? 'standard input' : file;
  const own = file === '-' ? 'operator' : parse(file).name;
  return loadOperators(text, source).map((loaded) => ({
    ...loaded,
    name: loaded.name ?? own,
  }));
}

/** @throws UsageError the name of an operator, or of its file, is not a valid operator name */
export function refuseOddNames(operators: readonly FileOperator[]): void {
  for (const { name, source } of operators) {
    const problem = dns1123SubdomainProblem(name);
    if (problem === undefined) continue;
    const remedy = 'change its metadata.name, or rename the file if it has no name';
    throw new UsageError(`${source}: the name of the operator ${problem}; ${remedy}`);
  }
}

function refuseTwins(operators: readonly FileOperator[]): void {
  const seen = new Map<string, string>();
  for (const { name, source } of operators) {
    const other = seen.get(name);
    if (other === source) {
      const remedy = 'change the metadata.name of one of them, or pass the file only once';
      throw new UsageError(`${source} has two operators named ${name}; ${remedy}`);
    }
    if (other !== undefined) {
      const remedy = 'change the metadata.name of one of them';
      throw new UsageError(`${other} and ${source} both have an operator ${name}; ${remedy}`);
    }
    seen.set(name, source);
  }
}

/** Keeps the operators of a group in line with files. */
export class FileOperators {
  readonly #group: Group;
  readonly #logger: Logger;
  #names: ReadonlySet<string> = new Set();
  #text = '';

  constructor(group: Group, logger: Logger) {
    this.#group = group;
    this.#logger = logger;
  }

  /**
   * Adds, changes and removes operators; unchanged controllers continue. Objects that removed operators wrote stay,
   * except views.
   * @param operators - operators with distinct names
   */
  async set(operators: readonly FileOperator[]): Promise<void> {
    const text = JSON.stringify(operators.map(({ name, spec }) => ({ name, spec })));
    if (text === this.#text) return;
    const names = new Set(operators.map(({ name }) => name));
    for (const name of this.#names) {
      if (!names.has(name)) await this.#group.deleteOperator(name);
    }
    for (const operator of operators) {
      this.#warn(await this.#group.upsertOperator(operator.name, operator), operator);
    }
    this.#names = names;
    this.#text = text;
    this.#logger.info('the operators in the files were applied', { operators: [...names] });
  }

  #warn(running: DeclarativeOperator, { source, locate }: FileOperator): void {
    for (const warning of running.listControllers().flatMap(({ warnings }) => warnings)) {
      this.#logger.warn(describeProblem(source, locate(warning)), { operator: running.name });
    }
  }
}
