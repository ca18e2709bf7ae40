import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { withBuildLock } from './control-plane/build-lock.js';
import { go } from './control-plane/go.js';

/**
 * Sends `question` as JSON to the Go program in `folder`, and returns its answer. The program is built first if
 * it is not in the cache (`$XDG_CACHE_HOME/operator-builder`): a minute or two on two cores.
 * @throws Error: the program could not be built, or answered nothing; the message has what it wrote to stderr.
 */
export async function askGoProgram(folder: string, question: object): Promise<unknown> {
  const child = spawn(await builtProgram(folder), { stdio: ['pipe', 'pipe', 'pipe'] });
  child.stdin.end(JSON.stringify(question));
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  if (output === '') throw new Error(`${basename(folder)}: ${errors}`);
  return JSON.parse(output) as unknown;
}

async function builtProgram(folder: string): Promise<string> {
  const name = basename(folder);
  const caches = process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache');
  const builds = join(caches, 'operator-builder', name);
  const target = join(builds, await buildKey(folder));
  if (existsSync(target)) return target;
  await mkdir(builds, { recursive: true });
  await withBuildLock(
    `${target}.lock`,
    (holder) => process.stderr.write(`process ${holder} is building ${name}; waiting for it\n`),
    async () => {
      if (!existsSync(target)) await build(folder, target);
    },
  );
  return target;
}

async function build(folder: string, target: string): Promise<void> {
  process.stderr.write(`building ${basename(folder)} from source: once, a minute or two\n`);
  const unfinished = `${target}.tmp-${process.pid}`;
  const flags = ['-trimpath', '-ldflags', '-s -w', '-o', unfinished];
  await go(['build', ...flags, '.'], { cwd: folder });
  await rename(unfinished, target);
}

/** Returns a hash of all inputs of the build. */
async function buildKey(folder: string): Promise<string> {
  const hash = createHash('sha256');
  for (const name of ['go.mod', 'go.sum', 'main.go']) {
    hash.update(await readFile(join(folder, name)));
  }
  hash.update(await go(['env', 'GOVERSION', 'GOOS', 'GOARCH'], { cwd: folder }));
  return hash.digest('hex').slice(0, 16);
}
