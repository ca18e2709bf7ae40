import type { Group, Operator } from '../../../declarative/operator/index.js';
import { describeProblem } from '../../../declarative/spec/invalid-spec-error.js';
import type { Logger } from '../../../system/logger.js';
import type { FileOperator } from '../../operator-files.js';

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

  #warn(running: Operator, { source, locate }: FileOperator): void {
    for (const warning of running.listControllers().flatMap(({ warnings }) => warnings)) {
      this.#logger.warn(describeProblem(source, locate(warning)), { operator: running.name });
    }
  }
}
