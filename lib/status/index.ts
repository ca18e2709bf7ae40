export { patchStatus, statusConditions } from './status.js';
export type { PatchStatusOptions, StatusUpdate } from './status.js';
export { mergeStatus } from './merge-status.js';
export type { StatusMerge } from './merge-status.js';
export { StatusWriter } from './status-writer.js';
export type { StatusWriterOptions, StatusWriting, WrittenStatus } from './status-writer.js';
export { commonPauseAnnotations, pauseOf, pausedCondition } from './pause.js';
export type { PauseAnnotations, PauseState } from './pause.js';
