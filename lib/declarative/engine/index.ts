/*
 * Incremental evaluation of pipelines: changes of the sources in, changes of the result out.
 *
 *   compile-pipeline.ts ──► pipeline.ts: join-node.ts ──► linear-node.ts ──► gather-node.ts ──► OutputCollector
 *
 * Read `z-set.ts` (documents with weights, which are the changes) and `pipeline.ts`. `compile-join.ts` turns
 * the condition of a join into look-ups; `expression-references.ts` finds what an expression reads.
 */
export { compilePlan } from './compile-pipeline.js';
export { OutputCollector, Pipeline } from './pipeline.js';
