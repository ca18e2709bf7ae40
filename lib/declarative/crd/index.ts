export { cleanUpAnnotation, OperatorResource } from './operator-resource.js';
export { operatorCrdAccess, operatorCrdController } from './operator-crd-controller.js';
export type { OperatorCrdControllerOptions } from './operator-crd-controller.js';
export type {
  ControllerDocument,
  OperatorControllerStatus,
  OperatorDocument,
  OperatorStatus,
} from './operator-resource.js';
