/** Something that a reader of a page does. */
export type Step = RunStep | WriteStep | EditStep | StopStep;

/** Commands of a shell. */
export interface RunStep {
  readonly type: 'run';
  /** Line in the page, as in all steps. */
  readonly line: number;
  readonly script: string;
  /** Expected exit code of the last command. */
  readonly exitCode: number;
  /** In a terminal of its own: it goes on until the page has it stopped. */
  readonly isLeftRunning: boolean;
  /** `cluster`: on one that is no part of the page; `nowhere`: nothing checks it. */
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

/** A file that is changed in some lines. */
export interface EditStep {
  readonly type: 'edit';
  readonly line: number;
  readonly path: string;
  /** Lines that begin with a space stay, with `-` go, with `+` come; `@@` stands between places. */
  readonly diff: string;
}

/** Stops the command that was left running, as Ctrl-C does. */
export interface StopStep {
  readonly type: 'stop';
  readonly line: number;
}

/**
 * Returns the steps of a page for its readers, in order. Words after the language of a fence, which
 * readers do not see, define its block:
 *
 * - `sh`: commands; `exit=2`: they end with that code; `start`: they go on until `<!-- walk: stop -->`;
 *   `cluster`: they want a cluster; `unchecked`: nothing here can carry them out.
 * - `text output`: what the commands before it write; `…` stands for any text, alone for any lines.
 * - `ts file=src/main.ts`: a whole file, of whatever language. `diff file=…`: changes of a file.
 * - All others are only shown.
 *
 * @throws Error words that mean nothing; output without commands
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
