/*
 * The inspector: web pages that show the state of a manager.
 *
 *   manager ──► overview-of.ts ──► sections.ts ──► page.ts ──► browser
 *
 * Read `bind-inspector.ts` (options, and the listener), then `inspector.ts`, which answers requests.
 * `overview.ts` is the shown state as plain data. `object-tree.ts` reads an object with its owners and
 * dependents; `html.ts` escapes values.
 */
export { bindInspector, resolveInspectorOptions } from './bind-inspector.js';
export type { InspectorOptions, ResolvedInspectorOptions } from './bind-inspector.js';
export { RecentReconciles } from './overview-of.js';
