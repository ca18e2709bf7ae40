export type { Callback, CallbackArguments, CallbackState, Callbacks } from './callbacks.js';
export { CallbackDispatcher } from './callbacks.js';
export {
  conditionValues,
  conditionsChanged,
  markDeploying,
  markFailed,
  markFailedHealing,
  markHealthy,
  markUpgradeHealingDegraded,
  setLifecycleCondition,
} from './conditions.js';
export type {
  ConditionValues,
  Explanation,
  LifecycleConditionUpdate,
  Marked,
} from './conditions.js';
export type { PauseAnnotations } from '../status/index.js';
export type {
  CrManager,
  LifecycleCondition,
  LifecycleConditionType,
  LifecycleObject,
  LifecycleStatus,
  NodePlacement,
  Phase,
} from './lifecycle-status.js';
export { lifecycle, lifecycleController } from './lifecycle.js';
export type { LifecycleControllerOptions, LifecycleOptions } from './lifecycle.js';
export { phases } from './lifecycle-status.js';
export { createCrd, lifecycleStatusProperties, openApi } from './open-api.js';
export type { CreateCrdOptions, GroupKind } from './open-api.js';
export { LifecycleReconciler } from './reconciler/lifecycle-reconciler.js';
export type {
  HookContext,
  LifecycleReconcilerOptions,
  SanityResult,
} from './reconciler/settings.js';
export type { LifecycleRequest } from './reconciler/pass.js';
export { nextPhase, transitions } from './reconciler/phases.js';
export type { LifecycleEvent, Transition } from './reconciler/phases.js';
export { ResourceBuilder } from './resource-builder/index.js';
export type {
  AggregateClusterRoleOptions,
  ClusterObjectOptions,
  ClusterRoleBindingOptions,
  ClusterRoleOptions,
  ConfigMapOptions,
  ContainerOptions,
  DeploymentContainer,
  DeploymentOptions,
  NamespacedObjectOptions,
  PortsContainerOptions,
  ResourceBuilderOptions,
  RoleBindingOptions,
  RoleOptions,
  RoleRules,
  SecretOptions,
  ServiceAccountOptions,
  ServiceOptions,
  Specified,
  TextMap,
} from './resource-builder/index.js';
export {
  DowngradeError,
  isDowngrade,
  isSameVersion,
  isUpgrading,
  shouldTakeUpdatePath,
} from './versions.js';
export type { OwnedKinds } from './owned-kinds.js';
