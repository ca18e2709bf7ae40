#!/usr/bin/env node
/*
 * The program `operator-builder`: the only module of lib/cli that uses the process directly.
 *
 *   main.ts ──► program.ts ──► commands/ (options and help) ──► a folder for each task
 *
 * Read `program.ts`, `command-context.ts` (the parts of the process that a command gets) and one file of
 * `commands/`. The tasks: `scaffold/` writes and upgrades projects, `run/` runs operators, `manifests/`
 * generates CRDs, roles and webhooks, `package/` makes an installer or a chart, `plan/` shows what a change
 * would do, `upgrade/` compares two releases of an operator, and `declarative/` runs operators in YAML.
 * `load-operator.ts` bundles and loads the operator of a project.
 */
import { Console } from 'node:console';
import { text } from 'node:stream/consumers';
import { isatty } from 'node:tty';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { inspect } from 'node:util';
import { systemClock, isOperatorError } from '../system/index.js';
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
  // A reader such as `head` may close the pipe early: not a failure.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    done = true;
    process.exit();
  });

  // Node exits with 0 if project code waits forever. Project code may also end the process itself.
  process.once('exit', (code) => {
    if (done || code !== exitCodes.success) return;
    process.exitCode = exitCodes.failure;
    const cause = 'operator code waits for a promise that never settles, or ended the process';
    process.stderr.write(`error: command did not finish: ${cause}\n`);
  });

  // Exit at once: the command may wait forever for the result of the rejected promise.
  process.on('unhandledRejection', (reason) => {
    const what = isOperatorError(reason) ? reason.message : inspect(reason);
    process.stderr.write(`error: unhandled rejection: ${what}\n`);
    process.exit(exitCodes.failure);
  });

  // Project code may print, too; the standard output is reserved for results.
  globalThis.console = new Console(process.stderr);

  // The operator runs as a bundle; source maps make traces point to its sources.
  if (process.env['OPERATOR_BUILDER_DEBUG'] !== undefined) process.setSourceMapsEnabled(true);
}

function stopSignal(): AbortSignal {
  if (stop !== undefined) return stop.signal;
  const controller = (stop = new AbortController());
  // Once: the second signal ends the process immediately.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => controller.abort());
  }
  return controller.signal;
}

// No top-level await: Node would exit with code 13 if the command waits for the process to end.
async function run(): Promise<void> {
  // Loaded here: the program of another version does not need it.
  const { runCli } = await import('./program.js');
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
  // Timers and sockets of project modules would keep the process alive; exit after all output is written.
  process.stdout.write('', () => process.stderr.write('', () => process.exit()));
}
