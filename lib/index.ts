/*
 * The entry `operator-builder`: the names that most operators need, folder by folder from the lowest level. It has
 * no code of its own. docs/architecture.md shows the folders and follows one change through them.
 */
export {
  OperatorError,
  isOperatorError,
  pinoLogger,
  registeredTracer,
  silentLogger,
  sleep,
  systemClock,
} from './system/index.js';
export type { Clock, Logger, Metrics } from './system/index.js';
export {
  ApiError,
  ClusterRole,
  ClusterRoleBinding,
  ConfigMap,
  CronJob,
  CustomResourceDefinition,
  DaemonSet,
  Deployment,
  EndpointSlice,
  Event,
  HorizontalPodAutoscaler,
  Ingress,
  Job,
  Lease,
  Namespace,
  NetworkPolicy,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  PodDisruptionBudget,
  ReplicaSet,
  Role,
  RoleBinding,
  Secret,
  Service,
  ServiceAccount,
  StatefulSet,
  StorageClass,
  compareQuantities,
  dns1035LabelProblem,
  dns1123LabelProblem,
  dns1123SubdomainProblem,
  findCondition,
  isAlreadyExists,
  isConditionTrue,
  isConflict,
  isControlledBy,
  isForbidden,
  isGone,
  isInvalid,
  isNamespaceTerminating,
  isNotFound,
  isTooManyRequests,
  keyOf,
  labelValueOf,
  ownerReferenceTo,
  referenceTo,
  rolloutStatus,
  setCondition,
} from './object/index.js';
export type {
  Condition,
  KubernetesObject,
  ObjectKey,
  ObjectReference,
  OwnerReference,
  ResourceType,
  UnstructuredObject,
} from './object/index.js';
export {
  addFinalizer,
  clientFromKubeConfig,
  createClient,
  createOrPatch,
  createOrUpdate,
  defaultClient,
  dryRun,
  ensureCrd,
  fenced,
  getIfExists,
  removeFinalizer,
  retryOnConflict,
  setControllerReference,
  waitFor,
} from './client/index.js';
export type { Client, ConnectedClient, WaitForOptions, WatchEvent } from './client/index.js';
export { OperatorEvents, recordingClient } from './events/index.js';
export type { ObjectEvent, Recorder } from './events/index.js';
export { Cache, byLabel, cachedClient, cachedType } from './cache/index.js';
export { isReconcileFailed, requeueAfterOf } from './apply/index.js';
export type { Container, ObjectResult, PodSpec } from './apply/index.js';
export { Builder, renderPlan } from './builder/index.js';
export {
  Controller,
  TerminalError,
  and,
  annotationChanged,
  callbackSource,
  controllerFor,
  done,
  generationChanged,
  labelChanged,
  labelSelector,
  not,
  or,
  requeueAfter,
  streamSource,
  timerSource,
} from './controller/index.js';
export type {
  Predicate,
  ReconcileContext,
  Reconciler,
  Result,
  Source,
} from './controller/index.js';
export { Operator, conditionsOf, patchStatus } from './operator/index.js';
export type { ControllerStyle, OperatorBuilderOptions, StatusDraft } from './operator/index.js';
export {
  LeaderElector,
  Manager,
  allowed,
  certificateFiles,
  conversionClientConfig,
  conversionWebhook,
  denied,
  field,
  generatedCertificates,
  invalid,
  mutated,
  mutatingWebhook,
  ownVerbs,
  validatingWebhook,
  webhookConfigurations,
} from './manager/index.js';
export type {
  AdmissionWebhookOptions,
  Allowed,
  DenialCause,
  Denied,
  Mutated,
  OperatorDefinition,
  Runnable,
  Webhook,
} from './manager/index.js';
// Without this reference to the entry `operator-builder/types`, the compiler can't name its types in the declarations
// of other packages.
export type {} from './types/index.js';
