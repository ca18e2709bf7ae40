/*
 * Install, upgrade, monitor and remove a whole system that one custom resource configures.
 *
 *   configuration ──► reconciler/ : survey.ts ──► phases.ts ──► apply-objects.ts or deletion.ts ──► status
 *
 * Read `lifecycle.ts` (the options in an `Operator`), `lifecycle-status.ts` (phases) and `callbacks.ts` (the
 * operator's code). In `reconciler/`, read `lifecycle-reconciler.ts` (the flow), `pass.ts` (the state of one
 * reconcile) and `phases.ts` (the transitions). `versions.ts` compares versions, `conditions.ts` writes
 * conditions, and `resource-builder/` makes common objects.
 */
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
export type { Specified } from './resource-builder/index.js';
export {
  DowngradeError,
  isDowngrade,
  isSameVersion,
  isUpgrading,
  shouldTakeUpdatePath,
} from './versions.js';
