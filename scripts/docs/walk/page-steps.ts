/** An action of a reader who follows a page. */
export type Step = RunStep | WriteStep | EditStep | StopStep;

/** Commands of a shell. */
export interface RunStep {
  readonly type: 'run';
  /** Line of the page; the same in all steps. */
  readonly line: number;
  readonly script: string;
  /** Expected exit code of the last command. */
  readonly exitCode: number;
  /** Whether the command keeps running in a terminal of its own, until a {@link StopStep}. */
  readonly isLeftRunning: boolean;
  /** `cluster`: needs a cluster, which the page does not create; `nowhere`: not run by this check. */
  readonly where: 'here' | 'cluster' | 'nowhere';
  /** Output that the page shows; undefined if it shows none. */
  readonly output: string | undefined;
}

/** A file to create or overwrite. */
export interface WriteStep {
  readonly type: 'write';
  readonly line: number;
  readonly path: string;
  readonly text: string;
}

/** Changes of some lines of a file. */
export interface EditStep {
  readonly type: 'edit';
  readonly line: number;
  readonly path: string;
  /** Lines that begin with a space are context, `-` marks removed and `+` added lines; `@@` separates places. */
  readonly diff: string;
}

/** Stops the running command, like Ctrl-C. */
export interface StopStep {
  readonly type: 'stop';
  readonly line: number;
}

/**
 * Returns the steps of a page, in order. The words after the language of a code fence, which readers do not see,
 * define the step:
 *
 * - `sh`: commands. `exit=2`: they exit with that code. `start`: they run until `<!-- walk: stop -->`.
 *   `cluster`: they need a cluster. `unchecked`: this check cannot run them.
 * - `text output`: the output of the commands before it. `…` matches any text, and alone any number of lines.
 * - `ts file=src/main.ts`: a whole file, in any language. `diff file=…`: changes of a file.
 * - Blocks without such words are ignored.
 *
 * @throws Error a word is unknown, or output has no commands before it
 */
export function stepsOf(page: string): readonly Step[] {
  const parts = /^```(\S+)([^\n]*)\n(.*?)^```$|^<!-- walk: (.*?) -->$/gms;
  const steps: Step[] = [];
  for (const match of page.matchAll(parts)) {
    const [, language = '', words = '', text = '', order] = match;
    const line = page.slice(0, match.index).split('\n').length;
    if (order !== undefined) steps.push(orderOf(order, line));
    else addBlock(steps, { language, line, text, words: words.split(' ').filter(Boolean) });
  }
  return steps;
}

interface Block {
  readonly language: string;
  readonly words: readonly string[];
  readonly line: number;
  readonly text: string;
}

function addBlock(steps: Step[], block: Block): void {
  const { language, words, line, text } = block;
  if (language === 'sh') {
    steps.push(runStepOf(block));
    return;
  }
  const [word = '', ...others] = words;
  if (word === '' || word === 'run') return;
  const [, path] = /^file=(.+)$/.exec(word) ?? [];
  if (word === 'output') addOutput(steps, block);
  else if (path === undefined || others.length > 0) throw unknownWords(words, line);
  else if (language === 'diff') steps.push({ type: 'edit', line, path, diff: text });
  else steps.push({ type: 'write', line, path, text });
}

function runStepOf({ words, line, text }: Block): RunStep {
  const exitCode = words.map((word) => /^exit=(\d+)$/.exec(word)?.[1]).find(Boolean);
  const known = (word: string): boolean => /^(exit=\d+|start|cluster|unchecked)$/.test(word);
  if (!words.every(known)) throw unknownWords(words, line);
  return {
    type: 'run',
    line,
    script: text,
    exitCode: Number(exitCode ?? 0),
    isLeftRunning: words.includes('start'),
    where: placeOf(words),
    output: undefined,
  };
}

function placeOf(words: readonly string[]): RunStep['where'] {
  if (words.includes('cluster')) return 'cluster';
  return words.includes('unchecked') ? 'nowhere' : 'here';
}

function addOutput(steps: Step[], { line, text }: Block): void {
  const last = steps.at(-1);
  if (last?.type !== 'run') throw new Error(`line ${line}: output, but of no commands before it`);
  steps[steps.length - 1] = { ...last, output: text };
}

function orderOf(order: string, line: number): StopStep {
  if (order === 'stop') return { type: 'stop', line };
  throw unknownWords([order], line);
}

function unknownWords(words: readonly string[], line: number): Error {
  return new Error(`line ${line}: unknown words '${words.join(' ')}'`);
}
