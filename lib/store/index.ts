export { InternalStore } from './internal-store.js';
export type { StoredReference } from './internal-store.js';
