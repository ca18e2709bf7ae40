import { readFile } from 'node:fs/promises';
import { changeFile } from './change-file.js';
import { outputProblem } from './expected-output.js';
import { stepsOf } from './page-steps.js';
import type { RunStep, Step } from './page-steps.js';
import type { Terminal } from './terminal.js';

/** Options of {@link walkPage}. */
export interface WalkOptions {
  readonly terminal: Terminal;
  /** Called with a description of each completed step. */
  readonly onStep?: ((text: string) => void) | undefined;
}

/**
 * Runs the steps of a page in order.
 * @param page - path of the page
 * @throws Error a step fails, or its output differs from the page; the message names the line
 */
export async function walkPage(page: string, options: WalkOptions): Promise<void> {
  const { terminal, onStep = () => undefined } = options;
  try {
    for (const step of stepsOf(await readFile(page, 'utf8'))) {
      const before = performance.now();
      const done = await doStep(step, terminal).catch((error: unknown) => {
        throw new Error(`${page}:${step.line}: ${(error as Error).message}`);
      });
      const seconds = ((performance.now() - before) / 1000).toFixed(1);
      onStep(`${page}:${step.line}: ${done} (${seconds} s)`);
    }
  } finally {
    await terminal.close();
  }
}

/** Runs a step. @returns a description of it in one line */
async function doStep(step: Step, terminal: Terminal): Promise<string> {
  switch (step.type) {
    case 'run':
      if (step.where !== 'here') return `left out: ${brief(step.script)}`;
      return step.isLeftRunning ? start(step, terminal) : run(step, terminal);
    case 'stop': {
      const { code, output } = await terminal.stop();
      // npm exits with 130 after SIGINT, even if the program that it started exited with 0.
      if (code !== 0 && code !== 130)
        throw new Error(`on Ctrl-C it ended with ${code}; it wrote:\n${output}`);
      return 'Ctrl-C';
    }
    case 'write':
    case 'edit':
      await changeFile(step, terminal.folder);
      return `${step.type === 'write' ? 'wrote' : 'changed'} ${step.path}`;
  }
}

async function run({ script, exitCode, output }: RunStep, terminal: Terminal): Promise<string> {
  const ended = await terminal.run(script);
  if (ended.code !== exitCode) {
    throw new Error(`${brief(script)} ended with ${ended.code}; it wrote:\n${ended.output}`);
  }
  const problem = output === undefined ? undefined : outputProblem(output, ended.output);
  if (problem !== undefined) throw new Error(`${brief(script)}: ${problem}`);
  return brief(script);
}

async function start({ script, output = '…' }: RunStep, terminal: Terminal): Promise<string> {
  await terminal.start(script, (text) => outputProblem(output, text) === undefined);
  return brief(script);
}

function brief(script: string): string {
  const lines = script.split('\n').filter((line) => line.trim() !== '');
  return lines.length > 1 ? `${lines[0]} …` : (lines[0] ?? '');
}
