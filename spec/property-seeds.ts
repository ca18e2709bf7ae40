import { randomInt } from 'node:crypto';
import fc from 'fast-check';
import { isSampled, sampleSeed, tries } from './sample.js';

/** Repeats the property tests of a run that failed: the seed that its failures tell. */
const given = process.env['PROPERTY_SEED'];
const seed = given === undefined ? randomInt(2 ** 31) : Number(given);

// One for all property tests of this process, so that it is known when one of them never ends.
fc.configureGlobal({ seed, numRuns: tries(100) });

/** Root hooks of mocha: fast-check tells the seed of what fails, but not of what runs out of time. */
export const mochaHooks: Mocha.RootHookObject = {
  afterEach(this: Mocha.Context) {
    const error: (Error & { code?: unknown }) | undefined = this.currentTest?.err;
    if (error === undefined) return;
    const seeds = [
      ...(error.code === 'ERR_MOCHA_TIMEOUT' ? [`PROPERTY_SEED=${seed}`] : []),
      ...(isSampled ? [`SAMPLE_SEED=${sampleSeed}`] : []),
    ];
    if (seeds.length > 0) error.stack = `${error.stack ?? error.message}\n    ${seeds.join(' ')}`;
  },
};
