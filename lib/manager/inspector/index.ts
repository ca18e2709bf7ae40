export { bindInspector } from './bind-inspector.js';
export { resolveInspectorOptions } from './inspector-options.js';
export type { InspectorOptions, ResolvedInspectorOptions } from './inspector-options.js';
export { RecentReconciles } from './recent-reconciles.js';
