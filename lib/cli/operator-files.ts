import { parse } from 'node:path';
import { isInvalidSpec, loadOperators } from '../declarative/index.js';
import type { LoadedOperator } from '../declarative/index.js';
import { dns1123SubdomainProblem } from '../object/names.js';
import { OperatorError } from '../system/operator-error.js';
import type { CommandContext } from './command-context.js';
import { readText } from './read-text.js';
import { UsageError } from './usage-error.js';

const mostProblems = 20;

/** A declarative operator that was read from a file, checked, with a name. */
export interface FileOperator extends LoadedOperator {
  readonly name: string;
}

/**
 * Reads declarative operators. One without a name of its own is called as its file.
 * @param files - paths; `-` is the standard input
 * @throws OperatorError `InvalidSpec`: with the problems of all files. `InvalidConfig`: one can't be read.
 * @throws UsageError two operators have one name
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

/** A file that is no YAML at all has hundreds of problems. */
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

/** @throws UsageError an operator can't be run by its name, which may be that of its file */
export function refuseOddNames(operators: readonly FileOperator[]): void {
  for (const { name, source } of operators) {
    const problem = dns1123SubdomainProblem(name);
    if (problem === undefined) continue;
    const remedy = 'give it another metadata.name, or, where it has none, rename the file';
    throw new UsageError(`${source}: its operator's name ${problem}: ${remedy}`);
  }
}

function refuseTwins(operators: readonly FileOperator[]): void {
  const seen = new Map<string, string>();
  for (const { name, source } of operators) {
    const other = seen.get(name);
    if (other === source) {
      const remedy = 'give one of them another metadata.name, or the file once';
      throw new UsageError(`${source} has an operator ${name} twice: ${remedy}`);
    }
    if (other !== undefined) {
      const remedy = 'give one of them another metadata.name';
      throw new UsageError(`${other} and ${source} both have an operator ${name}: ${remedy}`);
    }
    seen.set(name, source);
  }
}
