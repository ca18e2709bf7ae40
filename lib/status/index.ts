/*
 * The status of a custom resource. `status.ts` writes one status; `status-writer.ts` writes the conditions of
 * reconciles, and `condition-claims.ts` settles conditions that another manager writes too. `pause.ts` reads the
 * annotations that pause an object.
 */
export { hasAtomicConditions, patchStatus, statusConditions, mergeStatus } from './status.js';
export type { PatchStatusOptions, StatusUpdate } from './status.js';
export { StatusWriter } from './status-writer.js';
export type { StatusWriterOptions, StatusWriting, WrittenStatus } from './status-writer.js';
export { commonPauseAnnotations, pauseOf, pausedCondition } from './pause.js';
export type { PauseAnnotations } from './pause.js';
