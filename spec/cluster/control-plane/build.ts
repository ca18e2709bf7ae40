import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { withBuildLock } from './build-lock.js';
import { isDeadProcess } from './dead-process.js';
import { go } from './go.js';
import { goModules, kwokModule, kwokStages, kwokStorageClass } from './programs.js';
import type { GoModule } from './programs.js';

/** Separates the name of a build's folder from the builder's process id until the build is done. */
const unfinished = '.tmp-';

/** Receives progress messages, a line at a time. */
export type Progress = (line: string) => void;

/** Name of the file with kwok's stages in a build's folder. */
export const stagesFile = 'stages.yaml';
/** Name of the file with the default StorageClass in a build's folder. */
export const storageClassFile = 'storage-class.yaml';

/**
 * Returns the folder of the control plane's programs and kwok's files, and builds it first if the
 * cache (`$XDG_CACHE_HOME/operator-builder/control-plane`) lacks it: three to five minutes on two
 * cores when Go's own cache is empty too. Safe against concurrent builders.
 * @throws Error: Go is missing or a build failed.
 */
export async function buildControlPlane(progress: Progress): Promise<string> {
  const cache = join(
    process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'),
    'operator-builder',
  );
  const builds = join(cache, 'control-plane');
  const target = join(builds, await buildKey());
  if (existsSync(target)) return target;
  await mkdir(builds, { recursive: true });
  await withBuildLock(
    `${target}.lock`,
    (holder) => progress(`process ${holder} is building the control plane; waiting for it`),
    async () => {
      if (!existsSync(target)) await buildInto(target, progress);
    },
  );
  return target;
}

/** Returns a hash of all inputs of a build: versions, checksums, compiler, this recipe. */
async function buildKey(): Promise<string> {
  const hash = createHash('sha256');
  for (const module of goModules) {
    const cwd = join(import.meta.dirname, module.folder);
    hash.update(await readFile(join(cwd, 'go.mod'))).update(await readFile(join(cwd, 'go.sum')));
    hash.update(await go(['env', 'GOVERSION', 'GOOS', 'GOARCH'], { cwd }));
  }
  hash.update(JSON.stringify([goModules, kwokStages, kwokStorageClass]));
  return hash.digest('hex').slice(0, 16);
}

async function buildInto(target: string, progress: Progress): Promise<void> {
  const startedAt = Date.now();
  progress('building kube-apiserver, etcd and the rest from source: once, three to five minutes');
  await removeAbandoned(dirname(target));
  const folder = `${target}${unfinished}${process.pid}`;
  try {
    await mkdir(folder);
    for (const module of goModules) await buildModule(module, folder, progress);
    await copyKwokFiles(folder);
    await publish(folder, target);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  progress(`built in ${Math.round((Date.now() - startedAt) / 1000)} s: ${target}`);
}

/** Removes builds of killed processes, some hundred megabytes each. */
async function removeAbandoned(builds: string): Promise<void> {
  for (const name of await readdir(builds)) {
    const pid = name.split(unfinished)[1];
    if (pid === undefined || !isDeadProcess(Number(pid))) continue;
    await rm(join(builds, name), { recursive: true, force: true });
  }
}

async function buildModule(module: GoModule, folder: string, progress: Progress): Promise<void> {
  const variables = Object.entries(module.variables).map(([name, value]) => `-X ${name}=${value}`);
  const flags = ['-v', '-trimpath', '-ldflags', ['-s', '-w', ...variables].join(' ')];
  const packages = Object.values(module.packages);
  const cwd = join(import.meta.dirname, module.folder);
  const report = startReport(Object.keys(module.packages).join(', '), progress);
  try {
    // One command for all: linking uses one core, so several links run in parallel.
    await go(['build', ...flags, '-o', `${folder}/`, ...packages], { cwd, onLine: report.count });
  } finally {
    report.stop();
  }
  for (const [name, goPackage] of Object.entries(module.packages)) {
    await rename(join(folder, executableName(goPackage)), join(folder, name));
  }
}

/**
 * Returns `go build`'s name of a program: the last element of its path that is not a major version.
 */
function executableName(goPackage: string): string {
  return basename(goPackage.replace(/\/v\d+$/, ''));
}

/** Reports progress every 10 s: a silent build of minutes looks like one that hangs. */
function startReport(what: string, progress: Progress) {
  const startedAt = Date.now();
  let packages = 0;
  const report = () => {
    const seconds = Math.round((Date.now() - startedAt) / 1000);
    progress(`${what}: ${packages} packages compiled, ${seconds} s`);
  };
  const timer = setInterval(report, 10_000);
  return {
    count: (line: string) => {
      if (!line.startsWith('go: ')) packages++;
    },
    stop: () => {
      clearInterval(timer);
      report();
    },
  };
}

/** Copies files, so that the module cache can be cleaned later. */
async function copyKwokFiles(folder: string): Promise<void> {
  const cwd = join(import.meta.dirname, 'kwok');
  const source = await go(['list', '-m', '-f', '{{.Dir}}', kwokModule], { cwd });
  const stageFolder = join(source, 'kustomize', 'stage');
  const stages = await Promise.all(
    kwokStages.map((file) => readFile(join(stageFolder, file), 'utf8')),
  );
  await writeFile(join(folder, stagesFile), stages.join('\n---\n'));
  await copyFile(join(stageFolder, kwokStorageClass), join(folder, storageClassFile));
}

async function publish(folder: string, target: string): Promise<void> {
  try {
    await rename(folder, target);
  } catch (error) {
    // Another process has finished the same build first.
    if (!existsSync(target)) throw error;
  }
}
