import picocolors from 'picocolors';

/** Kind of event that a line reports, shown as a symbol. */
export type Mark = 'created' | 'changed' | 'rolled' | 'removed' | 'noted' | 'well' | 'wrong';

type Colors = ReturnType<typeof picocolors.createColors>;

const marksOf = (colors: Colors): Readonly<Record<Mark, string>> => ({
  created: colors.green('+'),
  changed: colors.yellow('~'),
  rolled: colors.cyan('↻'),
  removed: colors.red('-'),
  noted: colors.dim('·'),
  well: colors.green('✓'),
  wrong: colors.red('✗'),
});

/** Output stream of a {@link Narrator}, such as `process.stdout`. */
export interface NarratorOutput {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
}

/**
 * Prints the events of a demo, one line each. On a terminal, a last line shows what the demo waits for.
 * Other outputs get plain lines, without colours and without that line.
 */
export class Narrator {
  /** Whether the output has colours: only a terminal that supports them. */
  readonly color: boolean;
  readonly #output: NarratorOutput;
  readonly #colors: Colors;
  readonly #marks: Readonly<Record<Mark, string>>;
  #chapter = 0;
  #waiting = '';

  constructor(output: NarratorOutput) {
    this.#output = output;
    this.color = output.isTTY === true && picocolors.isColorSupported;
    this.#colors = picocolors.createColors(this.color);
    this.#marks = marksOf(this.#colors);
  }

  title(text: string, subtitle: string): void {
    this.#print(`\n${this.#colors.bold(text)}\n${this.#colors.dim(subtitle)}`);
  }

  chapter(text: string, command: string): void {
    this.#chapter++;
    this.#print(
      `\n${this.#colors.bold(`${this.#chapter}. ${text}`)}  ${this.#colors.dim(command)}`,
    );
  }

  line(mark: Mark, text: string, why = ''): void {
    this.#print(`   ${this.#marks[mark]} ${text}${why === '' ? '' : `  ${this.#colors.dim(why)}`}`);
  }

  /** Prints text unchanged except for the indent of the chapter. */
  block(text: string): void {
    this.#print(
      text
        .trimEnd()
        .split('\n')
        .map((line) => `   ${line}`)
        .join('\n'),
    );
  }

  /** Shows what the demo waits for, on a terminal only; the next line replaces it. */
  wait(text: string): void {
    if (this.#output.isTTY !== true) return;
    this.#clear();
    // `#clear` erases only one line of the terminal, so this one must not wrap.
    this.#waiting = `   … ${text}`.slice(0, (this.#output.columns ?? 80) - 1);
    this.#output.write(this.#colors.dim(this.#waiting));
  }

  /** Erases the line of {@link wait}. */
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
