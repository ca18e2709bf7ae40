import { randomInt } from 'node:crypto';
import fc from 'fast-check';
import { isSampled, sampleSeed, tries } from './sample.js';

/** Seed of a failed run, to repeat its property tests. The failures of a run print its seed. */
const given = process.env['PROPERTY_SEED'];
const seed = given === undefined ? randomInt(2 ** 31) : Number(given);

// All property tests of this process share the seed, so that it is known even if a test times out.
fc.configureGlobal({ seed, numRuns: tries(100) });

/** Root hooks of mocha that add seeds to failures. fast-check reports the seed of a failure, but not of a timeout. */
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
