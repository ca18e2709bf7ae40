/** Root hooks of mocha that record, after each spec file, the blocks of lib/ that ran and the duration. */
import { writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { performance } from 'node:perf_hooks';
import type { BlockHits, RecordedSpec } from './coverage.js';

const hits: BlockHits = (globalThis.__blockHits ??= {});
let startedAt = performance.now();

export const mochaHooks: Mocha.RootHookObject = {
  beforeAll() {
    startedAt = performance.now();
  },
  afterAll(this: Mocha.Context) {
    const root = this.test?.parent;
    const file = root?.suites[0]?.file;
    if (root === undefined || file === undefined) return;
    const blocks = blocksWith(1);
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

function hasPassed(suite: Mocha.Suite): boolean {
  return suite.tests.every((test) => test.state !== 'failed') && suite.suites.every(hasPassed);
}
