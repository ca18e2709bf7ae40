import type { Scenario } from '../scenario.js';
import { access } from './access.js';
import { addressScenarios } from './addresses.js';
import { clusterParts } from './cluster-parts.js';
import { columns } from './columns.js';
import { corners } from './corners.js';
import { custom } from './custom.js';
import { deletions } from './deletions.js';
import { discovery } from './discovery.js';
import { evictions } from './evictions.js';
import { extensionParts } from './extension-parts.js';
import { changes, fields } from './fields.js';
import { forms } from './forms.js';
import { jobScenarios } from './jobs.js';
import { merging } from './merging.js';
import { oddVerbs } from './odd-verbs.js';
import { options } from './options.js';
import { podParts } from './pod-parts.js';
import { quoting } from './quoting.js';
import { reads } from './reads.js';
import { resizes } from './resizes.js';
import { scaling } from './scaling.js';
import { serviceScenarios } from './services.js';
import { texts } from './texts.js';
import { values } from './values.js';
import { verbs } from './verbs.js';
import { versions } from './versions.js';
import { watches } from './watches.js';
import { workloadParts } from './workload-parts.js';
import { workloads } from './workloads.js';
import { writes } from './writes.js';

/** The scenarios of each subject, in the order of a run. `seed` draws the values of generated requests. */
export const subjects: Readonly<Record<string, (seed: number) => readonly Scenario[]>> = {
  // Discovery is first, because other subjects define further kinds.
  discovery: () => discovery,
  verbs: () => verbs,
  writes: () => writes,
  workloads: () => workloads,
  merging: () => merging,
  reads: () => reads,
  custom: () => custom,
  corners: () => corners,
  forms: () => forms,
  access: () => access,
  deletions: () => deletions,
  evictions: () => evictions,
  scaling: () => scaling,
  options: () => options,
  resizes: () => resizes,
  'odd-verbs': () => oddVerbs,
  addresses: () => addressScenarios,
  services: () => serviceScenarios,
  texts: () => texts,
  quoting: () => quoting,
  values: () => values,
  jobs: () => jobScenarios,
  'pod-parts': () => podParts,
  'cluster-parts': () => clusterParts,
  'extension-parts': () => extensionParts,
  'workload-parts': () => workloadParts,
  columns: () => columns,
  versions: () => versions,
  watches: () => watches,
  fields: (seed) => fields(seed, 40),
  changes: (seed) => changes(seed, 40),
};
