/**
 * Applies and prunes single objects: checks their ownership, compares them, and decides which writes are permitted.
 * Code outside of this folder imports from this file.
 */
export {
  applySettings,
  asRead,
  deleteAsRead,
  immutablePolicies,
  isManagerName,
  readObject,
  recordingContext,
  reportFailure,
  withMarks,
} from './context.js';
export type { ApplyContext, ApplySettings } from './context.js';
export { decideByExistence } from './decision.js';
export type { Pruning, Waiting } from './decision.js';
export { completeObject, desiredObject, encodeSecret } from './desired-object.js';
export type {
  ClaimOptions,
  DesiredObject,
  ImmutablePolicy,
  LinkOptions,
  Pair,
  WantedObject,
} from './desired-object.js';
export { desiredDifferences, isUnchanged } from './differences.js';
export { refusedFields } from './field-ownership.js';
export { FieldWriter } from './field-writer.js';
export type { DesiredFields, FieldWriting } from './field-writer.js';
export { growsTemplates, immutableChanges } from './immutable-fields.js';
export { placeholderUid, pruneRuns } from './job-runs.js';
export {
  builtInType,
  builtInTypes,
  comesBeforeWorkloads,
  comesLast,
  isContainer,
  isImmutablePath,
  isKind,
  kindKey,
  listOfKind,
  podTemplatePath,
  refId,
  rollsPods,
  servedType,
  servedTypes,
  stageOf,
  typeIfServed,
} from './kind-traits.js';
export type { Stage } from './kind-traits.js';
export {
  appliedHashAnnotation,
  checkOwnership,
  heldBy,
  isAppliedBy,
  isDeletedAlone,
  ownershipOf,
  pruneAnnotation,
  reasonOfLeaving,
  reasonToWait,
} from './ownership.js';
export { ObjectMerger } from './merge-object.js';
export type { Merging } from './merge-object.js';
export { planObject, plannedFailure, reasonOfRecreation } from './plan-object.js';
export type { ObjectPlan, PlannedObject } from './plan-object.js';
export {
  changesTemplate,
  isPaused,
  isRequiredByPods,
  keepsRevision,
  podReferencesOf,
  podTemplateIn,
  withPodTemplate,
  updatesOnDelete,
} from './pod-template.js';
export type {
  Container,
  EnvFromSource,
  EnvVar,
  Lenient,
  PodSpec,
  PodTemplate,
  Volume,
  VolumeMount,
} from './pod-template.js';
export {
  checkDeletions,
  deleteOrphan,
  isHeld,
  isPruneGuarded,
  leaving,
  mayBePruned,
  retryHeld,
} from './prune-object.js';
export type { Candidate } from './prune-object.js';
export { applyObject, causeOfRollout } from './reconcile-object.js';
export type { KeptPart } from './reconcile-object.js';
export {
  ReconcileFailedError,
  failed,
  isReconcileFailed,
  pending,
  requeueAfterOf,
  resultsOf,
} from './results.js';
export type { ObjectResult, Operation, Outcome, RolloutState } from './results.js';
export { nameRuleOf, validateObject } from './validate-object.js';
