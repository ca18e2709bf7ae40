export type { Callback, CallbackArguments, CallbackState } from './callbacks/callback.js';
export { CallbackDispatcher } from './callbacks/callback-dispatcher.js';
export type { Callbacks } from './callbacks/callback-dispatcher.js';
export { conditionsChanged, conditionValues } from './conditions/condition-values.js';
export type { ConditionValues } from './conditions/condition-values.js';
export {
  markDeploying,
  markFailed,
  markFailedHealing,
  markHealthy,
  markUpgradeHealingDegraded,
  setLifecycleCondition,
} from './conditions/marks.js';
export type { Explanation, LifecycleConditionUpdate, Marked } from './conditions/marks.js';
export type { PauseAnnotations } from '../status/index.js';
export type { CrManager } from './cr-manager.js';
export { lifecycle } from './lifecycle.js';
export type { LifecycleOptions } from './lifecycle.js';
export { lifecycleController } from './lifecycle-controller.js';
export type { LifecycleControllerOptions } from './lifecycle-controller.js';
export { phases } from './lifecycle-status.js';
export type {
  LifecycleCondition,
  LifecycleConditionType,
  LifecycleObject,
  LifecycleStatus,
  NodePlacement,
  Phase,
} from './lifecycle-status.js';
export { createCrd } from './open-api/create-crd.js';
export type { CreateCrdOptions, GroupKind } from './open-api/create-crd.js';
export { lifecycleStatusProperties, openApi } from './open-api/lifecycle-status-schema.js';
export { LifecycleReconciler } from './reconciler/lifecycle-reconciler.js';
export type {
  HookContext,
  LifecycleReconcilerOptions,
  SanityResult,
} from './reconciler/lifecycle-reconciler-options.js';
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
export { DowngradeError, isDowngrade } from './upgrade/downgrade-error.js';
export { isSameVersion, isUpgrading, shouldTakeUpdatePath } from './upgrade/versions.js';
export type { OwnedKinds } from './watches/owned-kinds.js';
