import type { Scenario } from '../scenario.js';
import { access } from './access.js';
import { custom } from './custom.js';
import { deletions } from './deletions.js';
import { discovery } from './discovery.js';
import { fields } from './fields.js';
import { merging } from './merging.js';
import { reads } from './reads.js';
import { scaling } from './scaling.js';
import { verbs } from './verbs.js';
import { versions } from './versions.js';
import { watches } from './watches.js';
import { workloads } from './workloads.js';
import { writes } from './writes.js';

/**
 * Subjects that `npm run test:cluster` compares. The others agree too, but wait for the real server's controllers of
 * CustomResourceDefinitions and for bookmarks: on a busy machine one of their answers may come a moment later.
 */
export const equalSubjects: readonly string[] = [
  // First: other subjects define kinds.
  'discovery',
  ...['access', 'deletions', 'fields', 'merging', 'reads', 'scaling', 'versions'],
  'workloads',
];

/** The scenarios of each subject, in the order of a run. `seed` draws the values of generated requests. */
export const subjects: Readonly<Record<string, (seed: number) => readonly Scenario[]>> = {
  // First: other subjects define kinds.
  discovery: () => discovery,
  verbs: () => verbs,
  writes: () => writes,
  workloads: () => workloads,
  merging: () => merging,
  reads: () => reads,
  custom: () => custom,
  access: () => access,
  deletions: () => deletions,
  scaling: () => scaling,
  versions: () => versions,
  watches: () => watches,
  fields: (seed) => fields(seed, 12),
};
