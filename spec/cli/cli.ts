import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Terminal } from '../../lib/cli/command-context.js';
import { runCli } from '../../lib/cli/program.js';
import { systemClock } from '../../lib/system/clock.js';
import type { Clock } from '../../lib/system/clock.js';
import { eventually } from '../../lib/testing/index.js';

/** Environment of a command. */
export interface CliSettings {
  readonly stdin?: string | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly clock?: Clock | undefined;
  /** @defaultValue directory of the process */
  readonly cwd?: string | undefined;
  /** @defaultValue none */
  readonly terminal?: Terminal | undefined;
  /** Width of both outputs. @defaultValue none, as without a terminal */
  readonly columns?: number | undefined;
  /** Runs the command line. @defaultValue that of `operator-builder` */
  readonly run?: typeof runCli | undefined;
}

/** Result of a command. */
export interface CliResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A command that runs in this process. */
export interface RunningCli {
  /** Stops the command like SIGTERM. */
  stop(): void;
  /** Returns the output so far. */
  written(): Omit<CliResult, 'code'>;
  readonly ended: Promise<CliResult>;
}

/** Command line that runs the program from its sources. Most specs run the program in their own process instead. */
export const program = [
  ...[
    process.execPath,
    '--import',
    pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href,
  ],
  fileURLToPath(new URL('../../lib/cli/main.ts', import.meta.url)),
];

/** Starts a command, given without the name of the program. */
export function startCli(args: readonly string[], settings: CliSettings = {}): RunningCli {
  const { stdin = '', env = {}, clock = systemClock, cwd = process.cwd(), terminal } = settings;
  const { columns, run = runCli } = settings;
  const out = { stdout: '', stderr: '' };
  const stop = new AbortController();
  const ended = run(args, {
    ...{ program, env, clock, cwd, terminal },
    stdout: { columns, write: (text) => (out.stdout += text) },
    stderr: { columns, write: (text) => (out.stderr += text) },
    readStdin: () => Promise.resolve(stdin),
    stopSignal: () => stop.signal,
  });
  return {
    stop: () => stop.abort(),
    written: () => ({ ...out }),
    ended: ended.then((code) => ({ code, ...out })),
  };
}

/** Runs a command that ends by itself. */
export function cli(args: readonly string[], settings?: CliSettings): Promise<CliResult> {
  return startCli(args, settings).ended;
}

/** Waits until a command serves views, and returns their URL. */
export function urlOfViews(running: RunningCli): Promise<string> {
  return eventually(() => {
    const { stderr } = running.written();
    const [, url] = /"url":"(.*?)".*views are served/.exec(stderr) ?? [];
    if (url === undefined) throw new Error(stderr);
    return url;
  });
}

/** A directory for the specs of one `describe`; removed after their own `after` hooks. */
export function scratchDirectory(): (...names: string[]) => string {
  let directory = '';
  before(async function () {
    directory = await mkdtemp(join(tmpdir(), 'cli-spec-'));
    // This hook is registered while the specs run, so that it runs last.
    this.test?.parent?.afterAll(() => rm(directory, { recursive: true, force: true }));
  });
  return (...names) => join(directory, ...names);
}

/** Returns a port that no program listens on. */
export async function freePort(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return String(port);
}

/** Returns the number of the open connections of this process. */
export function openSockets(): number {
  return process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length;
}
