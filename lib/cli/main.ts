#!/usr/bin/env node
// The program `operator-builder`: the only place of lib/cli that knows its process.
import { Console } from 'node:console';
import { text } from 'node:stream/consumers';
import { isatty } from 'node:tty';
import { inspect } from 'node:util';
import { systemClock } from '../system/clock.js';
import { isOperatorError } from '../system/operator-error.js';
import { exitCodes } from './command-context.js';
import { runCli } from './run-cli.js';

let done = false;

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

let stop: AbortController | undefined;

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
void runCli(process.argv.slice(2), {
  clock: systemClock,
  env: process.env,
  cwd: process.cwd(),
  stdout: process.stdout,
  stderr: process.stderr,
  terminal: isatty(0) && isatty(1) ? { input: process.stdin, output: process.stdout } : undefined,
  readStdin: () => text(process.stdin),
  stopSignal,
}).then((code) => {
  done = true;
  process.exitCode = code;
  // What modules of a project begin as they are loaded would keep the process; all is written first.
  process.stdout.write('', () => process.stderr.write('', () => process.exit()));
});
