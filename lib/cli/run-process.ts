import { Console } from 'node:console';
import { writeFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { isatty } from 'node:tty';
import { inspect } from 'node:util';
import type { TextOutput } from '../feed/index.js';
import type { OperatorError } from '../system/index.js';
import { systemClock, isOperatorError, reportedRejections } from '../system/index.js';
import { fileError } from './files.js';
import type { Surroundings } from './program.js';

export interface Program {
  /** Returns a function that runs a command line and returns its exit code. */
  readonly load: () => Promise<
    (args: readonly string[], surroundings: Surroundings) => Promise<number>
  >;
  /** The exit code of a failure that the program itself can't report. */
  readonly failure: number;
}

let done = false;
let stop: AbortController | undefined;

/** Runs the command line of this process, and ends the process. */
export function runProcess({ load, failure }: Program): void {
  prepareProcess(failure);
  // No top-level await: Node would exit with code 13 if the command waits for the process to end.
  void run(load, failure);
}

function prepareProcess(failure: number): void {
  process.stdout.on('error', (error: Error) => endWithoutOutput(error, failure));

  // Node exits with 0 if project code waits forever. Project code may also end the process itself.
  process.once('exit', (code) => {
    if (done || code !== 0) return;
    process.exitCode = failure;
    const cause = 'operator code waits for a promise that never settles, or ended the process';
    process.stderr.write(`error: command did not finish: ${cause}\n`);
  });

  // Exit at once: the command may wait forever for the result of the rejected promise.
  process.on('unhandledRejection', (reason, promise) => {
    if (reportedRejections.has(promise)) return;
    const what = isOperatorError(reason) ? reason.message : inspect(reason);
    const remedy = 'await it, or handle its error';
    process.stderr.write(`error: a promise that nothing awaits failed (${remedy}): ${what}\n`);
    process.exit(failure);
  });

  // Project code may print, too; the standard output is reserved for results.
  globalThis.console = new Console(process.stderr);

  // The operator runs as a bundle; source maps make traces point to its sources.
  if (process.env['OPERATOR_BUILDER_DEBUG'] !== undefined) process.setSourceMapsEnabled(true);
}

/** Ends the process after a failed write to the standard output. */
function endWithoutOutput(error: NodeJS.ErrnoException, failure: number): void {
  done = true;
  // A reader such as `head` may close the pipe early: not a failure.
  if (error.code === 'EPIPE') process.exit();
  process.stderr.write(`error: ${outputError(error).message}\n`);
  process.exit(failure);
}

function outputError(error: unknown): OperatorError {
  return fileError('the standard output', 'written', error);
}

/** Returns the standard output; writing throws if a file takes only a part of the text. */
function standardOutput(): TextOutput {
  // A pipe or a terminal takes the whole text.
  if (process.stdout instanceof Socket) return process.stdout;
  const write = (text: string): void => {
    try {
      // Node's stream of a file would lose the rest that does not fit, without an error.
      writeFileSync(process.stdout.fd, Buffer.from(text));
    } catch (error) {
      throw outputError(error);
    }
  };
  return { write };
}

function stopSignal(): AbortSignal {
  if (stop !== undefined) return stop.signal;
  const controller = (stop = new AbortController());
  // Listen only once, so that a second signal ends the process immediately.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => controller.abort());
  }
  return controller.signal;
}

async function run(load: Program['load'], failure: number): Promise<void> {
  const runProgram = await load();
  const [, path = '', ...args] = process.argv;
  process.exitCode = await runProgram(args, {
    program: [process.execPath, ...process.execArgv, path],
    clock: systemClock,
    env: process.env,
    cwd: process.cwd(),
    stdout: standardOutput(),
    stderr: process.stderr,
    terminal: isatty(0) && isatty(1) ? { input: process.stdin, output: process.stdout } : undefined,
    readStdin: () => text(process.stdin),
    stopSignal,
  });
  done = true;
  // Timers and sockets of project modules would keep the process alive; exit after all output is written.
  const exit = () => process.stderr.write('', () => process.exit());
  // Nothing is buffered, as after writes to files: exit without another write, which a full disk would refuse even if
  // empty.
  if (process.stdout.writableLength === 0) exit();
  else {
    process.stdout.write('', (error) => (error ? endWithoutOutput(error, failure) : exit()));
  }
}
