#!/usr/bin/env node
// The program `operator-builder`: the only place of lib/cli that knows its process.
import { Console } from 'node:console';
import { text } from 'node:stream/consumers';
import { isatty } from 'node:tty';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { inspect } from 'node:util';
import { systemClock } from '../system/clock.js';
import { isOperatorError } from '../system/operator-error.js';
import { exitCodes } from './command-context.js';
import { projectProgram } from './project-program.js';

let done = false;
let stop: AbortController | undefined;

const ofProject = projectProgram(process.cwd(), fileURLToPath(new URL('../../', import.meta.url)));
if (ofProject === undefined) {
  prepareProcess();
  void run();
} else {
  process.argv[1] = ofProject;
  void import(pathToFileURL(ofProject).href);
}

function prepareProcess(): void {
  // Who reads a part of the output only, as `head` does, has had enough: no failure.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    done = true;
    process.exit();
  });

  // Code of a project may wait for what never comes, which Node ends with 0, or end the process itself.
  process.once('exit', (code) => {
    if (done || code !== exitCodes.success) return;
    process.exitCode = exitCodes.failure;
    const cause = 'the code of the operator waits for what never comes, or ended the process';
    process.stderr.write(`error: the command did not come to its end: ${cause}\n`);
  });

  // Nor need it wait for what fails.
  process.on('unhandledRejection', (reason) => {
    const what = isOperatorError(reason) ? reason.message : inspect(reason);
    process.stderr.write(`error: a promise that nobody waited for was rejected: ${what}\n`);
    process.exit(exitCodes.failure);
  });

  // Code of a project may say something, too: the standard output is for what a program may read.
  globalThis.console = new Console(process.stderr);

  // The code of an operator is a bundle: a trace is to be of its sources.
  if (process.env['OPERATOR_BUILDER_DEBUG'] !== undefined) process.setSourceMapsEnabled(true);
}

function stopSignal(): AbortSignal {
  if (stop !== undefined) return stop.signal;
  const controller = (stop = new AbortController());
  // Once: who sends it again does not want to wait.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => controller.abort());
  }
  return controller.signal;
}

// No top-level await: a command that waits for the process to end would end it with code 13.
async function run(): Promise<void> {
  // Loaded here: another version needs none of it.
  const { runCli } = await import('./run-cli.js');
  process.exitCode = await runCli(process.argv.slice(2), {
    clock: systemClock,
    env: process.env,
    cwd: process.cwd(),
    stdout: process.stdout,
    stderr: process.stderr,
    terminal: isatty(0) && isatty(1) ? { input: process.stdin, output: process.stdout } : undefined,
    readStdin: () => text(process.stdin),
    stopSignal,
  });
  done = true;
  // What modules of a project begin as they are loaded would keep the process; all is written first.
  process.stdout.write('', () => process.stderr.write('', () => process.exit()));
}
