export { writeVerbs } from './audit-entry.js';
export type { ApiConnection } from './api-connection.js';
export type { ControlPlane } from './control-plane.js';
export { sharedControlPlane } from './shared.js';
export { startControlPlane } from './start.js';
