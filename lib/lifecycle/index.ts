export type { CallbackArguments } from './callbacks.js';
export { CallbackDispatcher } from './callbacks.js';
export {
  conditionsChanged,
  markDeploying,
  markFailed,
  markFailedHealing,
  markHealthy,
  markUpgradeHealingDegraded,
  setLifecycleCondition,
} from './conditions.js';
export type { Marked } from './conditions.js';
export type {
  CrManager,
  LifecycleCondition,
  LifecycleObject,
  LifecycleStatus,
  Phase,
} from './lifecycle-status.js';
export { lifecycle, lifecycleController } from './lifecycle.js';
export type { LifecycleOptions } from './lifecycle.js';
export { createCrd, lifecycleStatusProperties, openApi } from './open-api.js';
export { LifecycleReconciler } from './reconciler/lifecycle-reconciler.js';
export type { HookContext } from './reconciler/settings.js';
export { ResourceBuilder } from './resource-builder/index.js';
export {
  DowngradeError,
  isDowngrade,
  isSameVersion,
  isUpgrading,
  shouldTakeUpdatePath,
} from './versions.js';
