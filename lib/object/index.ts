/*
 * Kubernetes objects as plain data. Nothing here sends a request.
 *
 * Read `kubernetes-object.ts`, `object-key.ts`, `resource-type.ts` and `kinds.ts` (the built-in kinds) first.
 * Then by topic:
 *   - identity: `names.ts`, `object-reference.ts`, `owner-reference.ts`, `describe-object.ts`
 *   - status: `conditions.ts`, `rollout-status.ts`, and the server's `Status` as an error, `api-error.ts`
 *   - selection: `label-selector.ts`, `field-selector.ts`
 *   - patches: `json-patch.ts`, `merge-patch.ts`, `strategic-merge-patch.ts`, `three-way-merge.ts`
 *   - ownership of fields: `managed-fields.ts`, on `field-set.ts`, `field-tree.ts` and `field-path.ts`
 *   - values: `quantity.ts`, `micro-time.ts`, `json.ts`, `yaml-documents.ts`
 */
export {
  ApiError,
  forbiddenRemedy,
  isAlreadyExists,
  isApiError,
  isConflict,
  isDenied,
  isForbidden,
  isFoundInvalid,
  isGone,
  isInvalid,
  isNamespaceTerminating,
  isNotFound,
  isTooManyRequests,
  isUnauthorized,
  isUnavailable,
} from './api-error.js';
export type { Status, StatusCause, StatusDetails } from './api-error.js';
export {
  findCondition,
  isConditionTrue,
  setCondition,
  conditionReason,
  conditionTexts,
  placeCondition,
} from './conditions.js';
export type { Condition, ConditionUpdate } from './conditions.js';
export { withoutNulls } from './strategic-merge-directives.js';
export { deepFreeze } from './deep-freeze.js';
export { describeObject } from './describe-object.js';
export {
  diffObjects,
  serverSetFields,
  redactChanges,
  redacted,
  fieldsOf,
  redactObject,
} from './diff-by-path.js';
export type { FieldChange } from './diff-by-path.js';
export { isPlainField, matchesFields, parseFieldSelector } from './field-selector.js';
export type { FieldTerm } from './field-selector.js';
export {
  isJsonObject,
  assignMembers,
  checkJson,
  copyJson,
  jsonCopy,
  jsonText,
  memberOf,
  setMember,
  withMember,
  withSortedMembers,
  withoutMember,
  withoutMembers,
} from './json.js';
export type { JsonValue } from './json.js';
export {
  applyJsonPatch,
  JsonPatchError,
  createJsonPatch,
  formatJsonPointer,
} from './json-patch.js';
export type { JsonPatchOperation } from './json-patch.js';
export {
  ClusterRole,
  ClusterRoleBinding,
  ConfigMap,
  ControllerRevision,
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
} from './kinds.js';
export * as builtInKinds from './kinds.js';
export type {
  FieldsV1,
  KubernetesObject,
  ListMeta,
  ManagedFieldsEntry,
  ObjectKey,
  ObjectList,
  ObjectMeta,
  OwnerReference,
  TypeMeta,
  UnstructuredObject,
} from './kubernetes-object.js';
export {
  formatLabelSelector,
  labelRequirementsOf,
  matchesLabels,
  parseLabelSelector,
} from './label-selector.js';
export type { LabelRequirement, LabelSelector, LabelSelectorExpression } from './label-selector.js';
export {
  configKeyProblems,
  domainPathProblems,
  generateNameProblems,
  label1035Problems,
  labelProblems,
  labelValueProblems,
  nameProblems,
  pathSegmentProblems,
  portNameProblems,
  qualifiedNameProblems,
  searchDomainProblems,
  subdomainProblems,
  wildcardProblems,
} from './name-problems.js';
export type { NameFormat } from './name-problems.js';
export {
  labelValueOf,
  dns1035LabelProblem,
  dns1123LabelProblem,
  dns1123SubdomainProblem,
  labelsProblem,
  qualifiedNameProblem,
  maxSubdomainLength,
  pathSegmentProblem,
} from './names.js';
export { applyMergePatch, createMergePatch } from './merge-patch.js';
export { formatMicroTime, formatTime, parseTime } from './micro-time.js';
export { keyOf, keyString, parseKey, sameKey, keyStringOf } from './object-key.js';
export { referenceTo } from './object-reference.js';
export type { ObjectReference } from './object-reference.js';
export {
  AlreadyOwnedError,
  controllerOf,
  isControlledBy,
  ownerReferenceTo,
  withControllerReference,
  ownerUidLabel,
} from './owner-reference.js';
export type { Patch } from './patch.js';
export {
  addQuantities,
  canonicalQuantity,
  compareQuantities,
  isSameAmount,
  formatQuantity,
  parseQuantity,
  subtractQuantities,
} from './quantity.js';
export type { Quantity } from './quantity.js';
export {
  apiVersionOf,
  groupOf,
  groupOfType,
  isBuiltInGroup,
  kindText,
  pluralOf,
  versionOf,
} from './resource-type.js';
export type { GroupKind, ResourceType, TypeReference } from './resource-type.js';
export { rolloutStatus, isRollingOut } from './rollout-status.js';
export type { RolloutStatus } from './rollout-status.js';
export { memberSchemaOf, propertyOf } from './schema.js';
export type { IntOrString, Schema, SchemaRule } from './schema.js';
export type { Wire } from './wire.js';
export { isBookkeeping } from './bookkeeping.js';
export { deepEqual, isSameList, sameMembers } from './deep-equal.js';
export { checkDepth, isDeeperThan, maxDepth, tooDeep } from './depth.js';
export {
  elementJson,
  elementToServerString,
  fieldElement,
  fieldPath,
  hasKeys,
  indexElement,
  keyElement,
  parsePathElement,
  pathToServerString,
  pathToString,
  valueAtPath,
} from './field-path.js';
export type { FieldPath, PathElement } from './field-path.js';
export { FieldSet } from './field-set.js';
export {
  FieldNodeBuilder,
  asMember,
  elementsOf,
  isLeaf,
  isMember,
  leaf,
  unionOf,
} from './field-tree.js';
export type { FieldNode } from './field-tree.js';
export { goSyntax, goText, goTypeOf, htmlSafeJson, quoted, unicodeEscape } from './go-text.js';
export {
  LazyList,
  heldBy,
  holdList,
  knownList,
  plainBytes,
  shortestKnownList,
} from './known-list.js';
export {
  adoptManagedFields,
  appliedFields,
  fieldManagersOf,
  lastUpdater,
} from './managed-fields.js';
export { StrategicMergePatchError } from './strategic-merge-errors.js';
export { applyStrategicMergePatch } from './strategic-merge-patch.js';
export { setFieldsOf, threeWayMerge } from './three-way-merge.js';
export { matchItems, uncoveredPaths } from './uncovered-paths.js';
export {
  checkYamlDepth,
  goYamlTags,
  parseFirstYamlDocument,
  parseYamlDocuments,
  parseYamlValues,
} from './yaml-documents.js';
