import { custom } from './custom.js';
import { ownership } from './ownership.js';
import type { Scenario } from './scenario.js';
import { strategicPatches } from './strategic.js';
import { structures } from './structures.js';

/** All tables of scenarios, by the name of their recording. */
export const scenarios: Readonly<Record<string, readonly Scenario[]>> = {
  custom,
  ownership,
  strategic: strategicPatches,
  structures,
};
