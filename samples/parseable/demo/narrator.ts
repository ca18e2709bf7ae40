import colors from 'picocolors';

/** Marks a line by what happened. */
export type Mark = 'created' | 'changed' | 'rolled' | 'removed' | 'noted' | 'well' | 'wrong';

const marks: Readonly<Record<Mark, string>> = {
  created: colors.green('+'),
  changed: colors.yellow('~'),
  rolled: colors.cyan('↻'),
  removed: colors.red('-'),
  noted: colors.dim('·'),
  well: colors.green('✓'),
  wrong: colors.red('✗'),
};

/** Where a {@link Narrator} writes. */
export interface NarratorOutput {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
}

/**
 * Tells the story line by line. On a terminal the last line shows what is being waited for; elsewhere
 * only what happened is written, one plain line each.
 */
export class Narrator {
  readonly #output: NarratorOutput;
  #chapter = 0;
  #waiting = '';

  constructor(output: NarratorOutput) {
    this.#output = output;
  }

  title(text: string, subtitle: string): void {
    this.#print(`\n${colors.bold(text)}\n${colors.dim(subtitle)}`);
  }

  chapter(text: string, command: string): void {
    this.#chapter++;
    this.#print(`\n${colors.bold(`${this.#chapter}. ${text}`)}  ${colors.dim(command)}`);
  }

  line(mark: Mark, text: string, why = ''): void {
    this.#print(`   ${marks[mark]} ${text}${why === '' ? '' : `  ${colors.dim(why)}`}`);
  }

  /** Text as it is, indented under the chapter. */
  block(text: string): void {
    this.#print(
      text
        .trimEnd()
        .split('\n')
        .map((line) => `   ${line}`)
        .join('\n'),
    );
  }

  /** Shows what is being waited for, on a terminal only; the next line replaces it. */
  wait(text: string): void {
    if (this.#output.isTTY !== true) return;
    this.#clear();
    // A line that wraps could not be taken back.
    this.#waiting = `   … ${text}`.slice(0, (this.#output.columns ?? 80) - 1);
    this.#output.write(colors.dim(this.#waiting));
  }

  /** Takes back what {@link wait} showed. */
  done(): void {
    this.#clear();
  }

  #print(text: string): void {
    this.#clear();
    this.#output.write(`${text}\n`);
  }

  #clear(): void {
    if (this.#waiting === '') return;
    this.#waiting = '';
    this.#output.write('\r\x1b[2K');
  }
}
