export { patchStatus, statusConditions, mergeStatus } from './status.js';
export type { PatchStatusOptions, StatusUpdate, StatusMerge } from './status.js';
export { StatusWriter } from './status-writer.js';
export type { StatusWriterOptions, StatusWriting, WrittenStatus } from './status-writer.js';
export { commonPauseAnnotations, pauseOf, pausedCondition } from './pause.js';
export type { PauseAnnotations, PauseState } from './pause.js';
