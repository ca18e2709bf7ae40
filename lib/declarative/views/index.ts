/*
 * Views: objects of declarative operators that exist only in this process, on an embedded API server.
 *
 *   controller ──► view-client.ts ──► views ──► watches of other controllers
 *
 * Read `views.ts`, then `view-kinds.ts` (a kind is served once an operator names it or a client writes it) and
 * `view-writers.ts` (which controllers write a view, and whether they have listed their sources).
 * `declarative-manager.ts` is a manager whose client sends requests for views to that server, and all others to the
 * cluster.
 */
export { DeclarativeManager } from './declarative-manager.js';
export type { DeclarativeManagerOptions } from './declarative-manager.js';
export { Views } from './views.js';
