/*
 * `Operator`: the shortest way from a function that declares objects to a program.
 *
 *   operator.ts ──► operator-controller.ts ──► object-reconciler.ts ──► builder/ ──► conditions.ts ──► status
 *
 * Read `operator.ts` (what users declare), `operator-controller.ts` (one controller of it) and
 * `contexts.ts` (the arguments of user functions). `status-schema.ts` reads from the schema of a kind what its status
 * can show. `object-reconciler.ts` is one reconcile, and `failures.ts` records its failures; `handler-builder.ts` gives
 * a handler its builder, and `finalizer-writer.ts` adds the finalizer. `run-operator.ts` starts the program with the
 * arguments of `command-line.ts`.
 */
export { conditionsOf } from './conditions.js';
export type {
  ForOptions,
  OperatorBuilderOptions,
  ReconcileHandler,
  StatusDraft,
} from './contexts.js';
export { Operator } from './operator.js';
export type { OperatorOptions } from './operator.js';
export type { ControllerStyle, OperatorController } from './operator-controller.js';
export type { OperatorRunOptions } from './run-operator.js';
export { unconverted, unconvertedCrds, unservedConversions } from './unconverted-crds.js';
export { patchStatus } from '../status/index.js';
