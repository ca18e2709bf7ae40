import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { withBuildLock } from '../control-plane/build-lock.js';
import { go } from '../control-plane/go.js';

/** Values and options of a rendering. */
export interface Rendering {
  readonly release: string;
  readonly namespace: string;
  readonly values: object;
}

/** Result of a rendering. */
export interface Rendered {
  readonly manifest: string;
  readonly notes: string;
  /** Error; empty if the chart was rendered. */
  readonly error: string;
}

/** Helm's results for a chart. */
export interface ChartResult {
  readonly lint: readonly string[];
  readonly results: readonly Rendered[];
}

/**
 * Lints and renders a chart by Helm itself, which is built first if it is not in the cache
 * (`$XDG_CACHE_HOME/operator-builder/helm-render`): a minute or two on two cores.
 */
export async function renderChart(
  chart: string,
  renderings: readonly Rendering[],
): Promise<ChartResult> {
  const child = spawn(await program(), { stdio: ['pipe', 'pipe', 'pipe'] });
  child.stdin.end(JSON.stringify({ chart, renderings }));
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  if (output === '') throw new Error(`helm-render: ${errors}`);
  return JSON.parse(output) as ChartResult;
}

async function program(): Promise<string> {
  const caches = process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache');
  const builds = join(caches, 'operator-builder', 'helm-render');
  const target = join(builds, await buildKey());
  if (existsSync(target)) return target;
  await mkdir(builds, { recursive: true });
  await withBuildLock(
    `${target}.lock`,
    (holder) => process.stderr.write(`process ${holder} is building Helm; waiting for it\n`),
    async () => {
      if (!existsSync(target)) await build(target);
    },
  );
  return target;
}

async function build(target: string): Promise<void> {
  process.stderr.write('building Helm from source: once, a minute or two\n');
  const unfinished = `${target}.tmp-${process.pid}`;
  const flags = ['-trimpath', '-ldflags', '-s -w', '-o', unfinished];
  await go(['build', ...flags, '.'], { cwd: import.meta.dirname });
  await rename(unfinished, target);
}

/** Returns a hash of all inputs of the build. */
async function buildKey(): Promise<string> {
  const cwd = import.meta.dirname;
  const hash = createHash('sha256');
  for (const name of ['go.mod', 'go.sum', 'main.go']) hash.update(await readFile(join(cwd, name)));
  hash.update(await go(['env', 'GOVERSION', 'GOOS', 'GOARCH'], { cwd }));
  return hash.digest('hex').slice(0, 16);
}
