/*
 * Functions that make the objects of a system with common labels. Read `resource-builder.ts`, then
 * `object-options.ts` and `object-bodies.ts`.
 */
export type { Specified } from './object-options.js';
export { ResourceBuilder } from './resource-builder.js';
