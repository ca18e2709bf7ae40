import { crashPoints, faultSweep } from '../../lib/testing/index.js';
import { crashSample } from '../sample.js';
import {
  chainLife,
  cleanedLife,
  lifecycleLife,
  lifeScenario,
  readmeLife,
} from './suite/crash-scenarios.js';
import type { Life } from './suite/crash-scenarios.js';

const lives: readonly (readonly [title: string, life: () => Promise<Life>])[] = [
  ['the example of the README', readmeLife],
  ['an operator with finalizes', () => Promise.resolve(cleanedLife)],
  ['a chain of resources', () => Promise.resolve(chainLife)],
  ['a lifecycle', () => Promise.resolve(lifecycleLife)],
];

describe('An Operator that fails at any request', function () {
  this.timeout(240_000);

  for (const [title, life] of lives) {
    it(`reaches the same final state after a crash at any request: ${title}`, async () => {
      await crashPoints(lifeScenario(await life()), crashSample(2));
    });

    it(`reaches the same final state after any failed request: ${title}`, async () => {
      await faultSweep(lifeScenario(await life()), crashSample(2));
    });
  }
});
