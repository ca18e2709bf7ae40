/*
 * Declarative operators as objects of a cluster. Read `operator-resource.ts` (the CustomResourceDefinition),
 * `operator-crd-controller.ts` (runs an operator for each object) and `status-record.ts` (the targets to
 * clean up, recorded in the status so that a later process finds them).
 */
export { cleanUpAnnotation, OperatorResource } from './operator-resource.js';
export { operatorCrdAccess, operatorCrdController } from './operator-crd-controller.js';
export type { OperatorDocument, OperatorStatus } from './operator-resource.js';
