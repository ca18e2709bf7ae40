/*
 * The set of objects that a chain desires. The builder fills it while it reads the chain, and pruning deletes
 * the owned objects that are not in it. `internal-store.ts` is the only other file.
 */
export { InternalStore } from './internal-store.js';
