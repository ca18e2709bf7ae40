#!/usr/bin/env node
// The program `operator-builder`: the only place of lib/cli that knows its process.
import { text } from 'node:stream/consumers';
import { isatty } from 'node:tty';
import { systemClock } from '../system/clock.js';
import { runCli } from './run-cli.js';

// Who reads a part of the output only, as `head` does, has had enough: no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
});

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
}).then((code) => (process.exitCode = code));
