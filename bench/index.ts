// Runs the benches: `npm run bench -- [NAME]…`. Each measures this package and a peer or a baseline in
// alternation, in one run. Most benches that need a server use the cluster of KUBECONFIG, or an embedded server
// if it is not set. `--baseline=FILE` compares with the results of an earlier run; a run writes its results to
// `bench/results/latest.json`.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { benchCache } from './cache.js';
import { benchCacheEvents } from './cache-events.js';
import { benchClient } from './client.js';
import { benchDeclarative } from './declarative.js';
import { benchFleet } from './fleet/index.js';
import { benchImportMemory, benchImportTime } from './import.js';
import type { BenchResult } from './bench-result.js';
import { printComparison, printResult } from './print-result.js';
import { benchNoOp } from './no-op.js';
import { benchQueue } from './queue.js';
import { flag } from './sides.js';
import { benchViews } from './views.js';
import { benchServerMemory, benchServerRequests, benchServerStart } from './api-server.js';
import { benchApply } from './write.js';

const benches = {
  ...{ benchImportTime, benchImportMemory, benchClient, benchQueue },
  ...{ benchCache, benchCacheEvents, benchDeclarative, benchFleet, benchNoOp, benchApply },
  ...{ benchServerStart, benchServerRequests, benchServerMemory, benchViews },
};
/** Benches that take many minutes or need a real control plane. They run only if named. */
const onRequest = [
  ...['benchFleet', 'benchNoOp'],
  ...['benchServerStart', 'benchServerRequests', 'benchServerMemory'],
];
/** Names for several benches, for example `npm run bench -- runtime`. */
const groups: Readonly<Record<string, readonly string[]>> = {
  import: ['benchImportTime', 'benchImportMemory'],
  apiserver: ['benchServerStart', 'benchServerRequests', 'benchServerMemory'],
  runtime: ['benchQueue', 'benchCache', 'benchCacheEvents'],
};
const wanted = process.argv
  .slice(2)
  .filter((word) => !word.startsWith('--'))
  .flatMap((word) => groups[word] ?? word);

async function main(): Promise<void> {
  const unknown = wanted.filter(
    (word) => !Object.keys(benches).some((name) => isNamed(name, word)),
  );
  if (unknown.length > 0) {
    const names = [...Object.keys(groups), ...Object.keys(benches)].join(', ');
    throw new Error(`no bench is called ${unknown.join(', ')}: want ${names}`);
  }
  const baseline = flag('baseline');
  const earlier = baseline === undefined ? undefined : await readFile(baseline, 'utf8');
  const results: BenchResult[] = [];
  for (const [name, bench] of Object.entries(benches)) {
    if (
      wanted.length === 0 ? onRequest.includes(name) : !wanted.some((word) => isNamed(name, word))
    )
      continue;
    for (const result of [await bench()].flat()) {
      printResult(result);
      results.push(result);
    }
  }
  if (earlier !== undefined) printComparison(results, JSON.parse(earlier) as BenchResult[]);
  await mkdir('bench/results', { recursive: true });
  await writeFile('bench/results/latest.json', `${JSON.stringify(results, null, 2)}\n`);
}

/** Whether `word` is the name of the bench, in full (`benchQueue`) or short (`queue`). */
function isNamed(name: string, word: string): boolean {
  return [name, name.slice('bench'.length)].some(
    (each) => each.toLowerCase() === word.toLowerCase(),
  );
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
