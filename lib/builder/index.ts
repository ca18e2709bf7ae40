/*
 * Chains of objects: declared by links, reconciled in the order of their dependencies.
 *
 *   Builder ──► links (kinds/) ──► chain.ts ──► run.ts ──► apply/ for each object ──► prune.ts ──► results
 *
 * Read `builder.ts`, with `link.ts` (the plain data of a link) and `kinds/` (the options of each kind). Then
 * `run.ts`, one reconcile: `settled.ts` skips unchanged chains, `apply-order.ts` and `dependencies.ts` order
 * the objects, and `stamp.ts` gives pod templates the hashes of their configuration. `reconcile-workloads.ts`
 * and `rollout-state.ts` roll out one workload after the other; `successors.ts` and `guards.ts` keep what running pods
 * still use. `plan.ts` describes the same run without writes, and `render-plan.ts` prints it.
 */
export { Builder, awaitRunning, refuseUnused, startHandler } from './builder.js';
export type { BuilderChain } from './builder.js';
export type { BuilderOptions } from './builder-options.js';
export type { NoNames, WithName } from './chain-names.js';
export type { ServiceAccountOptions } from './kinds/specified.js';
export type { DeploymentOptions, StatefulSetOptions } from './kinds/workloads.js';
export type { Plan, PlannedRollout } from './plan.js';
export { renderPlan, planSummary, renderObjects } from './render-plan.js';
export type { RenderPlanOptions } from './render-plan.js';
export { definedKinds, kindName } from './apply-order.js';
