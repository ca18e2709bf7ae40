import type { WantedFile } from '../scaffold/plan-files.js';

/** The wanted files, and notes on others. */
export interface WantedManifests {
  readonly wanted: readonly WantedFile[];
  /** Findings for the user to resolve. */
  readonly notes: readonly string[];
}
