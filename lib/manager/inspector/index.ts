export { bindInspector, resolveInspectorOptions } from './bind-inspector.js';
export type { InspectorOptions, ResolvedInspectorOptions } from './bind-inspector.js';
export { RecentReconciles } from './overview-of.js';
