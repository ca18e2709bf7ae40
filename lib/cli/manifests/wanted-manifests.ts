import type { WantedFile } from '../scaffold/plan-files.js';

/** What is wanted of files, and what is to be said of others. */
export interface WantedManifests {
  readonly wanted: readonly WantedFile[];
  /** What was found, and is left to the user. */
  readonly notes: readonly string[];
}
