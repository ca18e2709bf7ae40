import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, openSync } from 'node:fs';
import { mkdir, readFile, rename, rm } from 'node:fs/promises';
import { createHash } from 'node:crypto';
import { homedir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { build } from 'esbuild';
import { go } from '../../spec/cluster/control-plane/go.js';
import { flag } from '../sides.js';

/** The operators that the fleet bench compares. */
export const peers = {
  'operator-builder': { script: 'operator-builder.ts', elects: true },
  'controller-runtime': { program: 'create-or-update', elects: true },
  'operator-runtime': { program: 'operator-runtime', elects: true },
  'client-node': { script: 'client-node.ts', elects: false },
} as const;

export type Peer = keyof typeof peers;

/** Resources that a process has used so far. */
export interface Usage {
  readonly cpuSeconds: number;
  readonly peakRssBytes: number;
}

/** Namespace, kubeconfig and leader election of an operator. */
export interface OperatorPlace {
  readonly namespace: string;
  readonly kubeConfigPath: string;
  readonly elect: boolean;
}

/** An operator in a separate process. */
export class OperatorProcess {
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown>;

  private constructor(child: ChildProcess) {
    this.#child = child;
    this.#ended = once(child, 'exit');
  }

  static async start(
    peer: Peer,
    { namespace, kubeConfigPath, elect }: OperatorPlace,
  ): Promise<OperatorProcess> {
    const how = peers[peer];
    const command =
      'program' in how ? [await builtProgram(how.program)] : await nodeScript(how.script);
    const flags = ['--namespace', namespace, '--workers', '8', ...(elect ? ['--elect'] : [])];
    const [program = '', ...args] = [...command, ...flags];
    const env = { ...process.env, KUBECONFIG: kubeConfigPath };
    // Logs go to a file: the Go operators log hundreds of conflicts.
    await mkdir(resultsFolder, { recursive: true });
    const log = openSync(join(resultsFolder, `fleet-${peer}.log`), 'a');
    return new OperatorProcess(spawn(program, args, { env, stdio: ['ignore', log, log] }));
  }

  usage(): Promise<Usage> {
    if (this.#child.exitCode !== null) {
      throw new Error(
        `the operator ended with code ${this.#child.exitCode}; its log in bench/results says why`,
      );
    }
    return usageOf(this.#child.pid ?? 0);
  }

  /** Sends SIGTERM, and SIGKILL if the process still runs after 15 s. */
  async stop(): Promise<void> {
    this.#child.kill('SIGTERM');
    const gone = await Promise.race([this.#ended, delay(15_000, undefined, { ref: false })]);
    if (gone !== undefined) return;
    this.#child.kill('SIGKILL');
    await this.#ended;
  }
}

// Linux reports CPU time in /proc in hundredths of a second, whatever the frequency of its timer is.
const ticksPerSecond = 100;

/** Returns CPU time and peak memory of a process from /proc. */
export async function usageOf(pid: number): Promise<Usage> {
  const [stat, status] = await Promise.all([
    readFile(`/proc/${pid}/stat`, 'utf8'),
    readFile(`/proc/${pid}/status`, 'utf8'),
  ]);
  // The second field, the name, may contain spaces. `utime` and `stime` are fields 14 and 15, counted from 1.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = Number(fields[11]) + Number(fields[12]);
  const peakKiB = Number(/^VmHWM:\s+(\d+)/m.exec(status)?.[1] ?? NaN);
  return { cpuSeconds: ticks / ticksPerSecond, peakRssBytes: peakKiB * 1024 };
}

const resultsFolder = join(import.meta.dirname, '..', 'results');

// Bundles to plain JavaScript: a TypeScript loader in the process would count as memory of the operator.
async function nodeScript(script: string): Promise<readonly string[]> {
  const root = join(import.meta.dirname, '..', '..');
  // The bundle imports `../dist/`, so it must be in a folder beside `dist/`.
  const outfile = join(root, '.cache', `bench-${basename(script, '.ts')}.mjs`);
  await build({
    entryPoints: [join(import.meta.dirname, '..', 'peers', script)],
    ...{ outfile, bundle: true, packages: 'external', platform: 'node', format: 'esm' },
    logLevel: 'error',
  });
  const folder = flag('fleet-profile');
  const profile = folder === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${folder}`];
  // The same flags as in the images of generated projects.
  return [process.execPath, '--max-semi-space-size=4', ...profile, outfile];
}

const goFolder = join(import.meta.dirname, '..', 'peers', 'go');

async function builtProgram(name: string): Promise<string> {
  const caches = process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache');
  const folder = join(caches, 'operator-builder', 'bench-peers', await buildKey());
  const target = join(folder, name);
  if (existsSync(target)) return target;
  process.stderr.write('building the Go operators: once, a minute or two\n');
  const unfinished = `${folder}.tmp-${process.pid}`;
  await mkdir(unfinished, { recursive: true });
  const flags = ['-trimpath', '-ldflags', '-s -w', '-o', `${unfinished}/`];
  await go(['build', ...flags, './create-or-update', './operator-runtime'], { cwd: goFolder });
  await rm(folder, { recursive: true, force: true });
  await rename(unfinished, folder);
  return target;
}

async function buildKey(): Promise<string> {
  const hash = createHash('sha256');
  const sources = ['fleet/fleet.go', 'create-or-update/main.go', 'operator-runtime/main.go'];
  for (const name of ['go.mod', 'go.sum', ...sources]) {
    hash.update(await readFile(join(goFolder, name)));
  }
  hash.update(await go(['env', 'GOVERSION', 'GOOS', 'GOARCH'], { cwd: goFolder }));
  return hash.digest('hex').slice(0, 16);
}
