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
    const blocks = Object.entries(hits).flatMap(([source, ran]): [string, number[]][] => {
      const numbers = [...ran.keys()].filter((block) => ran[block] === 1);
      // Resets all counters, including those of module loading, which count only for the first spec file.
      ran.fill(0);
      return numbers.length === 0 ? [] : [[source, numbers]];
    });
    const record: RecordedSpec = {
      file,
      passed: hasPassed(root),
      milliseconds: Math.round(performance.now() - startedAt),
      blocks: Object.fromEntries(blocks),
    };
    const folder = process.env['MUTATE_RECORDS'] ?? '.';
    const name = `${basename(file)}-${process.pid}-${Math.round(startedAt)}.json`;
    writeFileSync(`${folder}/${name}`, JSON.stringify(record));
  },
};

function hasPassed(suite: Mocha.Suite): boolean {
  return suite.tests.every((test) => test.state !== 'failed') && suite.suites.every(hasPassed);
}
