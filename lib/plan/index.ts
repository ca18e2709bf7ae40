/*
 * Plans: the effect of applying a custom resource, without writes.
 *
 *   plan-resource.ts ──► operator ──► planning-client.ts ──► dry runs
 *
 * Read `plan-resource.ts`, one plan with all its steps, then `planning-client.ts`, which lays the results of
 * dry runs (`planned-writes.ts`) over what the operator reads (`planned-objects.ts`). `at-rest.ts` simulates
 * rollouts between the steps, `applied-resource.ts` applies the file like kubectl, `plan-of.ts` describes the
 * written objects, and `render-steps.ts` prints them. `plan-answers.ts` answers requests for plans in a deployed
 * operator.
 */
export { planAnswers } from './plan-answers.js';
export { hashSources } from './plan-of.js';
export type { PlannedManifest } from './plan-of.js';
export { planFromJson, planJson, planResource } from './plan-resource.js';
export type { ResourcePlan } from './plan-resource.js';
export { renderSteps } from './render-steps.js';
