export { writeVerbs } from './audit-entry.js';
export type { AuditEntry } from './audit-entry.js';
export type { AuditLog, AuditMark, AuditQuery, RequestCount } from './audit-log.js';
export type { ApiAnswer, ApiConnection, ApiRequest } from './api-connection.js';
export type { ClusterUser, ControlPlane, ControlPlaneProcesses } from './control-plane.js';
export type { ControlPlaneOptions } from './options.js';
export type { Program } from './programs.js';
export { sharedControlPlane } from './shared.js';
export { startControlPlane } from './start.js';
