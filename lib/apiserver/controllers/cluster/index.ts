export { startDefaultStorageClass } from './default-storage-class.js';
export { startServiceAccountController } from './service-account-controller.js';
export { startSimulatedNodes } from './simulated-node.js';
