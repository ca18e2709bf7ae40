/** Runs the specs that cover one mutant, those most likely to fail first, until one fails. */
import { spawn } from 'node:child_process';
import { copy, mochaArguments, specEnvironment } from './coverage.js';
import type { RecordedSpec } from './coverage.js';
import { switchName } from './mutants.js';
import type { Mutant } from './mutants.js';

export type Outcome =
  | 'noticed' // a spec fails
  | 'hung' // the specs do not end: noticed too
  | 'survived' // every spec passes
  | 'not covered'; // no spec runs the code

/** Time limit of a process: milliseconds to start, and for each millisecond that the specs take without a mutant. */
const startMs = 60_000;
const slowdown = 8;

/** Numbers of spec files in successive processes. The first batches are small, as they detect most mutants. */
const batchSizes = [4, 16, 64];

/** Limit of the total duration of the specs for a mutant, in milliseconds. Less likely specs are skipped. */
const longestMs = 180_000;

/** Returns whether `specs` detect mutant number `number` of the copy. */
export async function outcomeOf(
  number: number,
  mutant: Mutant,
  specs: readonly RecordedSpec[],
): Promise<Outcome> {
  if (specs.length === 0) return 'not covered';
  for (const batch of batchesOf(specs, mutant.file)) {
    const outcome = await runSpecs(number, batch);
    if (outcome !== 'survived') return outcome;
  }
  return 'survived';
}

/** Returns whether the specs pass without a mutant. */
export async function passes(specs: readonly RecordedSpec[]): Promise<boolean> {
  return (await runSpecs(undefined, specs)) === 'survived';
}

function* batchesOf(specs: readonly RecordedSpec[], file: string): Generator<RecordedSpec[]> {
  const ranked = [...specs].sort((a, b) => distance(a, file) - distance(b, file));
  let budget = longestMs;
  const rest = ranked.filter(({ milliseconds }, index) => {
    if (index > 0 && milliseconds > budget) return false;
    budget -= milliseconds;
    return true;
  });
  for (let size = 0; rest.length > 0; size++) {
    yield rest.splice(0, batchSizes[size] ?? rest.length);
  }
}

/** Returns a rank: lower the more of its path a spec shares with the mutated file, and the less other code it runs. */
function distance({ file, blocks }: RecordedSpec, source: string): number {
  const specPath = file
    .replace(/\.spec\.ts$/, '')
    .split('/')
    .slice(1);
  const path = source.replace(/\.ts$/, '').split('/').slice(1);
  let shared = 0;
  while (shared < path.length && specPath[shared] === path[shared]) shared++;
  const own = blocks[source]?.length ?? 0;
  const all = Object.values(blocks).reduce((sum, numbers) => sum + numbers.length, 0);
  return -shared - own / Math.max(all, 1);
}

function runSpecs(number: number | undefined, specs: readonly RecordedSpec[]): Promise<Outcome> {
  const files = specs.map(({ file }) => file);
  const usualMs = specs.reduce((sum, { milliseconds }) => sum + milliseconds, 0);
  const child = spawn(
    process.execPath,
    mochaArguments(files, '--bail', '--timeout', '30000'),
    // A group of its own, so that processes which specs start end with it.
    {
      cwd: copy,
      env: { ...specEnvironment, ...(number !== undefined && { [switchName]: String(number) }) },
      stdio: 'ignore',
      detached: true,
    },
  );
  return new Promise((resolve, reject) => {
    const limit = setTimeout(
      () => {
        endGroup(child.pid);
        resolve('hung');
      },
      startMs + slowdown * usualMs,
    );
    child.once('error', reject);
    child.once('exit', (code) => {
      clearTimeout(limit);
      endGroup(child.pid);
      resolve(code === 0 ? 'survived' : 'noticed');
    });
  });
}

function endGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // The group has ended.
  }
}
