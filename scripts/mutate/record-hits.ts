/**
 * Root hooks of mocha that record, after each spec file, the blocks of lib/ that ran and the duration. Processes that
 * the spec starts add their blocks, unless a signal ends them.
 */
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { processHitsName } from './coverage.js';
import type { BlockHits, RecordedSpec } from './coverage.js';

const hits: BlockHits = (globalThis.__blockHits ??= {});
let startedAt = performance.now();
let processHits = '';

export const mochaHooks: Mocha.RootHookObject = {
  beforeAll() {
    startedAt = performance.now();
    processHits = mkdtempSync(join(tmpdir(), 'mutate-'));
    process.env[processHitsName] = `${processHits}/`;
  },
  afterAll(this: Mocha.Context) {
    const inProcesses = blocksOfProcesses();
    const root = this.test?.parent;
    const file = root?.suites[0]?.file;
    if (root === undefined || file === undefined) return;
    const blocks = united([blocksWith(1), ...inProcesses]);
    const loaded = blocksWith(2);
    for (const counters of Object.values(hits)) counters.fill(0);
    const record: RecordedSpec = {
      file,
      passed: hasPassed(root),
      milliseconds: Math.round(performance.now() - startedAt),
      blocks,
      loaded,
    };
    const folder = process.env['MUTATE_RECORDS'] ?? '.';
    const name = `${basename(file)}-${process.pid}-${Math.round(startedAt)}.json`;
    writeFileSync(`${folder}/${name}`, JSON.stringify(record));
  },
};

/** Returns the numbers of the blocks whose counters have the bit set, by source file. */
function blocksWith(bit: 1 | 2): RecordedSpec['blocks'] {
  const found = Object.entries(hits).map(([source, counters]): [string, number[]] => {
    return [source, [...counters.keys()].filter((block) => ((counters[block] ?? 0) & bit) !== 0)];
  });
  return Object.fromEntries(found.filter(([, numbers]) => numbers.length > 0));
}

/** Returns the blocks that each process ran which the spec file started. */
function blocksOfProcesses(): RecordedSpec['blocks'][] {
  const files = readdirSync(processHits).map((name) => join(processHits, name));
  const found = files.map((file): RecordedSpec['blocks'] => {
    return Object.fromEntries(JSON.parse(readFileSync(file, 'utf8')) as [string, number[]][]);
  });
  rmSync(processHits, { recursive: true });
  return found;
}

function united(all: readonly RecordedSpec['blocks'][]): RecordedSpec['blocks'] {
  const blocks: Record<string, number[]> = {};
  for (const [source, numbers] of all.flatMap((one) => Object.entries(one))) {
    if (numbers.length > 0) blocks[source] = [...new Set([...(blocks[source] ?? []), ...numbers])];
  }
  return blocks;
}

function hasPassed(suite: Mocha.Suite): boolean {
  return suite.tests.every((test) => test.state !== 'failed') && suite.suites.every(hasPassed);
}
