import { parse } from 'node:path';
import { isInvalidSpec, loadOperators } from '../../declarative/index.js';
import type { LoadedOperator, Group, DeclarativeOperator } from '../../declarative/index.js';
import { describeProblem } from '../../declarative/internal.js';
import { dns1123SubdomainProblem } from '../../object/index.js';
import type { Logger } from '../../system/index.js';
import { OperatorError } from '../../system/index.js';
import { UsageError } from '../command-context.js';
import type { CommandContext } from '../command-context.js';
import { readText } from '../files.js';

const mostProblems = 20;

/** A validated declarative operator from a file, with a name. */
export interface FileOperator extends LoadedOperator {
  readonly name: string;
}

/**
 * Reads declarative operators. The file name is the default name.
 * @param files - paths; `-` is the standard input
 * @throws OperatorError `InvalidSpec`: the problems of all files. `InvalidConfig`: a file can't be read.
 * @throws UsageError two operators share a name
 */
export async function readOperatorFiles(
  files: readonly string[],
  context: CommandContext,
): Promise<readonly FileOperator[]> {
  const operators: FileOperator[] = [];
  const problems: string[] = [];
  for (const file of files) {
    const text = file === '-' ? await context.readStdin() : await readText(file);
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
   * Adds, changes and removes operators; unchanged controllers continue. Objects that removed operators wrote
   * stay, except views.
   * @param operators - with distinct names
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
    this.#logger.info('operators are as in the files', { operators: [...names] });
  }

  #warn(running: DeclarativeOperator, { source, locate }: FileOperator): void {
    for (const warning of running.listControllers().flatMap(({ warnings }) => warnings)) {
      this.#logger.warn(describeProblem(source, locate(warning)), { operator: running.name });
    }
  }
}
