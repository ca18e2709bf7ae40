/**
 * Brings one object to its desired state, and prunes one: who owns it, what differs, what may be
 * written. Everything outside of this folder imports it from here.
 */
export { adoptedRemovals } from './adopt-fields.js';
export { appliedChanges, driftOf, expectedChanges, isUnchanged } from './applied-fields.js';
export type { Drift } from './applied-fields.js';
export {
  applyObject,
  causeOfRollout,
  immutablePolicy,
  isStale,
  maxAttempts,
} from './apply-object.js';
export { applyOptions, asNew, asRead, withUid } from './apply-options.js';
export type { Candidate, PruneCandidates } from './candidate.js';
export { completeObject } from './complete-object.js';
export { readObject } from './context.js';
export type { ApplyContext, ApplySettings, DeletionLimit } from './context.js';
export { deleteOrphan, leaving } from './delete-orphan.js';
export { desiredDifferences } from './desired-differences.js';
export { desiredObject } from './desired-object.js';
export type {
  ClaimOptions,
  DesiredObject,
  ImmutablePolicy,
  LinkOptions,
  Pair,
  WantedObject,
} from './desired-object.js';
export { emptyMaps } from './empty-maps.js';
export { notGrown } from './grow-claims.js';
export { immutableChanges, isGrowthOnly, isIgnoredChange } from './immutable-changes.js';
export { desireOfRun, hasRun, pruneRuns } from './job-runs.js';
export {
  builtInType,
  builtInTypes,
  comesBeforeWorkloads,
  comesLast,
  isContainer,
  isImmutablePath,
  isKind,
  kindKey,
  podTemplatePath,
  refId,
  rollsPods,
  stageOf,
} from './kind-traits.js';
export type { Stage } from './kind-traits.js';
export type { Lenient } from './lenient.js';
export { appliedHashAnnotation, managedByLabel, pruneAnnotation, scopeLabel } from './marks.js';
export { failed, pending } from './outcome.js';
export type { Outcome } from './outcome.js';
export { checkOwnership, ownershipOf, reasonToWait } from './ownership.js';
export { placeholderUid } from './placeholder-uid.js';
export {
  changesTemplate,
  podReferencesOf,
  podTemplateIn,
  withPodTemplate,
} from './pod-template.js';
export type {
  Container,
  EnvFromSource,
  EnvVar,
  PodSpec,
  PodTemplate,
  Volume,
  VolumeMount,
} from './pod-template.js';
export { checkDeletions, mayBePruned } from './prune-guard.js';
export { ReconcileFailedError, isReconcileFailed } from './reconcile-failed-error.js';
export { recordingContext } from './recording-context.js';
export { checkRecreation } from './recreate-object.js';
export { reportFailure } from './report-failure.js';
export { requeueAfterOf } from './results.js';
export type { ObjectResult, Operation, RolloutState } from './results.js';
export { validateObject } from './validate-object.js';
